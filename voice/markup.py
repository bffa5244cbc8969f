"""Markdown without its signs, for a voice: https://spec.commonmark.org. What may be no markup stays as it is:
a star may stand for any file, `> 5` for more than five, `- 5` for less than nothing.
"""

from __future__ import annotations

import re
from itertools import groupby

#: A fence's language says nothing to an ear; any other word behind one may be what it is all about.
_FENCE = re.compile(
    r"^(?:`{3,9}|~{3,9}) ?(?:text|txt|plain|plaintext|json|yaml|yml|toml|ini|xml|html|css|csv|log|diff|http"
    r"|sql|bash|sh|shell|console|python|py|javascript|js|jsx|typescript|ts|tsx|go|rust|java|c|cpp|markdown|md)?$"
    r"|^`{3,9}(?=[^`\n]{1,2000}$)",
    re.MULTILINE,
)
_RULE = re.compile(r"[-=]{3,}+")
_LINK = re.compile(r"(?:(?<!\w)!)?\[([^\[\]\n]{1,200})\]\(((?:[^()\s]|\([^()\s]{0,200}\)){1,2000})\)")
_RUN = re.compile(r"\*++|_++|~~++|`++|\n++")
_LINE_MARK = re.compile(r"(?P<mark>#{1,6}|(?:> ?){1,6}(?<! )|[-*+•]|(?P<number>\d{1,3})[.)]) (?=\S)")
#: What would be a number, or money, with a sign or a comparison before it.
_NUMBERISH = re.compile(r"[-+−(]?(?:[^\w\s]{1,2} ?|[A-Z]{1,3}[$€£¥]? ?)?[.,]?\d")
_TASK = re.compile(r"\[([ xX])\] (?=\S)")
_BOX = re.compile(r"(?:^|,? )([☐☑]) (?=\S)")
#: Words struck out by a line over each letter (combining strokes).
_STRUCK = re.compile(r"[^\n\u0335\u0336][\u0335\u0336](?: ?[^\n\u0335\u0336][\u0335\u0336])*+")

_ENDS = ".!?:;,…"
_NEVER_OPENS_BEFORE = ".,;:!?/\\)]}|%=<>&"
_NEVER_OPENS_AFTER = "/\\.$@#%&=<>"
_NEVER_CLOSES_AFTER = "/\\([{<=$@#&|"


def without_markup(text: str) -> str:
    """`text` without its marks; no line of it may have white space at an end, or two in a row. A link keeps
    its words and its place, what is struck out is said to be so, and what stood on a line of its own is a
    sentence of its own."""
    text = _STRUCK.sub(lambda found: f"(crossed out: {_without_strokes(found[0])})", text)
    text = _FENCE.sub("", text)
    text = _LINK.sub(lambda found: f"{found[1]} ({found[2]})" if found[1] != found[2] else found[2], text)
    return _lines(_inline(text))


def _without_strokes(text: str) -> str:
    return text.replace("\u0335", "").replace("\u0336", "").strip()


def _inline(text: str) -> str:
    """Without the marks of emphasis and code, with words for what is struck out. Looks at each mark once."""
    runs = list(_RUN.finditer(text))
    next_alike: dict[int, int] = {}
    seen: dict[str, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        if runs[index][0][0] == "`":
            if (later := seen.get(runs[index][0])) is not None:
                next_alike[index] = later
            seen[runs[index][0]] = index
        elif len(runs[index][0]) > 1 and runs[index][0][0] == "\n":
            seen.clear()
    words: dict[int, str] = {}  # what to say instead of a run, by its number
    opened: dict[str, int] = {}
    index = 0
    while index < len(runs):
        mark = runs[index][0]
        if mark == "\n":
            opened = {key: where for key, where in opened.items() if key == "~~"}
        elif mark[0] == "\n":
            opened = {}
        elif mark[0] == "`":
            if (end := next_alike.get(index)) is not None:
                words[index] = words[end] = ""
                index = end
        elif mark in opened and _closes(text, runs[index]):
            begin = opened.pop(mark)
            words[begin], words[index] = ("(crossed out: ", ")") if mark == "~~" else ("", "")
        elif (mark == "~~" or (mark[0] != "~" and len(mark) <= 3)) and _opens(text, runs[index]):
            opened[mark] = index
        index += 1
    pieces: list[str] = []
    at = 0
    for index, word in sorted(words.items()):
        pieces += [text[at : runs[index].start()], word]
        at = runs[index].end()
    return "".join([*pieces, text[at:]])


def _opens(text: str, run: re.Match[str]) -> bool:
    """Whether words may begin to be marked here: outside of a word, a path, a file's name and a product."""
    before, after = text[run.start() - 1] if run.start() else " ", text[run.end() : run.end() + 1] or " "
    if before.isalnum() or before in _NEVER_OPENS_AFTER or after.isspace() or after in _NEVER_OPENS_BEFORE:
        return False
    times = run[0] == "*" and after.isdigit() and before == " "
    return not (times and text[max(run.start() - 2, 0) : run.start()].strip()[-1:].isdigit())


def _closes(text: str, run: re.Match[str]) -> bool:
    before, after = text[run.start() - 1], text[run.end() : run.end() + 2]
    if before.isspace() or before in _NEVER_CLOSES_AFTER or after[:1].isalnum() or after[:1] in {"/", "\\"}:
        return False
    return not (len(after) == 2 and after[0] in ".-" and after[1].isalnum())  # a file's name goes on


def _lines(text: str) -> str:
    lines = text.split("\n")
    told: list[str] = []
    apart = False
    for line, plain in zip(lines, _unmarked(lines), strict=True):
        marked = plain != line
        if (marked or apart) and plain and told and told[-1][-1] not in _ENDS:
            told[-1] += "."
        apart = marked or not plain
        told += [plain] if plain else []
    return "\n".join(told)


def _unmarked(lines: list[str]) -> list[str]:
    """Each line without what makes it a heading, a quotation or an item of a list, where it is certain."""
    found = [_LINE_MARK.match(line) for line in lines]
    plain: list[str] = []
    for bullet, group in groupby(range(len(lines)), key=lambda index: _kind(found[index]) == "bullet"):
        block = list(group)
        # A number behind a mark is an item, and the mark no sign of it, where others have the same mark.
        signs = {lines[index][0] for index in block} if bullet else set()
        certain = len(block) > 1 and len(signs) == 1 and "+" not in signs
        for index in block:
            line, mark = lines[index], found[index]
            if mark is None:
                plain.append("" if _RULE.fullmatch(line) else _with_boxes(line))
                continue
            rest = line[mark.end() :]
            kind = mark["mark"][0]
            if mark["number"]:
                plain.append(f"{mark['number']}: {rest}")
            elif bullet and (task := _TASK.match(rest)):
                plain.append(f"{'unchecked' if task[1] == ' ' else 'checked'}: {rest[task.end() :]}")
            elif _NUMBERISH.match(rest) and not certain:
                plain.append(line)
            elif kind == ">" and not _may_quote(lines, found, index):
                plain.append(line)
            else:
                plain.append(_with_boxes(rest))
    return plain


def _kind(mark: re.Match[str] | None) -> str:
    return "" if mark is None else "bullet" if mark["mark"] in "-*+•" else "other"


def _may_quote(lines: list[str], found: list[re.Match[str] | None], index: int) -> bool:
    """Not where a sentence of the line before may go on with "more than"."""
    before = lines[index - 1] if index else ""
    mark = found[index - 1] if index else None
    return not before or before[-1] in ".!?:;…" or (mark is not None and mark["mark"][0] == ">")


def _with_boxes(line: str) -> str:
    """`☑ insured ☐ express` with its boxes said before what they stand before."""
    if not line.startswith(("☐", "☑")):
        return line
    said = _BOX.sub(lambda found: f", {'checked' if found[1] == '☑' else 'unchecked'}: ", line)
    return said.removeprefix(", ")
