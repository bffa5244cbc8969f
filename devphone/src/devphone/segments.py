"""How many segments a text needs, GSM-7 or UCS-2, and smart encoding. Nothing is sent here.

Tables from 3GPP TS 23.038; lengths from https://www.twilio.com/docs/glossary/what-is-gsm-7-character-encoding.
"""

from __future__ import annotations

MAX_BODY = 1600
"""Longest body of a text in UTF-16 units; https://www.twilio.com/docs/api/errors/21617."""
_GSM7 = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM7_TWICE = frozenset("\f^{}\\[~]|€")
_LOOKALIKES = str.maketrans(
    {
        **dict.fromkeys("\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u301d\u301e", '"'),
        **dict.fromkeys("\u00b4\u02bc\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u200a\u202f", " "),
        **dict.fromkeys("\u200b\ufeff", ""),
        "\u2022": "*",
        "\u2026": "...",
    }
)
"""Characters that word processors put in, and what stands for them; Twilio's own list is not published."""


def units(body: str) -> int:
    """How long `body` is in UTF-16 units, so that most emoji count 2."""
    return len(body.encode("utf-16-le", "surrogatepass")) // 2


def count(body: str) -> tuple[str, int]:
    """The encoding (`GSM-7` or `UCS-2`) and the number of segments, at least 1."""
    if all(char in _GSM7 or char in _GSM7_TWICE for char in body):
        return "GSM-7", _parts([2 if char in _GSM7_TWICE else 1 for char in body], 160, 153)
    return "UCS-2", _parts([2 if ord(char) > 0xFFFF else 1 for char in body], 70, 67)


def smart(body: str) -> str:
    """`body` with quotes, dashes and blanks of GSM-7 for look-alikes, if that makes all of it GSM-7.

    Otherwise unchanged: https://www.twilio.com/blog/copilot-just-got-even-smarter-announcing-smart-encoding-html
    """
    plain = body.translate(_LOOKALIKES)
    return plain if count(plain)[0] == "GSM-7" else body


def _parts(costs: list[int], single: int, part: int) -> int:
    """Segments for characters of these costs; a character of cost 2 is never split over two parts."""
    if sum(costs) <= single:
        return 1
    parts, used = 1, 0
    for cost in costs:
        if used + cost > part:
            parts, used = parts + 1, 0
        used += cost
    return parts
