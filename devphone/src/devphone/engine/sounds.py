"""What Say, Play and Pause sound like: words, seconds, and what Twilio would complain about.

Pure; when a sound is played is `programme.py`. Nothing is synthesised or fetched here.
https://www.twilio.com/docs/voice/twiml/say and .../play, .../pause
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote_plus

from devphone.digits import whole

from .twiml import Verb

CHARACTERS_A_SECOND = 14.0
PLAY_S = 3.0
"""How long any audio file plays; the dev phone does not fetch it."""
TONE_S = 0.5
WAITS_S = {"w": 0.5, "W": 1.0}
"""https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource, SendDigits."""
TONES = re.compile(r"[0-9A-D#*wW]+")
FOR_EVER = 1000
"""How often `loop="0"` repeats, unless the call ends earlier."""
MAX_BASIC, MAX_POLLY, MAX_GOOGLE, MAX_ENCODED = 4096, 3000, 5000, 4500
"""https://www.twilio.com/docs/api/errors/13521; counted in bytes of UTF-8, Google's with the SSML tags."""
BASIC_VOICES = ("", "man", "woman", "alice")


@dataclass
class Sound:
    """What is heard for `seconds`: `said` by the voice, or `noise`; then silence for `break_s` seconds."""

    seconds: float = 0.0
    break_s: float = 0.0
    said: str = ""
    noise: str = ""
    warnings: list[tuple[int, str]] = field(default_factory=list)


def spoken_s(text: str) -> float:
    """How long the voice, or a person, takes to say `text`, in seconds."""
    return len(text) / CHARACTERS_A_SECOND


def tones_s(digits: str) -> float:
    """How long it takes to send these keys, with `w` and `W` as pauses of 0.5 and 1 second."""
    return sum(WAITS_S.get(digit, TONE_S) for digit in digits)


def read(verb: Verb, *, nested: bool) -> Sound:
    """The sound of a Say, Play or Pause; `nested` in a Gather, where some complaints have their own code."""
    match verb.name:
        case "Say":
            return _say(verb, nested=nested)
        case "Play":
            return _play(verb)
    length = verb.attributes.get("length", "1")
    if seconds := whole(length):
        return Sound(float(seconds))
    return Sound(1.0, warnings=[(13910, f"Pause: invalid length {length!r}")])


def _say(verb: Verb, *, nested: bool) -> Sound:
    sound = Sound()
    voice = verb.attributes.get("voice", "")
    if voice not in BASIC_VOICES and "." not in voice:
        code, where = (13321, "Gather -> Say") if nested else (13511, "Say")
        sound.warnings.append((code, f"{where}: invalid voice {voice!r}"))
    times = _times(verb, 13322 if nested else 13510, sound)
    if not verb.text:
        sound.warnings.append((13520, "Say has no text"))
        return sound
    if too_long := _too_long(verb, voice):
        sound.warnings.append((13521, f"Say {too_long}"))
        return sound
    sound.said, sound.seconds, sound.break_s = verb.text, spoken_s(verb.text) * times, verb.break_s * times
    return sound


def _too_long(verb: Verb, voice: str) -> str:
    """What is wrong with the length of a text for this voice; empty when nothing is."""
    size, limit = len(verb.text.encode()), MAX_BASIC
    if voice.startswith("Polly."):
        limit = MAX_POLLY
    elif voice.startswith("Google."):
        size, limit = len(verb.markup.encode()), MAX_GOOGLE
    if size > limit:
        return f"has {size} characters, more than {limit}"
    encoded = len(quote_plus(verb.text))
    return f"has {encoded} characters URL-encoded, more than {MAX_ENCODED}" if encoded > MAX_ENCODED else ""


def _play(verb: Verb) -> Sound:
    digits = verb.attributes.get("digits")
    if digits is not None:
        if TONES.fullmatch(digits):
            return Sound(tones_s(digits), noise=f"[tones {digits}]")
        return Sound(warnings=[(13430, f"Play: invalid digits {digits!r}")])
    if not verb.text:
        return Sound(warnings=[(11100, "Play has no URL")])
    sound = Sound(noise=f"[plays {verb.text}]")
    sound.seconds = PLAY_S * _times(verb, 13410, sound)
    return sound


def _times(verb: Verb, code: int, sound: Sound) -> int:
    loop = verb.attributes.get("loop", "1")
    times = whole(loop)
    if times is None:
        sound.warnings.append((code, f"{verb.name}: invalid loop {loop!r}"))
        return 1
    return min(times, FOR_EVER) or FOR_EVER
