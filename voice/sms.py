"""The text that brings the link: one segment where it fits, the link alone at its end, no second link.

Counting and wording only. Sending is the gateway's, deciding whether to send is workers' business.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from handoff.models import Handoff
from handoff.people import spaced
from handoff.states import Kind
from voice.speech import tidy

#: What a text may cost at most, by encoding. At 153 or 67 characters a part this stays below the 320 that
#: Twilio advises for deliverability, https://www.twilio.com/docs/glossary/what-sms-character-limit
MAX_SEGMENTS = {"GSM-7": 2, "UCS-2": 3}

_READ_AHEAD = 2_000  # characters of a reason that can still matter for a text of 320
_AGENT_LIMIT = 30

#: 3GPP TS 23.038, 6.2.1: the default alphabet, and what costs two places in it (6.2.1.1).
_GSM7 = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_GSM7_TWICE = frozenset("\f^{}\\[~]|€")

#: Typographer's characters that would turn the whole text into UCS-2, at less than half the room. Letters
#: are never changed: a name or a word in another language stays what it is.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("•·", "*"),
        "…": "...",
        "×": "x",
        **{chr(0xFF01 + offset): chr(0x21 + offset) for offset in range(94)},  # full-width ASCII
    }
)
#: A dot that makes a phone show a link (also in a mail address); a space behind it takes that away.
_DOMAIN_DOT = re.compile(r"(?<=[^\W_])[.。｡](?=[^\W\d_]{2})")


def text_for(handoff: Handoff, link: str) -> str:
    """`shopper is blocked: A checkbox ... https://...`: never above three segments or 320 characters.

    The link is whole, between white space and the end, whatever else has to go; what an agent wrote can't
    bring a link of its own. A reason is shortened at a word, with dots.
    """
    return _text(handoff, link)


def text_with_code(handoff: Handoff, number: str, code: str) -> str:
    """`shopper is blocked: A checkbox ... Call +1 212 555 0100 and enter 482913.`: for who can't see a page.

    Nothing in it is a link, whatever an agent wrote. `number` is ours, E.164.
    """
    return _text(handoff, f"Call {spaced(number)} and enter {code}.")


def _text(handoff: Handoff, way: str) -> str:
    """Who asks and why, and `way` to answer, whole."""
    agent = _harmless(handoff.agent)[:_AGENT_LIMIT].strip() or "An agent"
    opening = {
        Kind.CLEAR: f"{agent} is blocked:",
        Kind.ASK: f"{agent} asks:",
        Kind.APPROVE: f"{agent} needs your yes or no:",
    }[handoff.kind]
    reason = _harmless(handoff.reason[:_READ_AHEAD])
    whole = len(handoff.reason) <= _READ_AHEAD

    def body(length: int) -> str:
        """The text with that much of the reason."""
        kept = reason if length == len(reason) and whole else _shortened(reason, length)
        return " ".join(part for part in (opening, _ended(kept, way), way) if part)

    # What fits with n characters fits with fewer, so the first length that does not fit ends the search.
    too_long = bisect_left(range(len(reason) + 1), True, key=lambda length: not _fits(body(length)))
    return body(too_long - 1) if too_long else way


def segments(body: str) -> tuple[str, int]:
    """The encoding (`GSM-7` or `UCS-2`) and how many segments are billed, at least 1.

    https://www.twilio.com/docs/glossary/what-is-gsm-7-character-encoding ; in several parts each loses room
    to a header, and a character of two places is never split over two parts.
    """
    if all(char in _GSM7 or char in _GSM7_TWICE for char in body):
        encoding, single, part = "GSM-7", 160, 153
        places = [2 if char in _GSM7_TWICE else 1 for char in body]
    else:
        encoding, single, part = "UCS-2", 70, 67
        places = [2 if ord(char) > 0xFFFF else 1 for char in body]
    if sum(places) <= single:
        return encoding, 1
    count, used = 1, 0
    for place in places:
        if used + place > part:
            count, used = count + 1, 0
        used += place
    return encoding, count


def _harmless(text: str) -> str:
    """One line of an agent's words in which no phone finds a link."""
    return _DOMAIN_DOT.sub(". ", tidy(text.translate(_PLAIN)).translate(_PLAIN))


def _ended(reason: str, way: str) -> str:
    """A sentence follows a reason that has an end; a link needs none before it."""
    return reason + "." if reason and way.startswith("Call ") and reason[-1] not in ".!?" else reason


def _shortened(text: str, length: int) -> str:
    """At most `length` characters and dots, ending at a word unless a single word is longer than half."""
    kept = text[:length]
    if length < len(text) and not text[length].isspace():
        shorter = kept.rpartition(" ")[0]
        kept = shorter if len(shorter) >= length // 2 else kept
    kept = kept.rstrip(" .,;:-")
    return f"{kept}..." if kept else ""


def _fits(body: str) -> bool:
    encoding, count = segments(body)
    return count <= MAX_SEGMENTS[encoding]
