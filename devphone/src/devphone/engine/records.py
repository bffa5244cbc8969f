"""What is known about a call: plain records, changed by the engine only.

How they look on Twilio's wire is `web/calls.py`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Literal

from .actions import Now
from .amd import Detection
from .gather import Gathering
from .phones import Verdict
from .twiml import Document

TERMINAL = frozenset({"completed", "busy", "no-answer", "failed", "canceled"})
Who = Literal["voice", "person", "device", "system"]
Direction = Literal["outbound-api", "inbound"]
At = Literal["nobody", "person", "voicemail", "screener"]
"""Who is, or was last, on the phone's end of a call."""


@dataclass(frozen=True)
class CallRequest:
    """A create that was found valid. Times in seconds, numbers in E.164; `twiml` only without `url`."""

    to: str
    from_: str
    url: str = ""
    method: str = "POST"
    twiml: str = ""
    fallback_url: str = ""
    fallback_method: str = "POST"
    status_callback: str = ""
    status_callback_method: str = "POST"
    events: tuple[str, ...] = ("completed",)
    timeout_s: int = 60
    time_limit_s: int = 14400
    send_digits: str = ""
    detection: Detection | None = None


@dataclass(frozen=True)
class CallChange:
    """An update that was found valid; None = leave as is. `redirect_url` and `twiml` exclude each other."""

    status: Literal["canceled", "completed"] | None = None
    redirect_url: str | None = None
    redirect_method: str = "POST"
    twiml: str | None = None
    fallback_url: str | None = None
    fallback_method: str | None = None
    status_callback: str | None = None
    status_callback_method: str | None = None
    time_limit_s: int | None = None


@dataclass(frozen=True)
class Heard:
    """One thing heard on a call. `who` is the application's voice, the person, their device, or the system.

    `at_s` counts from the answer; `lasts_s` is how long it takes when uninterrupted, repeats included.
    """

    at_s: float
    who: Who
    text: str
    lasts_s: float = 0.0


@dataclass
class SeenDocument:
    """One request for TwiML and its HTTP status; None while waiting, or when no answer came."""

    url: str
    method: str
    fields: dict[str, str]
    status: int | None = None
    problem: str = ""


@dataclass
class Programme:
    """Where a call is in its TwiML. `fetch_id` names the only reply that is still wanted; 0 = none.

    `relative_code` is what a URL without a host is reported as. `silent_documents` were asked for in a row
    without a sound or a key. `partials` is how many partial results of speech were sent. The person speaks
    until `speaks_until_s` on the line's clock.
    """

    document: Document | None = None
    position: int = 0
    gathering: Gathering | None = None
    fetch_id: int = 0
    fetching_fallback: bool = False
    relative_code: int = 11100
    silent_documents: int = 0
    partials: int = 0
    speaks_until_s: float = 0.0


@dataclass
class Call:
    """One call. `sequence` counts status callbacks really sent; `fetch_lag_s` delays what a GET shows.

    `rings_person`: a phone that a person could hear rings. `in_notice`: the trial notice waits for a key.
    `recorded_from_s` is when the mailbox's beep sounded, in seconds after the answer; `screened` is what the
    call screener showed the person. `answered_by` is the verdict of machine detection, `queue_s` how long the
    call was expected to wait in the queue. `order` grows from one call to the next. `deleted`: the
    application had Twilio's record removed; what people know of the call stays.
    """

    sid: str
    order: int
    request: CallRequest
    created: Now
    updated: Now
    deleted: bool = False
    status: str = "queued"
    direction: Direction = "outbound-api"
    at: At = "nobody"
    rings_person: bool = False
    in_notice: bool = False
    recorded_from_s: float | None = None
    screened: str | None = None
    answered_by: Verdict | None = None
    queue_s: float = 0.0
    dialled: Now | None = None
    answered: Now | None = None
    ended: Now | None = None
    sip_code: int | None = None
    sequence: int = 0
    keys: str = ""
    transcript: list[Heard] = field(default_factory=list)
    documents: list[SeenDocument] = field(default_factory=list)
    programme: Programme = field(default_factory=Programme)
    fetch_lag_s: float = 0.0
    earlier: list[Call] = field(default_factory=list, repr=False)

    @property
    def over(self) -> bool:
        """Whether the call has reached one of its ends."""
        return self.status in TERMINAL

    @property
    def duration_s(self) -> int:
        """Whole seconds from the answer to the end; 0 when it was never answered or still goes on."""
        return int(self.ended.s - self.answered.s) if self.answered and self.ended else 0

    @property
    def person(self) -> str:
        """The person's phone (E.164): who is called, or who calls."""
        return self.request.from_ if self.direction == "inbound" else self.request.to

    def since_answer_s(self, now: Now) -> float:
        """Seconds of the line since the answer; 0 before it."""
        return round(now.s - self.answered.s, 3) if self.answered else 0.0

    def hear(self, now: Now, who: Who, text: str, lasts_s: float = 0.0) -> None:
        """Add a line to the transcript."""
        self.transcript.append(Heard(self.since_answer_s(now), who, text, lasts_s))

    def keep_for_lagging_reads(self) -> None:
        """Remember the present state, when reads of this call lag."""
        if self.fetch_lag_s:
            self.earlier.append(copy.copy(self))

    def as_read_at(self, now: Now) -> Call:
        """The state that a GET shows at `now`: the present one, or an older one while reads lag."""
        if not self.fetch_lag_s:
            return self
        seen = [old for old in self.earlier if old.updated.s <= now.s - self.fetch_lag_s]
        return seen[-1] if seen else self.earlier[0]
