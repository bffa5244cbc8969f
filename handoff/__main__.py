"""`python -m handoff` is the same as `handoff`."""

from handoff.cli import main

main()
