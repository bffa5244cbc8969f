"""How untrusted text, moments and spans are shown on pages: filters for the templates.

Jinja escapes what could be markup. Here is what markup is not: characters that hide, reorder or break what
an agent wrote, so that a person would press a button under words other than those that count
(https://trojansource.codes/). Words for the ear are voice/speech.py's.
"""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

from flask import Flask

from handoff.moments import DAY, HOUR, MINUTE, SECOND

#: What joins and shapes letters in Arabic, Persian and Indic writing, and makes one emoji of several
#: (https://www.unicode.org/reports/tr31/#Layout_and_Format_Control_Characters): harmless between letters.
_JOINERS = "\u200c\u200d"
#: Control (Cc), format (Cf: zero width, bidi, tags), surrogate (Cs), private (Co), unassigned (Cn), and the
#: separators that break a line (Zl, Zp).
_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Seen as nothing although they are letters or marks: Hangul fillers, Khmer and Mongolian relics.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5\u180b\u180c\u180d\u034f\u2800")
_UNITS = ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "min"), (MINUTE, "min", SECOND, "s"))


def register(app: Flask) -> None:
    """Makes the filters known to the templates: plain, one_line, suspicious, moment, span."""
    for filter_ in (plain, one_line, suspicious, moment, span):
        app.jinja_env.filters[filter_.__name__] = filter_


def plain(text: str) -> str:
    """The text with everything that hides or reorders made visible: U+202E becomes `\\u202e`. Line ends and
    tabs stay. Escaping of markup is left to the template."""
    return "".join(_escape(char) if _hides(text, at) else char for at, char in enumerate(text))


def one_line(text: str) -> str:
    """`plain`, with line ends and runs of white space made single spaces: for names, labels and headings."""
    return plain(" ".join(text.split()))


def suspicious(text: str) -> bool:
    """Whether `plain` had to change anything: the page then says that something is hidden in it."""
    return any(_hides(text, at) for at in range(len(text)))


def moment(ms: int) -> dict[str, str]:
    """A moment (ms since 1970) for `<time>`: `iso`, `text` ("30 November, 18:05 UTC") and `clock` with
    seconds ("18:05:11")."""
    at = datetime.fromtimestamp(ms / 1000, UTC)
    return {
        "iso": at.isoformat(timespec="seconds"),
        "text": at.strftime("%d %B, %H:%M UTC").lstrip("0"),
        "clock": at.strftime("%H:%M:%S"),
    }


def span(ms: int) -> str:
    """A length of time in two units at most: "41 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"."""
    if ms < MINUTE:
        return f"{max(ms, 0) // SECOND} s"
    large, unit, small, part = next(one for one in _UNITS if ms >= one[0])
    rest = ms % large // small
    return f"{ms // large} {unit}" + (f" {rest} {part}" if rest else "")


def _hides(text: str, at: int) -> bool:
    char = text[at]
    if char in "\n\t" or char.isascii() and char.isprintable():
        return False
    if char == "\r":
        return text[at + 1 : at + 2] != "\n"
    if char in _JOINERS:
        return not (0 < at < len(text) - 1 and _joins(text[at - 1]) and _joins(text[at + 1]))
    return char in _BLANK or unicodedata.category(char) in _HIDING


def _joins(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char)[0] in "LMS"


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
