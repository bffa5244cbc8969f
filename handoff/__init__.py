"""Handoff: an agent blocks, a phone rings, a person lets it go on."""
