"""Words for the ear: what an agent wrote made fit to be read aloud, and numbers and spans said in words.

Text from an agent is untrusted: here it loses everything that could break a document, hide itself or send
people to a place of its own choosing. It is never markup; escaping is the TwiML builder's business.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from handoff.moments import DAY, HOUR, MINUTE, SECOND
from voice.ear import begun_for_the_ear, visible

#: A minute of speech at some 14 characters a second; well under Say's 3,000.
LIMIT = 600
#: Say fails above 4,500 characters as URL-encoded text, which 400 emoji reach: error 13521,
#: https://www.twilio.com/docs/api/errors/13521
LIMIT_ENCODED = 3_600
#: Said instead of what was cut away, so that nothing is ever left out silently.
THE_REST = "The link shows the rest."
IN_THE_TEXT = "The link in the text shows the rest."

_READ_AHEAD = 10  # times the limit: more can't matter, and 100 kB need not be looked at
_SAID_AHEAD = 2  # times the limit: `tidy` may shorten it
_A_LINK = "a link"
_LINKS = re.compile(
    r"""
    (?: (?<![a-z0-9+.-]) [a-z][a-z0-9+.-]{0,19}://     # any scheme
      | (?<!\w) (?:mailto|tel|sms|facetime|whatsapp|javascript): (?=\S)
      | (?<!\w) data: (?=[\w/+.;=-]{0,100},)                 # no `data:500 rows`
      | (?<!\w) intent: (?=[#/])
      | (?<!\w) www\.
      | (?<![\w.-]) (?:[\w-]+\.)+ [^\W\d_]{2,} (?::\d+)? /   # example.com/...
      | (?<![\w.-]) \d{1,3}(?:\.\d{1,3}){3} (?::\d+|/)       # 192.0.2.1:8000, 192.0.2.1/...
    ) (?: \S* [^\s.,;:!?)\]}'"’”»] )?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_ENDS = ".!?…。！？"
_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()


def tidy(text: str) -> str:
    """`text` in one line of visible characters, links replaced by the words "a link".

    Kept is what XML 1.0 allows (https://www.w3.org/TR/xml/#charsets) without control, formatting (bidi,
    zero-width), private and unassigned characters. NFC, so that one letter is one character.
    """
    folded = " ".join(visible(text).split())
    return _LINKS.sub(_A_LINK, unicodedata.normalize("NFC", folded))


def clean(text: str, limit: int = LIMIT) -> str:
    """`tidy` text of at most `limit` characters (and what Say can take), cut at a word.

    What was cut away is said to be behind the link. Empty when nothing in it can be read.
    """
    head = text[: limit * _READ_AHEAD]
    whole = tidy(head)
    if len(head) == len(text) and _fits(whole, limit):
        return whole
    kept = _cut(whole, limit - len(THE_REST) - len("... "))
    return f"{kept}... {THE_REST}" if kept else THE_REST


def read_aloud(text: str, *, rest: str = THE_REST, limit: int = LIMIT) -> str:
    """What an agent wrote, as an ear takes it (ear.py) and `tidy`: at most `limit` characters and what Say
    can take, cut after a sentence, or at a word where none has ended by half of it. `rest` is said instead of
    what was cut away. Empty when nothing in it can be read."""
    head = text[: limit * _READ_AHEAD]
    said, all_said = begun_for_the_ear(head, limit * _SAID_AHEAD)
    whole = tidy(said)
    if len(head) == len(text) and all_said and _fits(whole, limit):
        return whole
    kept = _cut(whole, limit - len(rest) - len("... "))
    ended = max((kept.rfind(f"{mark} ") for mark in _SENTENCE_ENDS), default=-1)
    if ended >= len(kept) // 2:
        return f"{kept[: ended + 1]} {rest}"
    return f"{kept}... {rest}" if kept else rest


def sentences(text: str) -> list[str]:
    """`text` in its sentences, for somebody who asks to hear it slowly."""
    return [part for part in re.split(rf"(?<=[{_SENTENCE_ENDS}])\s+", text) if part]


def sentence(text: str) -> str:
    """`text` with an end, so that a voice pauses after it."""
    return text if not text or text[-1] in _SENTENCE_ENDS else text + "."


def spaced(code: str) -> str:
    """`4821` as `4 8 2 1`: Say reads 4821 as one number, https://www.twilio.com/docs/voice/twiml/say."""
    return " ".join(char for char in code if not char.isspace())


def count(number: int) -> str:
    """A number that begins a sentence: "Two"; above twelve in digits."""
    return _NUMBERS[number].capitalize() if number < len(_NUMBERS) else str(number)


def span(ms: int) -> str:
    """A length of time in words, as exact as an ear needs it: "less than a minute", "five minutes"."""
    if ms < 50 * SECOND:
        return "less than a minute"
    if ms < HOUR - MINUTE // 2:
        unit, size = "minute", MINUTE
    elif ms < 2 * DAY:
        unit, size = "hour", HOUR
    else:
        unit, size = "day", DAY
    many = (ms + size // 2) // size
    return f"{count(many).lower()} {unit}" if many == 1 else f"{count(many).lower()} {unit}s"


def ago(ms: int) -> str:
    """How long since: "just now", "two minutes ago"."""
    return "just now" if ms < 20 * SECOND else f"{span(ms)} ago"


def _fits(text: str, limit: int) -> bool:
    return len(text) <= limit and len(quote(text)) <= LIMIT_ENCODED


def _cut(text: str, limit: int) -> str:
    """The longest beginning that fits, without a broken word unless a word is very long."""
    room = LIMIT_ENCODED - 100  # for the words that follow
    end = 0
    while end < min(len(text), limit) and (room := room - len(quote(text[end]))) >= 0:
        end += 1
    kept = text[:end]
    if end < len(text) and not text[end].isspace():
        shorter = kept.rpartition(" ")[0]
        kept = shorter if len(shorter) >= end // 2 else kept
    return kept.rstrip(" .,;:-")
