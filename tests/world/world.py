"""One installation for one test: its own key prefix, a clock that only the test moves, everybody around it.

Nothing here knows a rule of the service. How a story has to end when nothing else was said is endings.py's
business, processes and people have modules of their own.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol
from urllib.parse import urlencode

import httpx2
import redis
from twilio.request_validator import RequestValidator

from devphone.testing import CallOnPhone, Device, DevPhone
from handoff import bootstrap, config
from handoff.bootstrap import Services
from handoff.policy import EscalationPolicy, Step
from voice.gateway import Gateway
from workers import clock

from . import endings
from .people import Agent, Operator, Page
from .processes import Hands, Web, all_idle, end_readers
from .record import OnRecord, Opened
from .waits import until

ACCOUNT = "AC" + "0123456789abcdef" * 2
TOKEN = "a token made up for tests"
OURS = "+12125550100"
ADA, BEN, CY = "+12125550123", "+12125550124", "+12125550125"
AGENT_KEY, OTHER_KEY, OPERATOR_KEY = ("hk_" + letter * 40 for letter in "abc")
REASON = "A human-verification checkbox is blocking checkout"

SETTINGS = {
    "HANDOFF_DEV": "1",
    "HANDOFF_SECRET_KEY": "0123456789abcdef" * 4,
    "HANDOFF_API_KEYS": f"shopper={AGENT_KEY},other={OTHER_KEY},ops:operator={OPERATOR_KEY}",
    "HANDOFF_TO_NUMBER": f"Ada={ADA},Ben={BEN},Cy={CY}",
    "HANDOFF_RING_SECONDS": "25",
    "HANDOFF_CALLS_PER_SECOND": "0",
    "HANDOFF_NUMBER_CAPS": "none",
    "HANDOFF_TEXT_CAPS": "none",
    "HANDOFF_CALLS_A_DAY": "0",
    "HANDOFF_ALLOW_PRIVATE_CALLBACKS": "1",
    "TWILIO_ACCOUNT_SID": ACCOUNT,
    "TWILIO_AUTH_TOKEN": TOKEN,
    "TWILIO_FROM_NUMBER": OURS,
}

WAIT_S = 30.0
#: Milliseconds that pass at once at most while people listen or a condition is waited for.
LONGEST_STEP = 4_000


class World(OnRecord):
    """A running installation and the people around it. See `advance` for how time passes."""

    def __init__(
        self,
        phone: DevPhone,
        redis_url: str,
        settings: Mapping[str, str] | None = None,
        *,
        together: bool = False,
    ) -> None:
        """Starts web and worker. `together`: everybody is rung at once instead of one after the other."""
        self.phone = phone
        self.now = time.time_ns() // 1_000_000
        self.expected = endings.Expected()
        self.closed = False
        self.prefix = f"test-{secrets.token_hex(6)}"
        self.settings = SETTINGS | {
            "HANDOFF_REDIS_URL": redis_url,
            "HANDOFF_PREFIX": self.prefix,
            "TWILIO_API_URL": phone.url,
            **(settings or {}),
        }
        self._together = together
        self.webs: list[Web] = []
        self.hands: list[Hands] = []
        self._agents: list[Agent] = []
        self._pages: list[Page] = []
        self.redis = redis.Redis.from_url(redis_url, decode_responses=True)
        self.web = self.start_web()
        self.services = self.web.services
        bootstrap.adopt_keys(self.services)
        self.url = self.web.url
        self.http = self._client(AGENT_KEY)
        self.stranger = self._client(OTHER_KEY)
        self.operator = Operator(self._client(OPERATOR_KEY))
        self.agent = self.new_agent()
        self.hire()

    # Processes

    def start_web(self, **settings: str) -> Web:
        """Another web process of this installation, on a port of its own; `settings` differ."""

        def build(url: str) -> Services:
            public = {"HANDOFF_PUBLIC_URL": self.settings.get("HANDOFF_PUBLIC_URL", url)}
            self.settings = public | self.settings
            found = config.from_environment(self.settings | settings)
            services = bootstrap.build(found, clock=lambda: self.now)
            if self._together:
                rules = services.handoffs.rules()
                step = Step(contacts=rules.people.contacts, ring_s=found.ring_s)
                policy = EscalationPolicy(name="default", steps=(step,))
                people = rules.people.model_copy(update={"policies": (policy,)})
                services.handoffs.rules = lambda **_: rules.model_copy(update={"people": people})
            return services

        self.webs.append(Web(build))
        return self.webs[-1]

    def hire(self, gateway: Gateway | None = None) -> Hands:
        """One more worker; with `gateway` it reaches the provider through that one."""
        services = replace(self.services, gateway=gateway) if gateway else self.services
        self.hands.append(Hands(services, str(len(self.hands))))
        return self.hands[-1]

    def dismiss(self) -> None:
        """All workers finish the job at hand and end; what is queued stays queued."""
        for step in (Hands.ask_to_stop, Hands.nudge, Hands.ended):
            for hands in self.hands:
                step(hands)
        self.hands.clear()

    # Time

    def settle(self) -> None:
        """Returns when nothing is left to do at this moment: rows, jobs, requests between us and Twilio."""
        while True:
            before = self._signs()
            rows = clock.tick(self.services)
            if self.hands:
                until(lambda: all_idle(self.hands, self.redis), WAIT_S, "the workers to be done")
            self.phone.settle()
            if not rows and self._signs() == before:
                return

    def advance(self, seconds: float) -> None:
        """Lets time pass for the service and on the line, stopping wherever something is due.

        While a phone rings or a text is on its way it goes by steps of one second, while people only listen
        by steps of four; so what the line causes happens by so much too late at most.
        """
        self.settle()
        end = self.now + round(seconds * 1000)
        while self.now < end:
            self._step(end)

    def advance_until(self, condition: Callable[[], Any], why: str, at_most_s: float = 120) -> None:
        """Lets time pass until `condition` holds. Raises AssertionError when it does not in that time."""
        end = self.now + round(at_most_s * 1000)
        self.settle()
        while not condition():
            if self.now >= end:
                raise AssertionError(f"in {at_most_s:g} s it did not happen: {why}")
            self._step(min(end, self.now + LONGEST_STEP))

    def listens(self, call: CallOnPhone, words: str, at_most_s: float = 120) -> None:
        """The person stays on the line, saying nothing, until the voice has said `words`."""

        def heard() -> bool:
            try:
                call.hears(words, timeout_s=0)
            except AssertionError:
                return False
            return True

        self.advance_until(heard, f"the voice says {words!r}", at_most_s)

    def _step(self, end: int) -> None:
        due = self.redis.zrangebyscore(self.key("effects:due"), f"({self.now}", "+inf", 0, 1, withscores=True)
        target = min(end, self.now + self._longest_step())
        if due:
            target = min(target, max(int(due[0][1]), self.now + 1))
        passed, self.now = target - self.now, target
        self.phone.advance(passed / 1000)
        self.settle()

    def _longest_step(self) -> int:
        state = self.phone.state()
        calls = {call["status"] for call in state["calls"] if call["ended"] is None}
        texts = {text["status"] for text in state["messages"]} & {"accepted", "queued", "sending"}
        if texts or calls - {"in-progress"}:
            return 1_000
        return LONGEST_STEP if calls else 10_000_000_000

    def _signs(self) -> tuple[int, ...]:
        return (self.phone.state("+10000000000")["seq"], *(hands.done for hands in self.hands))

    # People and programs

    @property
    def ada(self) -> Device:
        return self.phone.device(ADA)

    @property
    def ben(self) -> Device:
        return self.phone.device(BEN)

    @property
    def cy(self) -> Device:
        return self.phone.device(CY)

    def reached(self, person: Device, saying: str = "Handoff for") -> CallOnPhone:
        """Somebody is reached for the first time: a text arrives, the phone rings and is answered."""
        person.expect_text()
        return person.expect_call(saying)

    def new_agent(self) -> Agent:
        """An agent's process; it has the key of the agent `shopper`, like `world.agent`."""
        self._agents.append(Agent(self.url, AGENT_KEY))
        return self._agents[-1]

    def page(self, contact: Device) -> Page:
        """The page behind the newest text to that phone, opened by hand. The text counts as expected."""
        [link] = contact.expect_text().links
        self._pages.append(Page(link))
        return self._pages[-1].read()

    def open(self, *, key: str | None = None, **body: Any) -> Opened:
        """Opens a handoff over plain HTTP, and answers with its document. `clear` with REASON by default."""
        response = self.post_opening(key=key, **body)
        assert response.status_code in (200, 201), response.text
        opened: Opened = response.json()
        return opened

    def post_opening(self, *, key: str | None = None, **body: Any) -> httpx2.Response:
        """The same, with the raw response."""
        headers = {"Idempotency-Key": key} if key else {}
        wanted = {"kind": "clear", "reason": REASON} | body
        return self.http.post("/v1/handoffs", json=wanted, headers=headers)

    def newest(self) -> str:
        """The id of the handoff opened last, once there is one."""
        listed = until(
            lambda: self.http.get("/v1/handoffs", params={"limit": 1}).json()["handoffs"], WAIT_S, "a handoff"
        )
        return str(listed[0]["id"])

    def twilio(
        self,
        path: str,
        fields: Mapping[str, str],
        *,
        signed_as: str | None = None,
        at: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """One request as Twilio would send it, signed over the public address (or `signed_as`).

        `at` names another web process than the first; `headers` come on top.
        """
        signed = signed_as or self.services.settings.public_url + path
        signature = RequestValidator(TOKEN).compute_signature(signed, dict(fields))
        sent = {"X-Twilio-Signature": signature, "Content-Type": "application/x-www-form-urlencoded"}
        return self.http.post(
            (at or self.url) + path, content=urlencode(fields), headers=sent | dict(headers or {})
        )

    # The end

    def forgives_what_rang(self) -> None:
        """Whatever rang or was texted so far is of no interest to this test."""
        state = self.phone.state()
        for record in [*state["calls"], *state["messages"]]:
            self.phone.expect(record["sid"])

    def check_ending(self) -> None:
        """Fails if anything happened, or was left behind, that this test did not say it expects."""
        if self.hands:
            self.settle()
        endings.check(self)

    def close(self) -> None:
        """Ends everything and leaves no key of this installation behind. Twice is once."""
        if self.closed:
            return
        self.closed = True
        for agent in self._agents:
            agent.dies()
        self.dismiss()
        for web in self.webs:
            web.close()
            self.redis.xadd(self.key("wakes"), {"h": "-", "s": "0", "c": "0"})
        end_readers()
        for page in self._pages:
            page.close()
        for client in (self.http, self.stranger, self.operator.http):
            client.close()
        for web in self.webs:
            web.services.store.connections.close()
        for pattern in (self.key("") + "*", f"rq:*{self.prefix}*"):
            for key in self.redis.scan_iter(pattern):
                self.redis.delete(key)
        self.redis.close()

    def _client(self, key: str) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {key}"}
        # A scenario may send hundreds of requests at once, so that the pool has no limit of its own.
        limits = httpx2.Limits(max_connections=None)
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False, limits=limits)


class MakeWorld(Protocol):
    """Makes a world with other settings than the usual ones (names as in the environment)."""

    def __call__(self, *, together: bool = False, redis_url: str | None = None, **settings: str) -> World: ...
