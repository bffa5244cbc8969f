"""A written reason turned into words for the ear: addresses, ids, amounts and dates as people say them.

What is said means what was written: where that is not certain (is 11/12 a day in November? is `3 € 50` three
euros or fifty?) the text stays as it is. The written reason is kept and shown on the page. Markdown is
markup.py's business, pictures are pictures.py's, cutting is speech.py's.

The text is looked at once, from left to right: no rule sees what another one made. Each pattern is bounded or
never gives anything back, so that no text takes more than in proportion to its length.
"""

from __future__ import annotations

import calendar
import re
import sys
import unicodedata
from collections.abc import Set
from functools import cache
from urllib.parse import urlsplit

from voice.markup import without_markup
from voice.pictures import PICTURES, pictures, with_flags_spelled

#: Longer ids are nothing to remember by ear: their end tells them apart, and the page shows them.
_LONGEST_SPELLED = 12
_END_SPELLED = 4

#: What the eye may not see: all but printable ASCII is asked for its kind.
_UNUSUAL = re.compile(r"[^\x20-\x7e\n]")
#: They only choose how the character before them looks.
_LOOKS = dict.fromkeys(range(0xFE00, 0xFE10))

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
}
_SIZES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion"}
_SIGN = r"US\$|[$€£]"
_CODE = "USD|EUR|GBP|CHF|CAD|AUD|JPY"
_NUMBER = r"(?:[1-9]\d{0,2}(?:,\d{3}){1,5}|0|[1-9]\d{0,14})"
#: Here the amount ends: no digit follows that could be part of it or make it something else (`5'000`, `5-10`,
#: `3 € 50`), and no word that would make it larger.
_ENDS = (
    r"(?![\w%‰°])(?![ ]?\d)(?![.,:/'’]{1,2}\d)(?![ ]?[-–—~][ ]?[\d$€£])(?![-–—]\w)"
    rf"(?!/(?:{_CODE}))"
    r"(?![ ](?:[kKmMbB]|mn|bn|mio|Mio|mrd|Mrd|hundred|dozen|grand|lakh|crore"
    r"|thousand|million|billion|trillion)\b)"
)
#: A link or an e-mail address ends before these too.
_NOT_IN_URL = r"\s<>\"“”«»\u3000-\u303f\uff01-\uff65"
_SAID = re.compile(
    rf"""
    # Nothing begins elsewhere, least of all within a word: most characters need no further look.
    (?: (?<![A-Za-z0-9])(?=[A-Za-z]) | (?=[\d+\#_{PICTURES}-]) | (?=[$€£¥][ ]?\d)
      | (?=[ ][{PICTURES}]) | (?=\*\u20e3) )
    (?: (?P<url> (?P<at>\b[Aa]t[ ])? (?<![A-Za-z0-9+.-])
        (?P<address> (?:[Hh][Tt][Tt][Pp][Ss]?://|[Ww]{{3}}\.) [^{_NOT_IN_URL}]++ ) )

    | (?P<keycap> [0-9\#*] \u20e3 )

    | (?P<mail> (?<![\w.@+-]) (?P<user>[A-Za-z0-9_.+-]{{1,64}}) @
        (?P<domain>[A-Za-z0-9_-]{{1,63}}(?:\.[A-Za-z0-9_-]{{1,63}}){{1,4}}) (?![\w@]) )

    | (?P<date> (?<![\w./:-]) (?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)
        (?: (?:[ ]|(?P<t>T)) (?P<hour>\d\d):(?P<minute>\d\d)
            (?P<second>:\d\d(?:\.\d{{1,9}})?)?
            (?: [ ]?(?P<utc>Z|UTC) | (?P<zone>[+-])(?P<ahead>\d\d):?(?P<ahead_minutes>\d\d) )?
            (?![ ]?[-–—+~][ ]?\d) )?
        (?![\w/:-]) (?!\.[\w.]) )

    | (?P<amount>
        (?<![\w.,/\\]) (?<!\d[ ]) (?<!\d[-–—]) (?<!\d[ ][-–—][ ])
        (?: (?P<sign>{_SIGN}) | (?P<code>{_CODE}) ) [ ]?
        (?P<whole>{_NUMBER}) (?:\.(?P<part>\d{{1,2}}))?
        (?: (?P<size>[kKmM]|mn|bn) | [ ](?P<large>thousand|million|billion|trillion)\b )? {_ENDS}
      | (?<![\w.,$€£¥'’/]) (?<!\d[ ])
        (?P<whole2>{_NUMBER}) (?:\.(?P<part2>\d{{1,2}}))? [ ]? (?P<sign2>{_CODE}|[€£]) {_ENDS} )

    # Money and grouped digits that may mean more than one thing stay as they are, down to the digit.
    | (?P<kept> (?<![\w.,]) (?:
        (?:{_SIGN}|¥|{_CODE}) [ ]? \d[\d.,'’]*+ (?:[ ]\d{{3}}(?!\d))*+
      | \d[\d.,]*+ [ ]? (?:{_CODE}|[€£¥]) (?!\w) (?:[ ]?\d[\d.,]*+)?
      | \d{{1,3}} (?:[ ]\d{{3}}){{1,5}} (?![\w.,]?\d) (?!\w) ) )

    | (?P<hash> (?<![\w&]) \#(?P<number>\d{{1,15}}) (?!\w) (?![.,]\d) )
    | (?P<phone> (?<![\w+]) \+(?P<digits>\d{{7,15}}) (?!\w) (?![.,]\d) )

    # Letters and digits together, or digits alone, in which no amount, version or address ends.
    | (?P<token> (?<![\w.,:$€£¥+/@-])
        (?=[A-Za-z_-]*+\d) (?=[A-Za-z0-9_-]{{4}}|0\d)
        [A-Za-z0-9]++ (?:[_-]++[A-Za-z0-9]++)*+ (?![\w$€£%@-]) (?![.,:]\d) )

    | (?P<arrow> (?<![-<=]) -{{1,2}}> (?![=>]) )
    | (?P<picture> [ ]?[{PICTURES}](?:[ ]?[{PICTURES}]){{0,30}} ) )
    """,
    re.VERBOSE,
)

_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?\.){1,3}[a-z]{2,20}")
#: Digits in groups that may be a day, a telephone number's tail or a score; no id.
_DAY = re.compile(r"\d{1,2}-\d{1,2}(?:-\d{2,4})?|\d{4}-\d\d(?:-\d\d)?")
#: What has letters and digits and is a word: sizes, times, ordinals, names of things.
_WORD = re.compile(
    r"\d{1,4}(?:st|nd|rd|th|s|x|h|m|d|k|[kmgt]b|am|pm|ms|min|px|[mck]m|k?g|p|v|k?w|kwh|[kmg]?hz)"
    r"|[a-z]{1,2}\d{1,2}|[a-z]{2,}+\d{1,2}|\d{1,2}[a-z]|2fa|\dd",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LONG = re.compile(r"[A-Za-z0-9_-]{13,}+")
#: After these "the id" would be said twice.
_NOUNS = frozenset(
    "account batch booking build case charge client code commit customer event hash iban id instance invoice "
    "job key message number order payment record reference request resource run session ticket token "
    "transaction user uuid".split()
)
_LAST_WORD = re.compile(r"([A-Za-z]{2,12}) $")


def for_the_ear(text: str) -> str:
    """`text` as one would read it to somebody, line breaks kept: no markup and no decoration; `a page at
    partner.example`, `420 dollars and 50 cents`, `November 30, 2026`, ids letter by letter."""
    return begun_for_the_ear(text, sys.maxsize)[0]


def begun_for_the_ear(text: str, enough: int) -> tuple[str, bool]:
    """The beginning of what `for_the_ear` says, somewhat more than `enough` characters, and whether that is
    all."""
    seen = visible(with_flags_spelled(text)).translate(_LOOKS)
    plain = without_markup("\n".join(" ".join(line.split()) for line in seen.splitlines()))
    twins = _endings_in_common(plain)
    said: list[str] = []
    length = at = 0
    for found in _SAID.finditer(plain):
        said += [plain[at : found.start()], _say(found, twins)]
        at = found.end()
        length += len(said[-2]) + len(said[-1])
        if length > enough:
            break
    whole = length <= enough
    said += [plain[at:]] if whole else []
    return "\n".join(line.strip() for line in "".join(said).split("\n")), whole


def visible(text: str) -> str:
    """`text` without control, formatting (bidi, zero-width), private and unassigned characters, so that none
    of them parts what looks like one word, or hides one. White space stays."""
    return _UNUSUAL.sub(lambda found: _seen(found[0]), text)


@cache
def _seen(char: str) -> str:
    if char.isspace():
        return char
    match unicodedata.category(char):
        case "Cc":
            return " "
        case "Cf" | "Cs" | "Co" | "Cn":
            return ""
        case _:
            return char


def _say(found: re.Match[str], twins: Set[str]) -> str:
    match found.lastgroup:
        case "url":
            there = {"at ": "on ", "At ": "On "}.get(found["at"] or "", "")
            return there + _page_at(found["address"])
        case "mail":
            return f"{found['user']} at {found['domain']}"
        case "date":
            return _date(found)
        case "amount":
            return _amount(found)
        case "hash":
            return f"number {' '.join(found['number'])}"
        case "phone":
            return f"plus {' '.join(found['digits'])}"
        case "token":
            before = _LAST_WORD.search(found.string, max(found.start() - 14, 0), found.start())
            return _id(found[0], before[1].lower() if before else "", twins)
        case "keycap":
            return _apart(found, found[0][0])
        case "arrow":
            return _apart(found, "arrow")
        case "picture":
            text, begin, end = found.string, found.start(), found.end()
            return pictures(found[0].replace(" ", ""), text[max(begin - 20, 0) : begin], text[end : end + 20])
    return found[0]


def _apart(found: re.Match[str], word: str) -> str:
    before, after = (
        found.string[found.start() - 1 : found.start()],
        found.string[found.end() : found.end() + 1],
    )
    return f"{' ' if before.strip() else ''}{word}{' ' if after.isalnum() else ''}"


def _page_at(url: str) -> str:
    """`a page at partner.example`, and the punctuation that only followed the address."""
    address = url.rstrip(".,;:!?)]}'\"’”»*_~`")
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
    """A day of our time and, where it is certain, its hour. Hours and minutes behind that may be the end of a
    span, so they are a zone only where ISO 8601 has it: right behind `T` and a time, or behind seconds."""
    year, month, day = int(found["year"]), int(found["month"]), int(found["day"])
    if not (1900 <= year < 2200 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return found[0]
    said = f"{calendar.month_name[month]} {day}, {year}"
    if found["hour"] is None:
        return said
    hour, minute, second = int(found["hour"]), int(found["minute"]), (found["second"] or "")
    if hour > 23 or minute > 59:
        return found[0]
    zone = " UTC" if found["utc"] else ""
    if found["zone"]:
        ahead, minutes = int(found["ahead"]), int(found["ahead_minutes"])
        if not (found["t"] or second) or minutes > 59 or ahead * 60 + minutes > 14 * 60:
            return found[0] if found["t"] else f"{said}{found[0][10:]}"
        hours = f"{ahead} hours {minutes}" if minutes else f"{ahead}"
        zone = f" UTC {'plus' if found['zone'] == '+' else 'minus'} {hours}"
    return f"{said}, at {hour}:{minute:02d}{second if second.strip(':.0') else ''}{zone}"


def _amount(found: re.Match[str]) -> str:
    whole, part = found["whole"] or found["whole2"], found["part"] or found["part2"]
    written = found["sign"] or found["code"] or found["sign2"]
    exact = part is not None and len(part) == 2
    # `CAD 2024` and `EUR 3` may be the name of something and a number; CAD is a word of its own.
    if (found["code"] and "," not in whole and not exact) or (written == "CAD" and not exact):
        return found[0]
    name, small = _NAMES[written]
    if size := found["large"] or _SIZES.get((found["size"] or "").lower()):
        return f"{whole}.{part} {size} {_many(name)}" if part else f"{whole} {size} {_many(name)}"
    if part is None or (small and not int(part)):
        return f"{whole} {name if whole == '1' else _many(name)}"
    if not small or not exact:
        return f"{whole}.{part} {_many(name)}"
    cents = int(part)
    smalls = f"{cents} {small if cents == 1 else _many(small)}"
    return smalls if whole == "0" else f"{whole} {name if whole == '1' else _many(name)} and {smalls}"


def _many(name: str) -> str:
    return {"penny": "pence", "yen": "yen"}.get(name, f"{name}s")


def _id(token: str, before: str, twins: Set[str]) -> str:
    """A token as it is, or spelled when a part of it is no word and no number that a voice reads right. A
    name keeps its words: `staging-db-00001` is `staging-db 0 0 0 0 1`."""
    whole = _UUID.fullmatch(token) is not None
    parts = re.split("[-_]", token)
    if not whole and (_DAY.fullmatch(token) or not any(map(_unreadable, parts))):
        return token
    if whole or not any(map(_is_name, parts)):
        noun = "" if before in _NOUNS else "the id "
        return _spelled(token, noun, twins)
    said = ""
    spelled = False
    for index, part in enumerate(re.split("([-_])", token)):
        if index % 2:
            joint = part
            continue
        hard = _unreadable(part)
        said += ("" if not index else " " if hard or spelled else joint) + (
            _spelled(part, "", twins) if hard else part
        )
        spelled = hard
    return said


def _unreadable(part: str) -> bool:
    if part.isdigit():
        return len(part) >= 5 or (len(part) > 1 and part[0] == "0")
    mixed = any(char.isdigit() for char in part)
    return mixed and len(part) >= 4 and _WORD.fullmatch(part) is None


def _is_name(part: str) -> bool:
    return part.isalpha() and len(part) >= (4 if part.isupper() else 2)


def _spelled(token: str, noun: str, twins: Set[str]) -> str:
    plain = [char for char in token if char.isalnum()]
    shorten = len(plain) > _LONGEST_SPELLED and not "".join(plain).isdigit()
    if shorten and _ending(token) not in twins:
        return f"{noun}ending in {' '.join(plain[-_END_SPELLED:])}"
    return " ".join(plain)


def _ending(token: str) -> str:
    return re.sub("[-_]", "", token)[-_END_SPELLED:].lower()


def _endings_in_common(text: str) -> set[str]:
    """The ends that more than one long id of the text has: they would not tell which is meant."""
    ids: dict[str, set[str]] = {}
    for token in _LONG.findall(text):
        long = [part for part in re.split("[-_]", token) if len(part) > _LONGEST_SPELLED] or [token]
        for part in long:
            ids.setdefault(_ending(part), set()).add(part)
    return {end for end, tokens in ids.items() if len(tokens) > 1}
