"""Pictures and symbols as an ear takes them: what means something is named, what only decorates goes.

A voice reads some of them, skips others and tells nobody which; so all are words, or gone, before it speaks.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

#: Letters, signs of money and arithmetic and °, ©, § are no pictures. White space is never part of it.
PICTURES = (
    "\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u23e9-\u23fa\u231a\u231b\u2460-\u24ff"
    "\u2190-\u2193\u27f5\u27f6\u2194\u21d2"
)
#: What our own words for it are; the rest goes by its Unicode name.
_WORDS = {
    "→": "arrow",
    "⇒": "arrow",
    "➔": "arrow",
    "➜": "arrow",
    "➡": "arrow",
    "⟶": "arrow",
    "←": "left arrow",
    "⬅": "left arrow",
    "⟵": "left arrow",
    "↑": "up arrow",
    "⬆": "up arrow",
    "↓": "down arrow",
    "⬇": "down arrow",
    "↔": "arrow both ways",
    "✓": "check mark",
    "✔": "check mark",
    "✅": "check mark",
    "☑": "checked",
    "🗹": "checked",
    "☐": "unchecked",
    "☒": "box with an x",
    "✗": "cross mark",
    "✘": "cross mark",
    "❌": "cross mark",
    "❎": "cross mark",
    "✕": "cross mark",
    "✖": "cross mark",
    "➕": "plus",
    "➖": "minus",
    "➗": "divided by",
    "❓": "question mark",
    "❔": "question mark",
    "❗": "exclamation mark",
    "❕": "exclamation mark",
    "⚠": "warning",
    "🚫": "not allowed",
    "⛔": "no entry",
    "👍": "thumbs up",
    "👎": "thumbs down",
    "⭐": "star",
    "🔟": "10",
}
_TIMES = "✕✖"
_MARKS = frozenset("❓❔❗❕")
#: Decoration where no sentence needs it, though it stands among the symbols.
_MAY_DECORATE = frozenset("❓❔❗❕✨❤☎✉☕⌛⌚⚡☺✌☝✋✊☀⛅⚙⛳⚽✈⚓☁")
_MUST_BE_SAID = re.compile(
    "[\u2460-\u27bf\u2b00-\u2bff\u2190-\u21ff\u23e9-\u23fa"
    "\U0001f000-\U0001f2ff\U0001f51f\U0001f534\U0001f535\U0001f7e0-\U0001f7eb\U0001f550-\U0001f567"
    "\U0001f512\U0001f513\U0001f6ab\U0001f6d1\U0001f44d\U0001f44e\U0001f5f5-\U0001f5f9]"
)
#: The flag of a part of a country is a black flag with its letters in tags: the letters are said.
#: https://www.unicode.org/reports/tr51/#valid-emoji-tag-sequences
_PART_OF_A_COUNTRY = re.compile("\U0001f3f4([\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6})\U000e007f")
#: Two letters are a flag: https://www.unicode.org/reports/tr51/#Flags. Others are counted.
_ALIKE = re.compile("[\U0001f1e6-\U0001f1ff]{1,2}|(.)\\1*+", re.DOTALL)
#: Words that want one more word after them, or before them: a picture there stands for it.
_WANTS_AFTER = frozenset(
    "a an the this that these those my your our his her their its no not and or nor but vs versus than with "
    "without for from to of in on at by as is are was were be like into onto per about "
    "pick choose select press tap click hit push use find show send type enter draw drop buy sell add remove "
    "delete keep "
    "icon button symbol sign picture emoji reaction password code pin".split()
)
_WANTS_BEFORE = frozenset(
    "and or nor but vs versus is are was were has have means costs than to of in on at by for".split()
)
_LAST_WORD = re.compile(r"(\w{1,12})\W?$")
_FIRST_WORD = re.compile(r"\W?(\w{1,12})")


def with_flags_spelled(text: str) -> str:
    """`text`, before its invisible characters go: England's flag and others have their letters there."""
    return _PART_OF_A_COUNTRY.sub(
        lambda found: f" flag {' '.join(chr(ord(char) - 0xE0000).upper() for char in found[1])}", text
    )


def pictures(run: str, before: str, after: str) -> str:
    """What to say for some pictures in a row and the space before them, between some 20 characters `before`
    and `after`. Empty, or a space, where they only decorate."""
    if before[-1:].isalnum() and _MARKS.issuperset(run) and (not after or after[0] in "\n "):
        return "".join("?" if char in "❓❔" else "!" for char in run)
    if not all(map(_must_be_said, run)) and _decorates(before, after):
        run = "".join(filter(_must_be_said, run))
    said = _names(run, before, after)
    if not said:
        return (
            " " if before.strip() and after and not after[0].isspace() and after[0] not in ".,;:!?)…" else ""
        )
    left = "" if not before or before[-1].isspace() or before[-1] in "([{“‘\"'" else " "
    right = " " if after and (after[0].isalnum() or after[0] in "$€£¥#+-([{“‘") else ""
    return f"{left}{said}{right}"


def _decorates(before: str, after: str) -> bool:
    """Whether this is no place for a word: before a sentence that begins by itself, or behind words that need
    no more."""
    line_before, line_after = before.rpartition("\n")[2].rstrip(), after.partition("\n")[0].lstrip()
    behind = _LAST_WORD.search(line_before)
    ahead = _FIRST_WORD.match(line_after)
    if ahead and ahead[1].lower() in _WANTS_BEFORE:
        return False
    if behind and behind[1].lower() in _WANTS_AFTER:
        return False
    begins = not line_before or line_before[-1] in ".!?…" or (line_before in {"-", "*", "•"})
    if begins:
        return ahead is not None and ahead[1][0].isupper()
    ends = not line_after or line_after[0] in ".!?;…"
    return ends and behind is not None and line_before[-1].isalpha()


def _names(run: str, before: str, after: str) -> str:
    words: list[str] = []
    for found in _ALIKE.finditer(run):
        alike = found[0]
        char, count = alike[0], len(alike)
        if _flag_letter(char):
            words += ["flag"] * (count == 2) + [_flag_letter(letter) for letter in alike]
        elif not _name(char):
            continue
        elif char in _TIMES and before.rstrip()[-1:].isdigit() and after.lstrip()[:1].isdigit():
            words.append("times")
        elif unicodedata.numeric(char, None) is not None:
            words += [_name(char)] * count
        else:
            words += [_name(char)] * count if count < 3 else [f"{count} times {_name(char)}"]
    return " ".join(filter(None, words))


@cache
def _must_be_said(char: str) -> bool:
    return _MUST_BE_SAID.match(char) is not None and char not in _MAY_DECORATE


@cache
def _flag_letter(char: str) -> str:
    """The letter of half a flag (regional indicator), or nothing."""
    return chr(ord(char) - 0x1F1E6 + ord("A")) if "\U0001f1e6" <= char <= "\U0001f1ff" else ""


@cache
def _name(char: str) -> str:
    if char in _WORDS:
        return _WORDS[char]
    if "\U0001f3fb" <= char <= "\U0001f3ff":  # a tone of skin, behind whom it is of
        return ""
    number = unicodedata.numeric(char, None)
    if number is not None:
        return f"{number:g}"
    name = unicodedata.name(char, "")
    letter = re.search(r"LETTER ([A-Z])$", name)
    return letter[1] if letter else name.lower().removeprefix("large ")
