"""What `handoff doctor` looks at: settings, Redis, the processes, Twilio; in words for an operator.

It says what is wrong and what to do, and places no call. What else should be looked at is in docs/twilio.md.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import redis

from handoff import bootstrap, config, connecting, people_file, people_source
from handoff.bootstrap import Services
from handoff.config import Settings
from handoff.models import ProofAsked
from handoff.moments import SECOND
from handoff.notices import sentence
from handoff.people import is_assigned, mask, of_environment
from handoff.people_file import BadPeople
from handoff.policy import People, Step
from handoff.store import SharedText
from handoff.web.health import CLOCK_SILENT_MS, WORKER_SILENT_MS, what_is_missing
from voice.gateway import GatewayError, Sender

#: More than this is no accident; Twilio dates its calls to the second, and we look for lost ones by that.
SKEW_MS = 3 * SECOND


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    mark: Literal["ok", "!!", "??"]  # fine; wrong; worth a look
    what: str

    @property
    def wrong(self) -> bool:
        return self.mark == "!!"


def examine(
    environ: Mapping[str, str], *, offline: bool, clock: Callable[[], int] | None = None
) -> Iterator[Finding]:
    """Everything that was found, in the order in which it is best mended. `clock` is the machine's, in ms."""
    try:
        settings = config.from_environment(environ)
    except config.BadSettings as error:
        yield from (Finding("!!", problem) for problem in error.problems)
        yield from _file_alone(environ.get("HANDOFF_PEOPLE", "").strip())
        return
    yield Finding("ok", f"settings; Twilio will sign for {settings.public_url}")
    here = yield from _people(settings)
    if offline:
        return
    services = bootstrap.build(settings, clock=clock) if clock else bootstrap.build(settings)
    yield from _redis(services, here)
    yield from _twilio(services)


def _file_alone(path: str) -> Iterator[Finding]:
    """The people file, where other settings are still missing: it is often written first."""
    if path:
        yield from _file(Path(path), "")


def _people(settings: Settings) -> Generator[Finding, None, People | None]:
    """Whom the environment or the people file on this machine names; None when it can't be used."""
    if settings.people_path is not None:
        return (yield from _file(settings.people_path, settings.twilio_from))
    people = of_environment(settings.contacts, settings.ring_s, settings.rounds)
    yield from _policies(people)
    yield from _contacts(people, in_file=False)
    return people


def _file(path: Path, our_number: str) -> Generator[Finding, None, People | None]:
    try:
        people = people_source.from_file(path, our_number)
    except BadPeople as error:
        yield from (Finding("!!", f"HANDOFF_PEOPLE: {problem}") for problem in error.problems)
        return None
    yield Finding("ok", f"people file {path}, version {people.version}")
    yield from _policies(people)
    yield from _contacts(people, in_file=True)
    return people


def _policies(people: People) -> Iterator[Finding]:
    for policy in people.policies:
        ladder = ", then ".join(_step(step) for step in policy.steps)
        rounds = f", {policy.rounds} times" if policy.rounds > 1 else ""
        yield Finding("ok", f"policy {policy.name} rings {ladder}{rounds}")
        if policy.detect_machines:
            yield Finding(
                "ok",
                f"policy {policy.name} detects machines: Twilio bills that per call, and it can be wrong",
            )
        reached = [one for step in policy.steps for one in step.contacts]
        if policy.proof is ProofAsked.PIN and not any(one.pin for one in reached):
            yield Finding("!!", f"policy {policy.name} asks for a PIN, and nobody in it has one (`pin`)")
        if policy.proof is ProofAsked.LINK and not any(one.screen for one in reached):
            yield Finding("!!", f"policy {policy.name} asks for the page, and nobody in it can see a screen")
    if len(people.contacts) == 1:
        yield Finding("??", "only one person can be reached: a second is rung when the first is not there")


def _contacts(people: People, *, in_file: bool) -> Iterator[Finding]:
    """Who vouches that they agreed to be called, and numbers that look wrong."""
    without = [one for one in people.contacts if one.consent is None]
    if without and not in_file:
        yield Finding(
            "??",
            "nothing says that those in HANDOFF_TO_NUMBER agreed to be called: a people file can hold it "
            "(`consent`)",
        )
    for one in without if in_file else ():
        yield Finding(
            "??",
            f"{one.name} ({one.id}) has no `consent`: write who says that they agreed to be called, when and "
            'how, such as "Ada, 3 May 2026, by mail"',
        )
    for one in people.contacts:
        for number in one.numbers:
            if not is_assigned(number):
                yield Finding(
                    "??", f"{one.name}: {mask(number)} is in no range that we know of; is it right?"
                )


def _step(step: Step) -> str:
    people = " and ".join(f"{one.name} ({', '.join(map(mask, one.numbers))})" for one in step.contacts)
    wait = f", then waits until {step.wait_s} s are over" if step.wait_s else ""
    return f"{people} for {step.ring_s} s{wait}"


def _redis(services: Services, here: People | None) -> Iterator[Finding]:
    try:
        persistence = services.store.connections.persistence()
    except redis.RedisError as error:
        yield Finding("!!", f"HANDOFF_REDIS_URL: Redis can't be reached ({type(error).__name__})")
        return
    yield Finding("ok", f"Redis {persistence.version}")
    if persistence.kept and persistence.fsync not in ("always", None):
        yield Finding(
            "??", f"appendfsync is {persistence.fsync}: a power cut can lose the last second; use always"
        )
    if services.settings.people_path is not None:
        yield from _in_use(services, services.settings.people_path, here)
    yield from _processes(services)
    for one in services.handoffs.warnings.all():
        yield Finding("??", sentence(one.about))


def _in_use(services: Services, path: Path, here: People | None) -> Iterator[Finding]:
    """Whether the people who are reached are those of the file here; and what was found at other machines."""
    shared, told = services.shared_people.read(), set[str]()
    if shared is None:
        yield Finding("??", "no people are in use yet: the first process that starts takes the file")
    elif here is not None and shared.version == here.version:
        yield Finding("ok", f"version {shared.version} of the people file is in use")
    else:
        if here is not None:
            told.add(people_source.not_in_use(path, here.version, shared.version))
            yield from (Finding("!!", f"HANDOFF_PEOPLE: {one}") for one in told)
        yield from _used(services, shared)
    for where, problems in services.shared_people.problems(services.clock()).items():
        for problem in problems:
            if where != people_source.place(path) or (here is not None and problem not in told):
                yield Finding("!!", f"people file at {where}: {problem}")


def _used(services: Services, shared: SharedText) -> Iterator[Finding]:
    """Who is reached instead."""
    try:
        people = people_file.parse(shared.text, not_number=services.settings.twilio_from)
    except BadPeople as error:
        yield from (
            Finding("!!", f"version {shared.version}, which is in use: {one}") for one in error.problems
        )
        return
    yield Finding("ok", f"in use is version {shared.version}:")
    yield from _policies(people)


def _processes(services: Services) -> Iterator[Finding]:
    now, seen = services.clock(), services.store.seen()
    for kind, silent_ms in (("clock", CLOCK_SILENT_MS), ("worker", WORKER_SILENT_MS)):
        ago_ms = now - seen.get(kind, 0)
        if ago_ms <= silent_ms:
            yield Finding("ok", f"a {kind} was seen {max(0, ago_ms) // SECOND} s ago")
    for missing in what_is_missing(services):
        yield Finding("!!", missing)


def _twilio(services: Services) -> Iterator[Finding]:
    try:
        asked = services.clock()
        theirs = services.gateway.check()
        answered = services.clock()
        sender = services.gateway.sender()
    except GatewayError as error:
        yield Finding("!!", f"Twilio: {error}")
        return
    yield Finding("ok", "Twilio accepts the credentials")
    service = services.settings.twilio_messaging_service
    number = mask(services.settings.twilio_from)
    yield from _sender(sender, number, services.settings.public_url, texts=service is None)
    if service is not None:
        yield Finding("ok", f"texts are sent by the Messaging Service {service}; calls by the number")
    if theirs is not None:
        # What is proven, however long the answer took: it was dated between asking and having it.
        yield _skew(max(0, asked - theirs - SECOND) - max(0, theirs - answered))


def _sender(sender: Sender | None, number: str, public_url: str, *, texts: bool) -> Iterator[Finding]:
    """Whether people can be called and, if it is to, texted from our number; and where it leads."""
    if sender is None:
        texted = ", so that nobody is texted" if texts else ""
        yield Finding(
            "!!",
            f"TWILIO_FROM_NUMBER: {number} is no number of this account{texted}; "
            "calls go out only if it is a verified caller id",
        )
        return
    unable = [word for word, can in (("call", sender.calls), ("text", sender.texts or not texts)) if not can]
    if unable:
        yield Finding("!!", f"TWILIO_FROM_NUMBER: {number} can't {' or '.join(unable)}")
    else:
        what = "call and text, and texts go out from it" if texts else "call"
        yield Finding("ok", f"{number} is a number of the account that can {what}")
    if astray := connecting.astray(sender.routes, public_url):
        told = "; ".join(astray)
        yield Finding(
            "??", f"{number} does not lead here ({told}): nobody can call or text back; `handoff connect`"
        )
    else:
        yield Finding("ok", f"calls and texts to {number} come here")


def _skew(ahead_ms: int) -> Finding:
    """Whether our clock goes with Twilio's; `ahead_ms` is negative when ours is behind."""
    if abs(ahead_ms) <= SKEW_MS:
        return Finding("ok", "this machine's clock goes with Twilio's")
    way = "ahead of" if ahead_ms > 0 else "behind"
    return Finding(
        "!!",
        f"this machine's clock is {abs(ahead_ms) // SECOND} s {way} Twilio's: let it be set from the network "
        "(NTP), or deadlines are wrong, and a call whose answer was lost is not found again",
    )
