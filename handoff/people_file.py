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

from handoff import pins
from handoff.messages import NAME
from handoff.models import Channel, Urgency
from handoff.people import BadNumber, mask, parse_phone
from handoff.policy import DEFAULT_POLICY, DEFAULT_RING_S, Contact, EscalationPolicy, People, Route, Step
from handoff.quiet import parse_hours, parse_zone

MAX_BYTES = 1_000_000
#: How the voice may pronounce its English; https://www.twilio.com/docs/voice/twiml/say/text-speech
LANGUAGES = ("en-US", "en-GB", "en-AU", "en-CA", "en-IN")

Where = tuple[str | int, ...]


class BadPeople(Exception):
    """The file can't be used. `problems` has a line each: where (line and key), and what is wrong."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


def _number(text: str) -> str:
    try:
        return parse_phone(text)
    except BadNumber as error:
        raise ValueError(str(error)) from None


def _name(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("must be one line of printable characters")
    return text.strip()


def _pin(text: str) -> str:
    if not pins.is_kept(text):
        raise ValueError("must be what `handoff pin` prints: a PIN is kept as a hash")
    return text


_Id = Annotated[str, Field(pattern=NAME, max_length=40)]


def _hours(text: str) -> str:
    parse_hours(text)
    return text


def _language(text: str) -> str:
    if text not in LANGUAGES:
        raise ValueError(f"must be one of {', '.join(LANGUAGES)}: the voice speaks English")
    return text


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Contact(_Entry):
    name: Annotated[str, Field(max_length=40), AfterValidator(_name)]
    numbers: Annotated[list[Annotated[str, AfterValidator(_number)]], Field(min_length=1, max_length=5)]
    channels: Annotated[list[Literal["call", "text"]], Field(min_length=1, max_length=2)] = ["call", "text"]
    language: Annotated[str, AfterValidator(_language)] = "en-US"
    caller_word: Annotated[str, Field(max_length=40), AfterValidator(_name)] | None = None
    time_zone: Annotated[str, AfterValidator(parse_zone)] = "UTC"
    quiet_hours: Annotated[list[Annotated[str, AfterValidator(_hours)]], Field(max_length=10)] = []
    pin: Annotated[str, AfterValidator(_pin)] | None = None


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


class _Route(_Entry):
    when: Annotated[dict[str, JsonValue], Field(min_length=1, max_length=20)]
    policy: str


class _File(_Entry):
    contacts: Annotated[dict[_Id, _Contact], Field(min_length=1)]
    policies: dict[_Id, _Policy] = Field(default_factory=dict)
    routes: list[_Route] = Field(default_factory=list)


def parse(text: str, *, not_number: str | None = None) -> People:
    """The people of this text. Raises BadPeople naming line and key of everything that is wrong.

    Without a policy `default`, it is everybody in turn. `not_number` is the number that calls are placed from
    (E.164): nobody can have it.
    """
    lines = _Lines(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPeople([f"no TOML: {error}"]) from None
    try:
        file = _File.model_validate(document)
    except ValidationError as error:
        problems = [lines.say(one["loc"], _in_words(one["type"], one["msg"])) for one in error.errors()]
        raise BadPeople(problems) from None
    if problems := [lines.say(where, what) for where, what in _inconsistent(file, not_number)]:
        raise BadPeople(problems)
    contacts = {
        id_: Contact(
            id=id_,
            name=one.name,
            numbers=tuple(one.numbers),
            channels=tuple(Channel(channel) for channel in one.channels),
            language=one.language,
            caller_word=one.caller_word,
            time_zone=one.time_zone,
            quiet_hours=tuple(parse_hours(span) for span in one.quiet_hours),
            pin=one.pin,
        )
        for id_, one in file.contacts.items()
    }
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
        if len(set(contact.numbers)) != len(contact.numbers):
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


class _Lines:
    """On which line each key stands, as well as can be told from the text: tomllib forgets it."""

    _HEADER = re.compile(r"\s*(\[{1,2})\s*([^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
    _KEY = re.compile(r"""\s*([A-Za-z0-9_.\-"']+?)\s*=""")

    def __init__(self, text: str) -> None:
        self._at: dict[Where, int] = {}
        table: Where = ()
        counts: dict[Where, int] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if header := self._HEADER.match(line):
                table = self._under(self._parts(header[2]), counts, header[1] == "[[")
                self._at.setdefault(table, number)
            elif key := self._KEY.match(line):
                self._at.setdefault((*table, *self._parts(key[1])), number)

    def say(self, where: Where, what: str) -> str:
        """The problem with its place: the nearest line that is known, and the key as the file writes it."""
        named = tuple(part for part in where if part != "[key]")
        line = next((self._at[near] for near in _shorter(named) if near in self._at), None)
        key = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in named).lstrip(".")
        return f"{f'line {line}, ' if line else ''}{key or 'the file'}: {what}"

    @staticmethod
    def _parts(dotted: str) -> Where:
        return tuple(part.strip().strip("\"'") for part in dotted.split("."))

    @staticmethod
    def _under(parts: Where, counts: dict[Where, int], repeated: bool) -> Where:
        """The place of a header: a repeated table has a number, and so has what stands below it."""
        place: Where = ()
        for at, part in enumerate(parts):
            place = (*place, part)
            last = at == len(parts) - 1
            if last and repeated:
                counts[place] = counts.get(place, -1) + 1
            if place in counts:
                place = (*place, counts[place])
        return place


def _shorter(where: Where) -> Iterator[Where]:
    for length in range(len(where), 0, -1):
        yield where[:length]
