"""`python -m demo`: puts everything on the stage, tells the story, and says by its exit code how it ended.

0: the agent got its order through. 1: it did not, and why. 130: Ctrl-C. Nothing is left running.
"""

from __future__ import annotations

import sys

from demo.stage import Stage
from demo.story import Story


def main() -> int:
    """Runs the demo once."""
    with Stage(Story(sys.stdout)) as stage:
        return stage.play()


if __name__ == "__main__":
    sys.exit(main())
