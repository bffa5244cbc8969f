"""Machine detection: what Twilio takes the answering side for, and when it knows.

Pure. The verdict follows from how long the first sentence is, as Twilio's own parameters are defined:
https://www.twilio.com/docs/voice/answering-machine-detection#optional-api-tuning-parameters
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from .phones import Phone, Verdict
from .sounds import spoken_s

PERSON_S = 1.0
"""How long a person's "Hello?" takes."""
MACHINE_S = 4.0
"""When a machine is recognised as one: Twilio's figure for the average."""


@dataclass(frozen=True)
class Detection:
    """MachineDetection as a create asks for it, found valid. Times in seconds.

    `in_background` is AsyncAmd: the document runs at once, the verdict is posted to `callback`.
    """

    mode: Literal["Enable", "DetectMessageEnd"]
    in_background: bool = False
    callback: str = ""
    callback_method: str = "POST"
    timeout_s: float = 30.0
    speech_s: float = 2.4
    speech_end_s: float = 1.2
    silence_s: float = 5.0


class Found(NamedTuple):
    """A verdict, and how many seconds after the answer it is known."""

    answered_by: Verdict
    after_s: float


def listen(detection: Detection, phone: Phone, at: str) -> Found:
    """What is found on the line; `at` is who answered: person, voicemail or screener.

    What the phone is told to be taken for comes before what it is.
    """
    found = _hear(detection, phone, at)
    if phone.answered_by is not None:
        found = found._replace(answered_by=phone.answered_by)
    if phone.verdict_after_s is not None:
        found = found._replace(after_s=phone.verdict_after_s)
    if found.after_s <= detection.timeout_s:
        return found
    late: Verdict = "machine_end_other" if found.answered_by.startswith("machine_end") else "unknown"
    return Found(late, detection.timeout_s)


def _hear(detection: Detection, phone: Phone, at: str) -> Found:
    """Silence is unknown, a short sentence a person, a long one a machine, whoever says it."""
    first_s = PERSON_S
    if at == "voicemail":
        first_s = spoken_s(phone.mailbox_greeting)
    elif at == "screener":
        first_s = spoken_s(phone.screener_question)
    if first_s == 0:
        return Found("unknown", detection.silence_s)
    if first_s <= detection.speech_s:
        return Found("human", first_s + detection.speech_end_s)
    if detection.mode == "Enable":
        return Found("machine_start", max(MACHINE_S, detection.speech_s))
    if at == "voicemail":
        return Found("machine_end_beep", first_s)
    return Found("machine_end_silence", first_s + detection.speech_end_s)
