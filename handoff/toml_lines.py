"""On which line each key of a TOML text stands, which tomllib forgets; and whether a text nests too deep.

Lines end with a line feed, and with nothing else, as for TOML and for editors. Every pass over the text is
one walk over its tokens, whatever it says: no part is looked at twice.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Where = tuple[str | int, ...]

#: More brackets inside brackets, or dots in one key, than anybody needs. tomllib recurses for each bracket,
#: and takes as long for a key as the square of its dots.
DEEPEST = 20

#: Possessive throughout, so that nothing is tried again: a string without an end ends with the text.
_TOKEN = re.compile(
    r"""
      (?P<string> \"\"\"(?:[^"\\]|\\(?:.|\Z)|"(?!""))*+(?:"{3,5}|\Z)
                | '''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)
                | "(?:[^"\\\n]|\\[^\n])*+"?
                | '[^'\n]*+'? )
    | (?P<comment> \#[^\n]*+ )
    | (?P<newline> \n )
    | (?P<mark> [\[\]{}=,.] )
    | (?P<bare> [^\s\[\]{}=,."'#]++ )
    """,
    re.VERBOSE | re.DOTALL,
)


def too_deep(text: str) -> int | None:
    """The line on which `text`, TOML or not, nests deeper than DEEPEST; None when it does not."""
    depth = dots = 0
    for kind, sign, line in _tokens(text):
        if kind == "mark":
            depth = max(0, depth + (sign in "[{") - (sign in "]}"))
            dots = dots + 1 if sign == "." else 0
            if max(depth, dots) > DEEPEST:
                return line
        elif kind == "newline":
            dots = 0
    return None


def lines_of(text: str) -> dict[Where, int]:
    """The line (from 1) of every table, key and array element of a text that tomllib has read."""
    walk = _Walk()
    for kind, sign, line in _tokens(text):
        if kind != "comment":
            walk.take(kind, sign, line)
    return walk.lines


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    line = 1
    for found in _TOKEN.finditer(text):
        kind, sign = str(found.lastgroup), found.group()
        yield kind, sign, line
        line += sign.count("\n") if kind in ("string", "newline") else 0


class _Walk:
    """Where in the document the walk is. `_open` are the brackets around it: the place of each, and the
    number of the element in an array, or None in an inline table."""

    def __init__(self) -> None:
        self.lines: dict[Where, int] = {}
        self._table: Where = ()
        self._counts: dict[Where, int] = {}
        self._open: list[tuple[Where, int | None]] = []
        self._parts: list[str] = []
        self._place: Where | None = None  # of the value that is being read; None before a `=`
        self._header = 0  # brackets of the header that is being read

    def take(self, kind: str, sign: str, line: int) -> None:
        """Goes on by one sign."""
        if self._header:
            self._in_header(kind, sign, line)
        elif self._place is None:
            self._in_key(kind, sign, line)
        else:
            self._in_value(self._place, kind, sign, line)

    def _in_header(self, kind: str, sign: str, line: int) -> None:
        if kind != "mark":
            self._parts.append(_name(kind, sign))
        elif sign == "[":
            self._header += 1
        elif sign == "]":
            self._table = self._under(tuple(self._parts), repeated=self._header == 2)
            self._stands(self._table, line)
            self._parts, self._header = [], 0

    def _in_key(self, kind: str, sign: str, line: int) -> None:
        if kind in ("string", "bare"):
            self._parts.append(_name(kind, sign))
        elif sign == "=":
            self._place = (*(self._open[-1][0] if self._open else self._table), *self._parts)
            self._stands(self._place, line)
            self._parts = []
        elif sign == "[" and not self._open:
            self._header = 1
        elif sign == "}":
            self._close()

    def _in_value(self, place: Where, kind: str, sign: str, line: int) -> None:
        if sign == "[":
            self._stands(place, line)
            self._open.append((place, 0))
            self._place = (*place, 0)
        elif sign == "{":
            self._stands(place, line)
            self._open.append((place, None))
            self._place = None
        elif sign in ("]", "}"):
            self._close()
        elif sign == ",":
            around, number = self._open[-1]
            if number is not None:
                self._open[-1] = (around, number + 1)
            self._place = None if number is None else (*around, number + 1)
        elif kind != "newline":
            self._stands(place, line)
        elif not self._open:
            self._place = None

    def _stands(self, place: Where, line: int) -> None:
        """What it lies in stands there too, unless it was named before."""
        for length in range(1, len(place) + 1):
            self.lines.setdefault(place[:length], line)

    def _close(self) -> None:
        """After a bracket one is still in the value that it belongs to."""
        self._place, _ = self._open.pop()

    def _under(self, parts: tuple[str, ...], *, repeated: bool) -> Where:
        """The place of a header: a repeated table has a number, and so has what stands below it."""
        place: Where = ()
        for at, part in enumerate(parts):
            place = (*place, part)
            if repeated and at == len(parts) - 1:
                self._counts[place] = self._counts.get(place, -1) + 1
            if place in self._counts:
                place = (*place, self._counts[place])
        return place


def _name(kind: str, sign: str) -> str:
    """What a part of a key says, however it is quoted."""
    if kind == "bare":
        return sign
    return str(tomllib.loads(f"name = {sign}")["name"]) if "\\" in sign else sign[1:-1]
