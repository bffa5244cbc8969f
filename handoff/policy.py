"""Who is reached next, and who they are: pure functions of a policy and a position in it.

Where contacts and policies come from is the business of people.py (the environment) and people_file.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, NamedTuple

from pydantic import Field, SkipValidation

from handoff.models import Channel, Climbed, Handoff, Position, ProofAsked, Record, Urgency
from handoff.quiet import QuietHours, quiet_until

DEFAULT_RING_S = 25


class Contact(Record):
    """A person with a number. `numbers` are E.164, in the order in which they are tried; `id` is what the
    timeline and the agent see. `pin` (its hash, see pins.py) proves who they are where no phone of theirs
    rang; it is no part of what is kept or shown."""

    id: str
    name: str
    numbers: tuple[str, ...] = Field(min_length=1)
    channels: tuple[Channel, ...] = (Channel.CALL, Channel.TEXT)
    language: str = "en-US"
    caller_word: str | None = None  # said first, so that they know who calls
    screen: bool = True  # False: they can't see one; texts to them have no link, and the voice names none
    screens_calls: bool = False  # their phone asks callers who they are
    consent: str | None = (
        None  # who vouches that they agreed to be called, when and how; or what they pressed
    )
    time_zone: str = "UTC"
    quiet_hours: tuple[QuietHours, ...] = ()
    pin: str | None = Field(default=None, repr=False, exclude=True)

    @property
    def number(self) -> str:
        """The first number: where texts go."""
        return self.numbers[0]

    def quiet_until(self, now: int) -> int | None:
        """When their quiet hours are over (ms), or None when they have none at `now`."""
        return quiet_until(self.quiet_hours, self.time_zone, now) if self.quiet_hours else None

    def number_besides(self, tried: Collection[str | None]) -> int | None:
        """The place of the first number that is none of these, or None when all were tried. By number, not
        by place: an edit may have put them in another order."""
        return next((line for line, number in enumerate(self.numbers) if number not in tried), None)


class Standing(StrEnum):
    """Whether a contact may be called."""

    GIVEN = "given"  #: in the people file or the environment: the operator vouches for them
    UNVERIFIED = "unverified"  #: enrolled; they have not said yet whether they may be called
    VERIFIED = "verified"  #: enrolled; they pressed 1 when they were asked
    REFUSED = "refused"  #: enrolled; they pressed 2


class Enrolled(NamedTuple):
    """A contact who was enrolled at run time, as far as calls to them go; the record is enrolment.py's.

    `contact` has the numbers on which they agreed, and is None while there is none; `asked` has the others,
    for the call that asks: None when there are none left.
    """

    name: str
    standing: Standing
    contact: Contact | None
    asked: Contact | None


class Step(Record):
    """Contacts that are rung together, each number for `ring_s` seconds. The next step begins `wait_s`
    seconds after this one did, or when its last call has ended if that is later."""

    contacts: tuple[Contact, ...]
    ring_s: int
    wait_s: int = 0


class EscalationPolicy(Record):
    """Ordered steps, the whole repeated `rounds` times. `urgency` is that of requests that name none.

    `proof`: what a decision needs at least. `detect_machines`: the provider listens whether a machine picked
    up, so that it gets a short message and the next one is rung at once.

    `quiet`: what is done when everybody in a step has quiet hours: `text` them and go on, `wait` until
    somebody's are over, or `skip` to the next step in which somebody can be rung.
    """

    name: str
    steps: tuple[Step, ...]
    rounds: int = 1
    urgency: Urgency = Urgency.NORMAL
    quiet: Literal["text", "wait", "skip"] = "text"
    proof: ProofAsked = ProofAsked.ANY
    detect_machines: bool = False


class Route(Record):
    """Requests whose metadata has these values, and that name nobody themselves, take this policy."""

    when: dict[str, Any]
    policy: str

    def fits(self, metadata: Mapping[str, Any]) -> bool:
        """Whether every value named here is in the request's metadata, and the same."""
        return all(name in metadata and _same(metadata[name], value) for name, value in self.when.items())


def _same(given: Any, wanted: Any) -> bool:
    """Equal, and of one kind: `true` is not 1."""
    return isinstance(given, bool) == isinstance(wanted, bool) and bool(given == wanted)


DEFAULT_POLICY = "default"


class People(Record):
    """Everybody who can be reached, and in which orders: the operator's word, as of one `version`; and those
    who were `enrolled` at run time, by id, who are in no policy."""

    contacts: tuple[Contact, ...] = ()
    policies: tuple[EscalationPolicy, ...]
    routes: tuple[Route, ...] = ()
    version: str = ""
    source: str = Field(default="", repr=False)  # the text of the people file
    # Thousands, which are not gone through again with every request.
    enrolled: SkipValidation[Mapping[str, Enrolled]] = Field(default_factory=dict, exclude=True, repr=False)

    @cached_property
    def _by_id(self) -> dict[str, Contact]:
        return {one.id: one for one in self.contacts}

    @cached_property
    def owners(self) -> Mapping[str, str]:
        """Number (E.164) -> id, of those whom the operator gave."""
        return {number: one.id for one in self.contacts for number in one.numbers}

    @cached_property
    def _callable_by_number(self) -> Mapping[str, Contact]:
        enrolled = (one.contact for id_, one in self.enrolled.items() if id_ not in self._by_id)
        everybody = (*filter(None, enrolled), *self.contacts)
        return {number: one for one in everybody for number in one.numbers}

    @cached_property
    def _asked_by_number(self) -> Mapping[str, Contact]:
        asked = filter(None, (one.asked for one in self.enrolled.values()))
        return {number: one for one in asked for number in one.numbers}

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Everybody's id, sorted, also of those who may not be called."""
        return tuple(sorted({*self._by_id, *self.enrolled}))

    def given(self, contact_id: str) -> Contact | None:
        """The contact with this id in the people file or the environment."""
        return self._by_id.get(contact_id)

    def contact(self, contact_id: str) -> Contact | None:
        """The contact with this id who may be called, if there is one (still). The operator's word counts
        more than an enrolment of the same id."""
        if found := self._by_id.get(contact_id):
            return found
        return enrolled.contact if (enrolled := self.enrolled.get(contact_id)) else None

    def whose(self, number: str) -> Contact | None:
        """The contact who may be called on this number (E.164). The operator's word counts more than an
        enrolment."""
        return self._callable_by_number.get(number)

    def anybody_at(self, number: str) -> Contact | None:
        """The contact with this number (E.164), also one who was enrolled and has not said that they may be
        called on it."""
        return self.whose(number) or self._asked_by_number.get(number)

    def contact_for(self, handoff: Handoff, contact_id: str) -> Contact | None:
        """The same for this handoff: one that asks whether somebody may be called knows nobody else."""
        if not handoff.enrols:
            return self.contact(contact_id)
        asked = self.enrolled.get(contact_id) if contact_id == handoff.contact else None
        return asked.asked if asked else None

    def with_enrolled(self, enrolled: Mapping[str, Enrolled]) -> People:
        """The same people, and these enrolled ones instead of others."""
        return People.model_construct(
            contacts=self.contacts,
            policies=self.policies,
            routes=self.routes,
            version=self.version,
            source=self.source,
            enrolled=enrolled,
        )

    def knows(self, handoff: Handoff) -> bool:
        """Whether everybody whom this handoff names is there. If not, an edit or an enrolment may not have
        come here yet."""
        named = {one.contact for one in handoff.attempts} | ({handoff.contact} if handoff.contact else set())
        if any(self.contact_for(handoff, one) is None for one in named):
            return False
        return handoff.contact is not None or self.policy(handoff.policy) is not None

    def policy(self, name: str) -> EscalationPolicy | None:
        """The policy of this name, if there is one (still)."""
        return next((one for one in self.policies if one.name == name), None)

    @property
    def default(self) -> EscalationPolicy:
        """What applies to a request that names nobody, and for whose metadata there is no rule."""
        return self.policy(DEFAULT_POLICY) or self.policies[0]

    def policy_for(self, handoff: Handoff) -> EscalationPolicy:
        """Who is reached for this handoff. One whose contact or policy is gone goes the default's way, if its
        key may; else nobody is left. One that asks a contact whether they may be called rings nobody else."""
        if handoff.enrols:
            return asking(self.contact_for(handoff, handoff.contact or ""), self.default)
        if handoff.contact is not None:
            contact = self.contact(handoff.contact)
            found = only(contact, self.default) if contact else None
        else:
            found = self.policy(handoff.policy)
        if found is None and handoff.no_default:
            return EscalationPolicy(name=handoff.policy, steps=())
        return found or self.default

    def routed(self, metadata: Mapping[str, Any]) -> EscalationPolicy:
        """The policy of the first rule that fits a request's metadata, else the default."""
        name = next((route.policy for route in self.routes if route.fits(metadata)), DEFAULT_POLICY)
        return self.policy(name) or self.default


def only(contact: Contact, like: EscalationPolicy) -> EscalationPolicy:
    """A policy that reaches nobody but this contact, as long and as often as that policy's first step."""
    ring_s, wait_s = (like.steps[0].ring_s, like.steps[0].wait_s) if like.steps else (DEFAULT_RING_S, 0)
    step = Step(contacts=(contact,), ring_s=ring_s, wait_s=wait_s)
    return like.model_copy(update={"name": f"contact:{contact.id}", "steps": (step,)})


def asking(contact: Contact | None, like: EscalationPolicy) -> EscalationPolicy:
    """A policy that asks this contact once whether they may be called, as long as the first step of `like`
    rings; in their quiet hours it waits."""
    found = only(contact, like) if contact else like.model_copy(update={"steps": ()})
    once: dict[str, Any] = {"rounds": 1, "quiet": "wait", "proof": ProofAsked.ANY, "detect_machines": False}
    return found.model_copy(update=once)


class Coming(NamedTuple):
    """A step still to come: where it is, and with whom."""

    position: Position
    step: Step


def coming(policy: EscalationPolicy, after: Position | None) -> Iterator[Coming]:
    """The steps still to come, to the end of the last round; all that there are when none has begun.

    As long as the steps climbed in this round are the policy's first ones, the others follow. Where an edit
    has changed those, whoever was not reached in this round is, in the present order, and nobody twice. The
    next round is all as the policy has it now.
    """
    first = after.round if after else 0
    climbed = climbed_at(policy, after)
    for number in range(first, max(first + 1, policy.rounds)):
        yield from _rest_of_round(policy, number, climbed)
        climbed = ()


def _rest_of_round(policy: EscalationPolicy, number: int, climbed: Climbed) -> Iterator[Coming]:
    unchanged = climbed == _ids(policy.steps[: len(climbed)])
    done = len(climbed) if unchanged else 0
    reached = set() if unchanged else {id_ for ids in climbed for id_ in ids}
    for at, step in enumerate(policy.steps[done:], done):
        people = tuple(one for one in step.contacts if one.id not in reached)
        if not people:
            continue
        if not unchanged:
            reached.update(one.id for one in people)
            step = step.model_copy(update={"contacts": people})
        climbed = (*climbed, tuple(one.id for one in people))
        yield Coming(Position(round=number, step=at, climbed=climbed), step)


def again(policy: EscalationPolicy, at: Position) -> Position:
    """Where one stands when the step at this position is still to come."""
    return at.model_copy(update={"climbed": climbed_at(policy, at)[:-1]})


def climbed_at(policy: EscalationPolicy, position: Position | None) -> Climbed:
    """The steps that began in this round; for a record that does not say, the policy's own up to there."""
    if position is None:
        return ()
    return _ids(policy.steps[: position.step + 1]) if position.climbed is None else position.climbed


def _ids(steps: tuple[Step, ...]) -> Climbed:
    return tuple(tuple(one.id for one in step.contacts) for step in steps)


def step_at(policy: EscalationPolicy, position: Position) -> Step:
    """The step at a position; a policy that has since become shorter answers with its last step, one that
    has none with nobody."""
    if not policy.steps:
        return Step(contacts=(), ring_s=DEFAULT_RING_S)
    return policy.steps[min(position.step, len(policy.steps) - 1)]
