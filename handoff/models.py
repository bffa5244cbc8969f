"""What is kept: the records of a handoff, its attempts, its calls and its events. Each carries `v`.

What a request may say and what an answer shows are in messages.py; how records change is
lifecycle.py's business; where they live is store.py's.
All moments are milliseconds since 1970, UTC (moments.py). Records are frozen: a change is a copy.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from handoff.moments import SECOND
from handoff.states import CLOSED, CallState, CloseReason, Disposition, Kind, State


class Record(BaseModel):
    """The base of everything kept: frozen. Fields that only a newer version knows are kept and written back,
    so that processes of two versions can work on one record while a new one is being rolled out."""

    model_config = ConfigDict(frozen=True, extra="allow")


class StoredRecord(Record):
    """A record that remembers the text it was read from, which is what compare-and-set compares: a text of
    an earlier version has fewer fields than this version would write. It is no part of what is said."""

    stored: str | None = Field(default=None, exclude=True, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredRecord) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(self.model_dump_json())


class ActorKind(StrEnum):
    """Who can cause an event."""

    CONTACT = "contact"  #: a person reached by call, text or link
    OPERATOR = "operator"  #: a person with an operator key
    AGENT = "agent"  #: the requester
    CLOCK = "clock"  #: a due time came
    SERVICE = "service"  #: the service itself, reporting what it did


class Actor(Record):
    """Who did it. `id` is the contact's, the API key's, or for the clock and the service its own name."""

    kind: ActorKind
    id: str
    name: str | None = None


CLOCK = Actor(kind=ActorKind.CLOCK, id="clock")
SERVICE = Actor(kind=ActorKind.SERVICE, id="service")


class Urgency(StrEnum):
    """How much it matters to reach somebody now."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"  #: rings through quiet hours

    @property
    def rank(self) -> int:
        """0 for the least urgent."""
        return list(Urgency).index(self)


class ProofAsked(StrEnum):
    """What a decision by a contact needs at least. The stricter of a request's and its policy's counts."""

    ANY = "any"  #: a key, or a button on the page
    CODE = "code"  #: by phone: a key, and two digits read aloud, so that an accidental key counts for nothing
    PIN = "pin"  #: a key and the contact's PIN, or the page and the PIN
    LINK = "link"  #: the page only: a voice can't show what it is about

    @property
    def rank(self) -> int:
        """0 for the least."""
        return list(ProofAsked).index(self)


class CallsBack(StrEnum):
    """Why a call is placed to somebody who was on the line before."""

    DROPPED = "dropped"  #: the line was cut, or they hung up, and nothing was decided
    ASKED = "asked"  #: they asked for it by a key
    CALLER = "caller"  #: somebody who called us from their number asked for it, and showed nothing else


class Channel(StrEnum):
    """Which way a decision or an attempt went."""

    CALL = "call"
    TEXT = "text"
    LINK = "link"
    CONSOLE = "console"
    API = "api"
    POLICY = "policy"


class Proof(StrEnum):
    """What shows that a decision was made by its actor."""

    KEYPRESS = "keypress"
    KEYPRESS_CODE = "keypress+code"
    KEYPRESS_PIN = "keypress+pin"
    SPEECH = "speech"
    SMS = "sms"
    LINK = "link"
    LINK_PIN = "link+pin"
    CONSOLE = "console"
    OBSERVED = "observed"
    POLICY = "policy"


class Decision(Record):
    """A word that counts: who, by which channel, with which proof, when, and what they added."""

    by: Actor
    channel: Channel
    proof: Proof
    at: int
    comment: str | None = None


class ClearResult(Record):
    """The wall is gone."""

    kind: Literal[Kind.CLEAR] = Kind.CLEAR
    cleared: Literal[True] = True


class AskResult(Record):
    """The answer."""

    kind: Literal[Kind.ASK] = Kind.ASK
    answer: Any


class ApproveResult(Record):
    """The decision on a described action, with every vote that counted."""

    kind: Literal[Kind.APPROVE] = Kind.APPROVE
    approved: bool
    votes: tuple[Decision, ...] = ()


Result = Annotated[ClearResult | AskResult | ApproveResult, Field(discriminator="kind")]


class Attempt(Record):
    """Reaching one contact once for one handoff, by call or text."""

    id: str
    contact: str
    contact_name: str
    channel: Literal[Channel.CALL, Channel.TEXT]
    round: int
    step: int
    call: str | None = None
    held: str | None = None  # the limit for which it waits now (limits.py), and until when
    held_until: int | None = None
    line: int = 0  # which of the contact's numbers, from 0
    number: str | None = Field(default=None, repr=False)  # E.164, a text's once it is sent; no view shows it
    inbound: bool = False  # they called us
    back: CallsBack | None = None  # a call to somebody who was on the line before
    started_at: int
    ended_at: int | None = None
    disposition: Disposition | None = None
    detail: str | None = None  # e.g. "Twilio error 21211", for the operator
    asked_at: int | None = None  # a text: when the provider was asked; it is never asked twice
    asked_run: str | None = None  # which run asked, as for a call
    provider_id: str | None = None  # a text's id at the provider; a call's is in its own record
    opted_out: bool = False  # in this call they asked not to be called on this number again
    text_rank: int = 0  # how far a text has come (voice/dispositions.py); late callbacks never lower it


#: Steps of a policy in order, each as the ids of its contacts.
Climbed = tuple[tuple[str, ...], ...]


class Position(Record):
    """How far the escalation policy has come; both count from 0. `climbed` are the steps that began in this
    round, with the people they had then: the policy may be another by now. None in records of before it."""

    round: int
    step: int
    climbed: Climbed | None = None


class Handoff(Record):
    """The record, from request to close: the agent's pending key."""

    v: Literal[1] = 1
    id: str
    rev: int = 0  # rises by one with every change; what compare-and-set compares
    seq: int = 0  # the number of its newest event
    kind: Kind
    state: State
    close_reason: CloseReason | None = None
    reason: str
    agent: str
    api_key: str
    label: str | None = None
    live_view_url: str | None = None
    resume_url: str | None = None
    resume_token: str | None = None
    outcome_url: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    timeout_s: float
    max_timeout_s: float | None = None  # how far people may put the deadline off, from the opening on
    if_agent_gone: Literal["keep", "cancel"] = "keep"
    on_exhausted: Literal["wait", "fail"] = "wait"
    notify: Literal["policy", "none"] = "policy"
    page_url: str | None = None  # with `notify: "none"`: where people say who they are
    policy: str
    urgency: Urgency = Urgency.NORMAL
    proof: ProofAsked = ProofAsked.ANY  # what a contact's decision needs at least
    enrols: bool = False  # it asks `contact` whether they may be called at all (enrolment.py)
    contact: str | None = None  # the one person asked for, instead of a policy
    no_default: bool = False  # its key may not reach `default`: once its own people are gone, nobody is left
    position: Position | None = None
    step_started_at: int | None = None
    next_step_at: int | None = None  # nothing rings, and a wait is not over
    same_step_again: bool = False  # then: the same step, for people whose quiet hours are over
    exhausted: bool = False
    created_at: int
    deadline: int
    closed_at: int | None = None
    acknowledged: Decision | None = None
    acknowledged_until: int | None = None
    closed_by: Actor | None = None
    settlement: Decision | None = None  # the decision that closed it, if one did
    result: Result | None = None
    attempts: tuple[Attempt, ...] = ()
    late_answers: int = 0

    @property
    def closed(self) -> bool:
        return self.state in CLOSED

    def held_by(self, kind: ActorKind, id_: str) -> bool:
        """Whether this very one has acknowledged it; an operator and a contact may have the same id."""
        holder = self.acknowledged.by if self.acknowledged else None
        return holder is not None and (holder.kind, holder.id) == (kind, id_)

    @property
    def latest_deadline(self) -> int:
        """How far the deadline can be put off, ms."""
        return max(self.deadline, self.created_at + round((self.max_timeout_s or self.timeout_s) * SECOND))

    def attempt(self, attempt_id: str) -> Attempt | None:
        """The attempt with this id, if the handoff has it."""
        return next((one for one in self.attempts if one.id == attempt_id), None)


class EventType(StrEnum):
    """What the timeline can say."""

    OPENED = "opened"
    STEP_STARTED = "step_started"
    POLICY_EXHAUSTED = "policy_exhausted"
    CALL_HELD = "call_held"
    TEXT_HELD = "text_held"
    CALL_PLACED = "call_placed"
    CALL_UNKNOWN = "call_unknown"
    CALL_RINGING = "call_ringing"
    CALL_ANSWERED = "call_answered"
    CALLED_IN = "called_in"
    CALLS_BACK = "calls_back"
    PIN_REFUSED = "pin_refused"
    MACHINE_HEARD = "machine_heard"
    OPTED_OUT = "opted_out"
    ATTEMPT_ENDED = "attempt_ended"
    TEXT_SENT = "text_sent"
    TEXT_MOVED = "text_moved"
    ACKNOWLEDGED = "acknowledged"
    EXTENDED = "extended"
    RUNG_AGAIN = "rung_again"
    LAPSED = "lapsed"
    RESOLVED = "resolved"
    DECLINED = "declined"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    LATE_ANSWER_REFUSED = "late_answer_refused"
    RESUME_DELIVERED = "resume_delivered"
    RESUME_FAILED = "resume_failed"


class Event(Record):
    """One line of the timeline; also the wake-up and the audit row. `seq` counts from 1 in its handoff."""

    v: Literal[1] = 1
    seq: int
    id: str
    type: EventType
    at: int
    by: Actor
    proof: Proof | None = None
    data: dict[str, Any] = Field(default_factory=dict)


class CallEntry(Record):
    """One handoff that a call carries, and the attempt it stands for."""

    handoff: str
    attempt: str


class Call(Record):
    """One phone call to one contact. At most one create at the provider, ever."""

    v: Literal[1] = 1
    id: str
    rev: int = 1
    contact: str
    contact_name: str
    number: str  # E.164
    entries: tuple[CallEntry, ...]
    state: CallState = CallState.DUE
    ring_s: int
    api_key: str | None = None  # whose handoff asked for it: it counts for that key's share of the number
    inbound: bool = False  # they called us: nothing is placed
    proof: Proof | None = None  # of one who called us: what they showed
    back: CallsBack | None = None
    created_at: int
    due_at: int | None = None  # not to be placed before; None: at once
    placing_at: int | None = None
    placing_run: str | None = None  # which run claimed it, so that a lost reply is not taken for another's
    answered_at: int | None = None
    ended_at: int | None = None
    provider_id: str | None = None
    heard_all: bool = False  # the voice came to its goodbye without a key
    machine: str | None = None  # what detection took for the one who answered, once it counts as a machine
    screened: bool = False  # the last words heard were a call screener's
    keyed: bool = False  # a key was pressed, whatever it means: no machine has the line
    pressed: str = ""  # every key that counted, in order, for "what did they press?"
    pressed_turn: int = 0  # the document in which the newest of them was pressed
