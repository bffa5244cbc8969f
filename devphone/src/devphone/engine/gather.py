"""The rules of Gather: which key or word counts, when it is over, what was entered.

No timers and no requests here; `programme.py` runs the clock.
https://www.twilio.com/docs/voice/twiml/gather
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from devphone.digits import whole

from .sounds import CHARACTERS_A_SECOND
from .twiml import Verb

KEYS = "0123456789*#ABCD"
INPUTS = ("dtmf", "speech", "dtmf speech", "speech dtmf")
MAX_SPEECH_S = 60.0
AUTO_S = 1.0
"""The pause that ends speech with `speechTimeout="auto"`."""
MAX_HINTS, MAX_HINT = 500, 100
MODELS = (
    *("default", "numbers_and_commands", "phone_call"),
    *("experimental_conversations", "experimental_utterances"),
)
PROVIDERS = ("googlev2_", "deepgram_")


@dataclass(frozen=True)
class GatherRules:
    """A Gather's attributes, read once. Times in seconds.

    `num_keys` None = no limit, `finish_on` "" = no such key. Without `barge_in`, what is entered during the
    prompt does not stop it and is lost.
    """

    takes_keys: bool
    takes_speech: bool
    action: str
    method: str
    timeout_s: float
    num_keys: int | None
    finish_on: str
    action_on_empty: bool
    speech_timeout_s: float
    max_speech_s: float
    barge_in: bool
    partial_url: str
    partial_method: str


@dataclass
class Gathering:
    """One Gather under way: what was entered so far, and which nested verb plays next.

    The first kind of input decides: after a key words are lost, after a word keys are.
    """

    rules: GatherRules
    children: tuple[Verb, ...]
    next_child: int = 0
    prompt_over: bool = False
    kind: Literal["", "keys", "speech"] = ""
    keys: str = ""
    words: list[str] = field(default_factory=list)
    confidence: float | None = None
    speech_began_s: float = 0.0
    warnings: list[tuple[int, str]] = field(default_factory=list)

    @property
    def takes_keys(self) -> bool:
        """Whether a key pressed now counts."""
        return self.rules.takes_keys and self.kind != "speech" and self._hears

    @property
    def takes_speech(self) -> bool:
        """Whether words said now count."""
        return self.rules.takes_speech and self.kind != "keys" and self._hears

    def press(self, key: str) -> bool:
        """Take one key; True when the Gather is over because of it. The finish key is not kept."""
        self.kind = "keys"
        if key == self.rules.finish_on:
            return True
        self.keys += key
        return self.rules.num_keys is not None and len(self.keys) >= self.rules.num_keys

    def say(self, text: str, confidence: float | None, begins_s: float) -> float:
        """Take words that begin to be said at `begins_s`; when the Gather is over if nothing follows.

        What is said after `max_speech_s` is cut off at a word. The lowest confidence is kept.
        """
        if self.kind != "speech":
            self.kind, self.speech_began_s = "speech", begins_s
        limit_s = self.speech_began_s + self.rules.max_speech_s
        fits = max(0, int((limit_s - begins_s) * CHARACTERS_A_SECOND))
        kept = text if len(text) <= fits else text[: fits + 1].rpartition(" ")[0]
        if kept:
            self.words.append(kept)
            known = [value for value in (self.confidence, confidence) if value is not None]
            self.confidence = min(known, default=None)
        ends_s = begins_s + len(text) / CHARACTERS_A_SECOND
        return min(ends_s + self.rules.speech_timeout_s, limit_s)

    @property
    def speech(self) -> str:
        """All words so far."""
        return " ".join(self.words)

    @property
    def result(self) -> dict[str, str]:
        """The fields that the action gets; none when nothing was entered."""
        if self.keys:
            return {"Digits": self.keys}
        if not self.words:
            return {}
        confidence = {} if self.confidence is None else {"Confidence": str(self.confidence)}
        return {"SpeechResult": self.speech, **confidence}

    @property
    def calls_action(self) -> bool:
        """Whether the action is requested when it is over now; else the next verb runs."""
        return bool(self.result) or self.rules.action_on_empty

    @property
    def _hears(self) -> bool:
        return self.rules.barge_in or self.prompt_over


def begin(verb: Verb) -> Gathering:
    """Start a Gather; values that Twilio rejects are replaced by the default and noted as warnings."""
    values = _Values(verb.attributes)
    kinds = values.one_of("input", 13326, INPUTS, "dtmf")
    finish_on = values.text("finishOnKey", "#")
    if len(finish_on) > 1 or finish_on not in KEYS:
        values.warn(13310, "finishOnKey")
        finish_on = "#"
    action_on_empty = values.flag("actionOnEmptyResult", 13338, default=False)
    timeout_s = float(values.whole("timeout", 13313) or 5)
    rules = GatherRules(
        takes_keys="dtmf" in kinds,
        takes_speech="speech" in kinds,
        action=values.text("action"),
        method=values.method("method", 13312),
        timeout_s=timeout_s,
        num_keys=values.whole("numDigits", 13314),
        finish_on=finish_on,
        action_on_empty=action_on_empty,
        speech_timeout_s=_speech_timeout_s(values, timeout_s),
        max_speech_s=_max_speech_s(values),
        barge_in=values.flag("bargeIn", 13332, default=True),
        partial_url=values.text("partialResultCallback"),
        partial_method=values.method("partialResultCallbackMethod", 13329),
    )
    if rules.takes_speech:
        _check_recognition(values)
    return Gathering(rules, verb.children, warnings=values.warnings)


class _Values:
    """Reads a Gather's attributes and collects warnings."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self._attributes = attributes
        self.warnings: list[tuple[int, str]] = []

    def text(self, name: str, default: str = "") -> str:
        return self._attributes.get(name, default)

    def warn(self, code: int, name: str, why: str = "") -> None:
        self.warnings.append((code, f"Gather: invalid {name} {self.text(name)!r}{why}"))

    def whole(self, name: str, code: int) -> int | None:
        """A whole number from 1; None when there is none, or no such."""
        value = self._attributes.get(name)
        number = None if value is None else whole(value)
        if value is not None and not number:
            self.warn(code, name)
        return number or None

    def one_of(self, name: str, code: int, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name, default)
        if value in allowed:
            return value
        self.warn(code, name)
        return default

    def flag(self, name: str, code: int, *, default: bool) -> bool:
        word = "true" if default else "false"
        return self.one_of(name, code, ("true", "false"), word) == "true"

    def method(self, name: str, code: int) -> str:
        if self.text(name, "POST").upper() in ("GET", "POST"):
            return self.text(name, "POST").upper()
        self.warn(code, name)
        return "POST"


def _speech_timeout_s(values: _Values, timeout_s: float) -> float:
    """https://www.twilio.com/docs/api/errors/13335: auto and the model called default exclude each other."""
    if values.text("speechTimeout") != "auto":
        return float(values.whole("speechTimeout", 13327) or timeout_s)
    if values.text("speechModel") == "default":
        values.warn(13335, "speechTimeout", " with the default model")
        return timeout_s
    return AUTO_S


def _max_speech_s(values: _Values) -> float:
    seconds = values.whole("maxSpeechTime", 13328) or MAX_SPEECH_S
    if seconds > MAX_SPEECH_S:
        values.warn(13328, "maxSpeechTime")
    return min(float(seconds), MAX_SPEECH_S)


def _check_recognition(values: _Values) -> None:
    """Hints, language, model, profanity filter: only whether Twilio would take them."""
    hints = [hint.strip() for hint in values.text("hints").split(",")]
    if len(hints) > MAX_HINTS or any(len(hint) > MAX_HINT for hint in hints):
        values.warn(13330, "hints", f": at most {MAX_HINTS} of {MAX_HINT} characters")
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})+", values.text("language", "en-US")):
        values.warn(13331, "language", ", wanted is a tag such as en-US")
    model = values.text("speechModel", "default")
    if model not in MODELS and not model.startswith(PROVIDERS):
        values.warn(13334, "speechModel")
    values.flag("profanityFilter", 13333, default=True)
