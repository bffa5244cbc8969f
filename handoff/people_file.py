"""The people file: contacts, escalation policies and rules for metadata, written by an operator in TOML.

Text in, `People` out, or every problem at once with its line and key. Where the file lies, when it is read
again and how machines share it is people_source.py's business. The format is described in docs/people.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from handoff import pins, toml_lines
from handoff.contact_form import ContactForm, ContactId, Line, twice
from handoff.models import ProofAsked, Urgency
from handoff.people import mask
from handoff.policy import DEFAULT_POLICY, DEFAULT_RING_S, Contact, EscalationPolicy, People, Route, Step
from handoff.toml_lines import Where

MAX_BYTES = 1_000_000

#: How many problems are told at once, and how many characters of each and of the key in it.
MOST_TOLD, LONGEST_TOLD, LONGEST_KEY = 50, 300, 100
#: Seven digits or more, whatever people write between them. The example in messages of ours is nobody's.
_NUMBER = re.compile(r"""\+?\d(?:[^\w:,;"'\[\]]{0,3}_?\d){6,}""")
EXAMPLE = "+12125550123"


class BadPeople(Exception):
    """The file can't be used. `problems` has a line each: where (line and key), and what is wrong, with no
    more of a number than its last digits."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


def _pin(text: str) -> str:
    if not pins.is_kept(text):
        raise ValueError("must be what `handoff pin` prints: a PIN is kept as a hash")
    return text


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Contact(ContactForm):
    pin: Annotated[str, AfterValidator(_pin)] | None = None
    consent: Annotated[Line, Field(max_length=200)] | None = None


class _Step(_Entry):
    contacts: Annotated[list[str], Field(min_length=1, max_length=20)]
    ring: Literal["together", "in turn"] = "together"
    ring_s: Annotated[int, Field(ge=5, le=600)] = DEFAULT_RING_S
    wait_s: Annotated[int, Field(ge=0, le=86_400)] = 0


class _Policy(_Entry):
    steps: Annotated[list[_Step], Field(min_length=1, max_length=50)]
    rounds: Annotated[int, Field(ge=1, le=10)] = 1
    urgency: Literal["low", "normal", "high", "critical"] = "normal"
    quiet: Literal["text", "wait", "skip"] = "text"
    proof: Literal["any", "code", "pin", "link"] = "any"
    detect_machines: bool = False


class _Route(_Entry):
    when: Annotated[dict[str, JsonValue], Field(min_length=1, max_length=20)]
    policy: str


class _File(_Entry):
    contacts: Annotated[dict[ContactId, _Contact], Field(min_length=1)]
    policies: dict[ContactId, _Policy] = Field(default_factory=dict)
    routes: list[_Route] = Field(default_factory=list)


def parse(text: str, *, not_number: str | None = None) -> People:
    """The people of this text. Raises BadPeople naming line and key of everything that is wrong.

    Without a policy `default`, it is everybody in turn. `not_number` is the number that calls are placed from
    (E.164): nobody can have it.
    """
    text = text.removeprefix("\ufeff")  # editors on Windows write one
    if (line := toml_lines.too_deep(text)) is not None:
        raise BadPeople([f"line {line}: nests more than {toml_lines.DEEPEST} deep"])
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPeople(_told([f"no TOML: {error}"])) from None
    except ValueError:  # https://docs.python.org/3/library/stdtypes.html#int-max-str-digits
        raise BadPeople(["has a number with thousands of digits"]) from None
    try:
        file = _File.model_validate(document)
    except ValidationError as error:
        wrong = [(one["loc"], _in_words(one["type"], one["msg"])) for one in error.errors()]
    else:
        wrong = list(_inconsistent(file, not_number))
    if wrong:
        lines = toml_lines.lines_of(text)
        raise BadPeople(_told([f"{_place(where, lines)}: {what}" for where, what in wrong]))
    contacts = {id_: one.contact(id_, pin=one.pin, consent=one.consent) for id_, one in file.contacts.items()}
    policies = [_policy(name, one, contacts) for name, one in file.policies.items()]
    if DEFAULT_POLICY not in file.policies:
        steps = tuple(Step(contacts=(one,), ring_s=DEFAULT_RING_S) for one in contacts.values())
        policies.insert(0, EscalationPolicy(name=DEFAULT_POLICY, steps=steps))
    return People(
        contacts=tuple(contacts.values()),
        policies=tuple(policies),
        routes=tuple(Route(when=one.when, policy=one.policy) for one in file.routes),
        version=version_of(text),
        source=text,
    )


def version_of(text: str) -> str:
    """A short name of this text: the same on every machine that has it."""
    return sha256(text.encode()).hexdigest()[:12]


def _policy(name: str, given: _Policy, contacts: dict[str, Contact]) -> EscalationPolicy:
    """`in turn` is a step for each: the wait follows the last of them."""
    steps: list[Step] = []
    for step in given.steps:
        people = tuple(contacts[id_] for id_ in step.contacts)
        groups = [people] if step.ring == "together" else [(one,) for one in people]
        for number, group in enumerate(groups, 1):
            wait_s = step.wait_s if number == len(groups) else 0
            steps.append(Step(contacts=group, ring_s=step.ring_s, wait_s=wait_s))
    return EscalationPolicy(
        name=name,
        steps=tuple(steps),
        rounds=given.rounds,
        urgency=Urgency(given.urgency),
        quiet=given.quiet,
        proof=ProofAsked(given.proof),
        detect_machines=given.detect_machines,
    )


def _inconsistent(file: _File, not_number: str | None) -> Iterator[tuple[Where, str]]:
    """What each part alone can't know: names that nothing bears, numbers that two bear."""
    owner: dict[str, str] = {}
    for id_, contact in file.contacts.items():
        for number in contact.numbers:
            where: Where = ("contacts", id_, "numbers")
            if number == not_number:
                yield where, f"{mask(number)} is the number that calls are placed from; it can't call itself"
            elif owner.setdefault(number, id_) != id_:
                yield where, f"{mask(number)} is also {owner[number]}'s"
        if twice(contact.numbers):
            yield ("contacts", id_, "numbers"), "names a number twice"
    for name, policy in file.policies.items():
        for at, step in enumerate(policy.steps):
            where = ("policies", name, "steps", at, "contacts")
            if unknown := [one for one in step.contacts if one not in file.contacts]:
                yield where, f"there is no contact {', '.join(unknown)}"
            if len(set(step.contacts)) != len(step.contacts):
                yield where, "names somebody twice"
    known = {DEFAULT_POLICY, *file.policies}
    for at, route in enumerate(file.routes):
        if route.policy not in known:
            yield ("routes", at, "policy"), f"there is no policy {route.policy}"


def _in_words(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return "is not a key of this file; is it misspelt?"
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        return "must be lower-case letters, digits, '-' or '_'"
    return message.removeprefix("Value error, ")


def _told(told: list[str]) -> list[str]:
    """Problems as everybody may read them, the first of them."""
    more = [f"and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
    return [_discreet(one) for one in told[:MOST_TOLD]] + more


def _discreet(problem: str) -> str:
    """On one line, not longer than a few, and without whatever looks like a phone number: what is wrong with
    the file is kept in Redis, in the log, and on the operator's screen."""
    masked = _NUMBER.sub(lambda found: found[0] if found[0] == EXAMPLE else mask(found[0]), problem)
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in masked)[:LONGEST_TOLD]


def _place(where: Where, lines: dict[Where, int]) -> str:
    """The nearest line that is known, and the key as the file has it."""
    named = tuple(part for part in where if part != "[key]")
    shorter = (named[:length] for length in range(len(named), 0, -1))
    line = next((lines[near] for near in shorter if near in lines), None)
    key = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{_key(part)}" for part in named)
    key = _discreet(key.lstrip(".")) or "the file"
    return f"{f'line {line}, ' if line else ''}{key if len(key) <= LONGEST_KEY else key[:LONGEST_KEY] + '…'}"


def _key(part: str) -> str:
    """As it has to be written."""
    return part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"'
