"""How a person's phone behaves when it is called or texted: values only. What they mean is `devices.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Behaviour = Literal[
    "rings",
    "answers",
    "busy",
    "unreachable",
    "voicemail",
    "screening",
    "do_not_disturb",
    "bad_line",
]
Verdict = Literal[
    "human", "machine_start", "machine_end_beep", "machine_end_silence", "machine_end_other", "fax", "unknown"
]
"""https://www.twilio.com/docs/voice/answering-machine-detection"""
Texts = Literal["delivered", "undelivered", "failed", "no_receipt"]

WAITS_S: dict[Behaviour, float] = {"screening": 2.0, "do_not_disturb": 20.0}
"""Seconds before such a phone acts, when nothing else is said; all others act at once."""
MAILBOX_GREETING = "Hello, I can't take your call right now. Please leave a message after the beep."
SCREENER_QUESTION = (
    "Hello, this phone asks before it rings. Please say your name and why you are calling, "
    "and I will see whether you can be put through."
)


@dataclass(frozen=True)
class Phone:
    """How one number behaves. Times in seconds, numbers in E.164.

    `after_s` counts from the first ring; None is what `behaviour` usually takes. `greeting` is what a mailbox
    says, or what a screener asks; None is the usual one, "" is nothing. `records_s` counts from the beep,
    `listens_s` from the end of the screener's question, `drops_after_s` from the answer. Callers in
    `lets_through` are neither screened nor silenced. `answered_by` is what machine detection takes it for,
    None = what it is, told `verdict_after_s` after the answer.

    `texts` = what becomes of a text sent to it: a receipt, code `error_code` before or after it was sent, or
    `sent` as the last word. With `previews` its message app looks at every link in a text that arrives.
    """

    number: str
    behaviour: Behaviour = "rings"
    after_s: float | None = None
    records_s: float = 120.0
    greeting: str | None = None
    listens_s: float = 8.0
    drops_after_s: float = 10.0
    lets_through: tuple[str, ...] = ()
    answered_by: Verdict | None = None
    verdict_after_s: float | None = None
    texts: Texts = "delivered"
    error_code: int = 30003
    previews: bool = False

    @property
    def waits_s(self) -> float:
        """Seconds from the first ring to what the phone does by itself."""
        return WAITS_S.get(self.behaviour, 0.0) if self.after_s is None else self.after_s

    @property
    def mailbox_greeting(self) -> str:
        """What the mailbox says before the beep."""
        if self.greeting is None or self.behaviour == "screening":
            return MAILBOX_GREETING
        return self.greeting

    @property
    def screener_question(self) -> str:
        """What the call screener asks."""
        return SCREENER_QUESTION if self.greeting is None else self.greeting
