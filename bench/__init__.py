"""Measurements, a runnable script for each: wake, ring, burst, store, devphone. No product code imports this.

Each prints a table for people, or with --json one JSON object. The figures and what they mean are in
docs/benchmarks.md; no test depends on a timing.
"""
