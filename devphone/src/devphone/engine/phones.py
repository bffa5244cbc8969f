"""How a person's phone behaves when it is called or texted. What it does on a call is `progress.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Behaviour = Literal["rings", "answers", "busy", "unreachable", "voicemail"]
Texts = Literal["delivered", "undelivered", "no_receipt"]


@dataclass(frozen=True)
class Phone:
    """How one number behaves. `after_s` counts from the first ring; `records_s` is a voicemail's patience.

    `texts` = what becomes of a text sent to it: a receipt, code `error_code`, or `sent` as the last word.
    """

    number: str
    behaviour: Behaviour = "rings"
    after_s: float = 0.0
    records_s: float = 120.0
    texts: Texts = "delivered"
    error_code: int = 30003
