"""How many segments a text needs: GSM-7 or UCS-2. Only counting; nothing is sent here.

Tables from 3GPP TS 23.038; lengths from https://www.twilio.com/docs/glossary/what-is-gsm-7-character-encoding.
"""

from __future__ import annotations

_GSM7 = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM7_TWICE = frozenset("\f^{}\\[~]|€")


def count(body: str) -> tuple[str, int]:
    """The encoding (`GSM-7` or `UCS-2`) and the number of segments, at least 1."""
    if all(char in _GSM7 or char in _GSM7_TWICE for char in body):
        return "GSM-7", _parts([2 if char in _GSM7_TWICE else 1 for char in body], 160, 153)
    return "UCS-2", _parts([2 if ord(char) > 0xFFFF else 1 for char in body], 70, 67)


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
