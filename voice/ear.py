"""A written reason turned into words for the ear: addresses, ids, amounts and dates as people say them.

What is said means what was written: where that is not certain (is 11/12 a day in November?) the text stays as
it is. The written reason is kept and shown on the page. Cleaning and cutting is speech.py's business.
"""

from __future__ import annotations

import calendar
import re
from urllib.parse import urlsplit

#: Longer ids are nothing to remember by ear: their end tells them apart, and the page shows them.
_LONGEST_SPELLED = 12
_END_SPELLED = 4

_LINK = re.compile(r"\[([^\[\]]{1,200})\]\(((?:[^()\s]|\([^()\s]*\)){1,2000})\)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}|>+|[-*+•])[ \t]+(?=\S)", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
#: Emphasis and code: the same mark around words, outside of a word. `2 * 3 * 4` and snake_case stay.
_MARKED = re.compile(r"(?<![\w*_~`])(\*{1,3}|_{1,3}|~~|`{1,2})(?=\S)([^\n]{1,400}?)(?<=\S)\1(?![\w*_~`])")
#: Pictures, and what only changes how one looks. Letters, signs of money and °, ©, § are none.
_PICTURES = re.compile(
    r"\s*"
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u23e9-\u23fa\u231a\u231b\u20e3\ufe0e\ufe0f\u200d"
    "\U000e0020-\U000e007f]+"
    r"(\s*[.,;:!?])?"
)
_ENDS = ".!?:;,…"
_NAMED = re.compile(r"(\w) the id (ending in)")  # "order the id ending in": the noun is there already
_ARROW = re.compile(r"\s*(?:[→⇒➔➜]|[-=]>)\s*")

_URL = re.compile(r"(\bat\s+)?\b((?:https?://|www\.)[^\s<>\"]+)", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?\.){1,3}[a-z]{2,20}")
_MAIL = re.compile(r"(?<![\w.@+-])([\w.+-]{1,40})@([\w-]{1,40}(?:\.[\w-]{1,40}){1,3})(?![\w@])", re.ASCII)

_NAMES = {
    "$": ("dollar", "cent"),
    "US$": ("US dollar", "cent"),
    "€": ("euro", "cent"),
    "£": ("pound", "penny"),
    "USD": ("US dollar", "cent"),
    "EUR": ("euro", "cent"),
    "GBP": ("pound", "penny"),
    "CHF": ("Swiss franc", "centime"),
    "CAD": ("Canadian dollar", "cent"),
    "AUD": ("Australian dollar", "cent"),
    "JPY": ("yen", ""),
    "¥": ("yen", ""),
}
_WHOLE = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
_SIGN = "|".join(map(re.escape, ("US$", "$", "€", "£", "¥")))
_CODE = "USD|EUR|GBP|CHF|CAD|AUD|JPY"
_SIZES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion"}
_AFTER = r"(?![\d.,]*\d)"  # the number ends here: no further digits, which would make it something else
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?:(?P<sign>{_SIGN})\s?|(?P<code>{_CODE})\s?)(?P<whole>{_WHOLE})(?:\.(?P<part>\d{{1,2}}))?{_AFTER}"
    rf"(?:\s?(?P<size>k|m|mn|bn|b)\b)?(?!\w)"
    rf"|(?<![\w.,$€£¥])(?P<whole2>{_WHOLE})(?:\.(?P<part2>\d{{1,2}}))?\s?(?P<code2>{_CODE}|€|£)(?!\w)",
    re.IGNORECASE,
)

_DATE = re.compile(
    r"(?<![\w./:-])(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::\d\d(?:\.\d{1,9})?)?(?:\s?(Z|UTC)|([+-]\d\d):?(\d\d))?)?(?![\w/:-])(?!\.\d)"
)

_HASH_NUMBER = re.compile(r"(?<![\w&])#(\d{1,15})(?![\w.,]*\d)")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PHONE = re.compile(r"(?<![\w+])\+(\d{7,15})(?![\w.,]*\d)")
#: Letters and digits together, or five digits and more, in which no amount, version or address ends.
_TOKEN = re.compile(
    rf"(?<![\w.,:$€£¥+/@-])(?:{_UUID}|[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?)(?![\w$€£%@-])(?![.,:]\d)",
    re.IGNORECASE,
)
#: What has letters and digits and is a word: sizes, times, ordinals, names of things.
_WORD = re.compile(
    r"\d{1,4}(?:st|nd|rd|th|s|x|h|m|d|k|[kmgt]b|am|pm|ms|min|px|[mck]m|k?g|p|v|k?w|kwh|[kmg]?hz)"
    r"|[a-z]{1,2}\d{1,2}|[a-z]{2,}\d{1,2}|\d{1,2}[a-z]|2fa|\dd",
    re.IGNORECASE,
)


def for_the_ear(text: str) -> str:
    """`text` as one would read it to somebody, line breaks kept: no markup and no pictures; `a page at
    partner.example`, `420 dollars and 50 cents`, `November 30, 2026`, ids letter by letter."""
    plain = _PICTURES.sub(lambda found: found[1] or " ", _ARROW.sub(", ", text))
    said = _without_markup(plain)
    said = _URL.sub(lambda found: ("on " if found[1] else "") + _page_at(found[2]), said)
    said = _MAIL.sub(lambda found: f"{found[1]} at {found[2]}", said)
    said = _DATE.sub(_date, said)
    said = _AMOUNT.sub(_amount, said)
    said = _HASH_NUMBER.sub(lambda found: f"number {_spelled(found[1])}", said)
    said = _PHONE.sub(lambda found: f"plus {_spelled(found[1])}", said)
    said = _TOKEN.sub(lambda found: _id(found[0]), said)
    return _NAMED.sub(r"\1 \2", said)


def _without_markup(text: str) -> str:
    """Markdown (https://spec.commonmark.org) without its signs; a link keeps its words and its place, and
    what stood on a line of its own is a sentence of its own."""
    text = _FENCE.sub("", text)
    text = _LINK.sub(lambda found: f"{found[1]} ({found[2]})" if found[1] != found[2] else found[2], text)
    for _ in range(3):  # marks within marks
        text = _MARKED.sub(r"\2", text)
    lines: list[str] = []
    apart = False
    for line in text.splitlines():
        plain = _NUMBERED.sub(r"\1: ", _LINE_MARK.sub("", line)).strip()
        marked = plain != line.strip()
        if (marked or apart) and plain and lines and lines[-1][-1] not in _ENDS:
            lines[-1] += "."
        apart = marked or not plain
        lines += [plain] if plain else []
    return "\n".join(lines)


def _page_at(url: str) -> str:
    """`a page at partner.example`, and the punctuation that only followed the address."""
    address = url.rstrip(".,;:!?)]}'\"’”»")
    behind = url[len(address) :]
    if address.count("(") > address.count(")") and behind.startswith(")"):
        address, behind = address + ")", behind[1:]
    try:
        host = urlsplit(address if "://" in address else f"https://{address}").hostname or ""
    except ValueError:
        host = ""
    host = host.removeprefix("www.")
    # A name that only looks like one (punycode), a bare address or a long one says nothing to an ear.
    known = _HOST.fullmatch(host) and "xn--" not in host and len(host) <= 40
    return (f"a page at {host}" if known else "a page") + behind


def _date(found: re.Match[str]) -> str:
    year, month, day = (int(found[number]) for number in (1, 2, 3))
    if not (1 <= month <= 12 and 1 <= day <= calendar.monthrange(max(year, 1), month)[1]):
        return found[0]
    said = f"{calendar.month_name[month]} {day}, {year}"
    if found[4] is None:
        return said
    hour, minute = int(found[4]), int(found[5])
    if hour > 23 or minute > 59:
        return found[0]
    zone = ""
    if found[6]:
        zone = " UTC"
    elif found[7]:
        ahead = f"{int(found[7][1:])}" + (f" hours {int(found[8])}" if int(found[8]) else "")
        zone = f" UTC {'plus' if found[7][0] == '+' else 'minus'} {ahead}"
    return f"{said}, at {hour}:{minute:02d}{zone}"


def _amount(found: re.Match[str]) -> str:
    whole, part = found["whole"] or found["whole2"], found["part"] or found["part2"]
    name, small = _NAMES[(found["sign"] or found["code"] or found["code2"]).upper()]
    number = whole.lstrip("0") or "0"
    if size := found["size"]:
        exact = f"{number}.{part}" if part else number
        return f"{exact} {_SIZES[size.lower()]} {_many(name)}"
    if part is None or (small and not int(part)):
        return f"{number} {name if number == '1' else _many(name)}"
    if not small or len(part) == 1:
        return f"{number}.{part} {_many(name)}"
    cents = int(part)
    smalls = f"{cents} {small if cents == 1 else _many(small)}"
    return smalls if number == "0" else f"{number} {name if number == '1' else _many(name)} and {smalls}"


def _many(name: str) -> str:
    return {"penny": "pence", "yen": "yen"}.get(name, f"{name}s")


def _id(token: str) -> str:
    """A token as it is, or spelled when a part of it is no word and no number that a voice reads right."""
    parts = re.split("[-_]", token)
    return _spelled(token) if re.fullmatch(_UUID, token, re.I) or any(map(_unreadable, parts)) else token


def _unreadable(part: str) -> bool:
    if part.isdigit():
        return len(part) >= 5 or (len(part) > 1 and part[0] == "0")
    mixed = any(char.isdigit() for char in part)
    return mixed and len(part) >= 4 and _WORD.fullmatch(part) is None


def _spelled(token: str) -> str:
    plain = [char for char in token if char.isalnum()]
    if len(plain) > _LONGEST_SPELLED and not token.isdigit():
        return f"the id ending in {' '.join(plain[-_END_SPELLED:])}"
    return " ".join(plain)
