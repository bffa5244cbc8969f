"""The dev phone's documentation, read where it lies: code blocks, tables and parts of a page."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parents[2]
README = HERE / "README.md"
CONTROL_API = HERE / "docs" / "control-api.md"
BEHAVIOUR = HERE / "docs" / "behaviour.md"
HEADING = r"^#+ (.+)$"


def code_block(page: Path, first_line: str) -> str:
    """The one block of Python that begins with this line."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(first_line + "\n")]
    return found


def headings(page: Path) -> list[str]:
    """All of them, of any level."""
    return re.split(HEADING, _without_code(page), flags=re.MULTILINE)[1::2]


def part(page: Path, title: str) -> str:
    """What stands under the one heading `title`, up to the next heading of any level, without code blocks."""
    parts = re.split(HEADING, _without_code(page), flags=re.MULTILINE)
    (at,) = [at for at, text in enumerate(parts) if at % 2 == 1 and text == title]
    return parts[at + 1]


def rows(text: str) -> list[list[str]]:
    """The cells of all tables, without heads and rules."""
    lines = text.splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for at, line in enumerate(lines)
        if line.startswith("|")
        and not line.startswith("| ---")
        and not "".join(lines[at + 1 : at + 2]).startswith("| ---")
    ]


def names(cell: str) -> list[str]:
    """What is set as code in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def _without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
