"""The one place where everything is wired together. Nothing is decided here.

Web, worker and clock each build one `Services` from the same settings. Tests build their own, with a
clock they can move.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from handoff import config, keys, logs, people
from handoff.calls import Calls
from handoff.changes import Rules
from handoff.claims import Claims
from handoff.commands import Handoffs
from handoff.config import Settings
from handoff.enrolled_source import EnrolledPeople
from handoff.enrolments import Enrolments
from handoff.loop import Enqueue, RulesOfNow
from handoff.moments import DAY, SECOND, now_ms
from handoff.people_file import BadPeople
from handoff.people_source import PeopleFile
from handoff.store import Connections, EnrolledContacts, Keyspace, Pacer, SharedPeople, Store
from handoff.waiting import Waiting
from voice.gateway import Gateway
from voice.signature import Verifier
from voice.twilio_gateway import TwilioGateway
from workers.enqueue import RqEnqueue


@dataclass(frozen=True)
class Services:
    """What web, worker and clock work with."""

    settings: Settings
    store: Store
    shared_people: SharedPeople
    handoffs: Handoffs
    calls: Calls
    claims: Claims
    pacer: Pacer
    enrolments: Enrolments
    waiting: Waiting
    gateway: Gateway
    verifier: Verifier
    enqueue: Enqueue
    clock: Callable[[], int]


def build(settings: Settings, *, clock: Callable[[], int] = now_ms) -> Services:
    """Wires the services. Connects to nothing yet, but for keeping the environment's API keys."""
    connections, keyspace = Connections(settings.redis_url), Keyspace(settings.prefix)
    store, shared = Store(connections, keyspace), SharedPeople(connections, keyspace)
    enqueue = RqEnqueue(connections.for_enqueue(), settings.prefix)
    contacts = EnrolledContacts(connections, keyspace)
    rules = _rules(settings, shared, EnrolledPeople(contacts, clock), clock)
    handoffs = Handoffs(store, rules, enqueue, clock)
    pacer = Pacer(connections, keyspace, settings.limits)
    calls = Calls(handoffs, pacer)
    return Services(
        settings=settings,
        store=store,
        shared_people=shared,
        handoffs=handoffs,
        calls=calls,
        claims=Claims(calls, pacer),
        pacer=pacer,
        enrolments=Enrolments(handoffs, contacts, settings.twilio_from, settings.text_sender),
        waiting=Waiting(store, settings.waiters_per_worker),
        gateway=TwilioGateway(
            settings.twilio_account_sid,
            settings.twilio_auth_tokens[0],
            settings.twilio_from,
            api_url=settings.twilio_api_url,
            environment=settings.twilio_place,
            messaging_service=settings.twilio_messaging_service,
        ),
        verifier=Verifier(settings.public_url, settings.twilio_auth_tokens),
        enqueue=enqueue,
        clock=clock,
    )


def from_environment(*, log_level: int = logging.INFO) -> Services:
    """For a process of the service: reads the environment, sets logging up, keeps the API keys.

    Raises config.BadSettings, and redis.RedisError when Redis can't be reached.
    """
    settings = config.from_environment(os.environ)
    logs.configure(settings.log_format, log_level)
    services = build(settings)
    adopt_keys(services)
    try:
        services.handoffs.rules()
    except BadPeople as error:
        raise config.BadSettings([f"HANDOFF_PEOPLE: {problem}" for problem in error.problems]) from None
    return services


def for_web() -> Services:
    """The same for a web process. Raises config.BadSettings as well under a gunicorn whose workers hold a
    process or a thread for every agent that waits, and kill it for waiting
    (https://github.com/benoitc/gunicorn/issues/1493)."""
    if os.environ.get("SERVER_SOFTWARE", "").startswith("gunicorn/"):  # gunicorn sets it for its workers
        patched = sys.modules.get("gevent.monkey")
        if patched is None or not patched.is_module_patched("socket"):
            raise config.BadSettings(
                [
                    "gunicorn runs another class of workers than gevent, which waiting agents would hold. "
                    "Start it as in the Procfile: gunicorn -c gunicorn.conf.py 'app:create_app()'"
                ]
            )
    return from_environment()


def adopt_keys(services: Services) -> None:
    """Keeps the API keys that the environment names."""
    for key in services.settings.api_keys:
        keys.adopt(services.store, key.key, key.agent, operator=key.operator, now=services.clock())


def _rules(
    settings: Settings, shared: SharedPeople, enrolled: EnrolledPeople, clock: Callable[[], int]
) -> RulesOfNow:
    """The rules of each moment: the people may change while the service runs."""
    file = None
    given = people.of_environment(settings.contacts, settings.ring_s, settings.rounds)
    if settings.people_path is not None:
        file = PeopleFile(settings.people_path, shared, clock, not_number=settings.twilio_from)

    def rules(*, fresh: bool = False) -> Rules:
        return Rules(
            people=enrolled.beside(file.present(fresh=fresh) if file else given, fresh=fresh),
            ack_ms=settings.ack_s * SECOND,
            keep_closed_ms=settings.keep_closed_days * DAY,
            public_url=settings.public_url,
        )

    return rules
