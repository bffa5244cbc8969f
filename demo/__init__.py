"""`make demo`: a small agent runs into a wall, a phone rings, and a person lets it go on.

Everything here is an ordinary user of Handoff: the agent uses the SDK, the rest is what stands around it.
Nothing in the product imports this package.
"""
