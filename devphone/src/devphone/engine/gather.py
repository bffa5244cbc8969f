"""The rules of Gather for keys: which key counts, when it is over, what was entered.

No timers and no requests here; `programme.py` runs the clock. Speech is not understood yet.
https://www.twilio.com/docs/voice/twiml/gather
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .twiml import Verb

KEYS = "0123456789*#ABCD"
INPUTS = ("dtmf", "speech", "dtmf speech", "speech dtmf")


@dataclass(frozen=True)
class GatherRules:
    """A Gather's attributes, read once. `num_keys` None = no limit, `finish_on` "" = no such key."""

    takes_keys: bool
    action: str
    method: str
    timeout_s: float
    num_keys: int | None
    finish_on: str
    action_on_empty: bool


@dataclass
class Gathering:
    """One Gather under way: the keys so far, and which nested verb plays next."""

    rules: GatherRules
    children: tuple[Verb, ...]
    next_child: int = 0
    keys: str = ""
    warnings: list[tuple[int, str]] = field(default_factory=list)

    def press(self, key: str) -> bool:
        """Take one key; True when the Gather is over because of it. The finish key is not kept."""
        if key == self.rules.finish_on:
            return True
        self.keys += key
        return self.rules.num_keys is not None and len(self.keys) >= self.rules.num_keys

    @property
    def calls_action(self) -> bool:
        """Whether the action is requested when it is over now; else the next verb runs."""
        return bool(self.keys) or self.rules.action_on_empty


def begin(verb: Verb) -> Gathering:
    """Start a Gather; values that Twilio rejects are replaced by the default and noted as warnings."""
    warnings: list[tuple[int, str]] = []
    attributes = verb.attributes

    def whole(name: str, code: int) -> int | None:
        value = attributes.get(name)
        if value is None:
            return None
        if value.isascii() and value.isdigit() and int(value) > 0:
            return int(value)
        warnings.append((code, f"Gather: invalid {name} {value!r}"))
        return None

    kinds = attributes.get("input", "dtmf")
    if kinds not in INPUTS:
        warnings.append((13326, f"Gather: invalid input {kinds!r}"))
        kinds = "dtmf"
    finish_on = attributes.get("finishOnKey", "#")
    if len(finish_on) > 1 or finish_on not in KEYS:
        warnings.append((13310, f"Gather: invalid finishOnKey {finish_on!r}"))
        finish_on = "#"
    empty = attributes.get("actionOnEmptyResult", "false")
    if empty not in ("true", "false"):
        warnings.append((13338, f"Gather: invalid actionOnEmptyResult {empty!r}"))
    rules = GatherRules(
        takes_keys="dtmf" in kinds,
        action=attributes.get("action", ""),
        method=attributes.get("method", "POST").upper(),
        timeout_s=float(whole("timeout", 13313) or 5),
        num_keys=whole("numDigits", 13314),
        finish_on=finish_on,
        action_on_empty=empty == "true",
    )
    return Gathering(rules, verb.children, warnings=warnings)
