"""A whole development system, `handoff dev`, handled from outside: addresses, processes, what the phone saw.

Nothing here reaches into the service but `outbox` and `waiting_jobs`, which look at its Redis. What a story
does with a system is in the tests; the fixtures are in conftest.py.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import redis

from devphone.testing import Device, DevPhone, TextOnPhone
from handoff.dev import redis_server
from handoff.dev.health import problem
from handoff.effects import EffectKind
from handoff.store.keyspace import Keyspace
from tests.world import Agent, Page, until
from workers.enqueue import queue_names

ROOT = Path(__file__).resolve().parents[2]
ADA, BEN = "+12125550123", "+12125550124"

#: How long anything may take that is not a rule of the service: this machine may be busy with other things.
PATIENCE_S = 30.0
#: Within this an agent gets its answer: it was woken, and did not just ask again, which it does every 25 s.
WOKEN_S = 15.0
#: Longer than a worker may take for one effect: by then another one takes over what a killed one left.
EVERY_LEASE_S = 75.0
#: What an agent may be owed later. Everything else in the outbox is due now, and should soon be done.
_LATER = (EffectKind.PURGE, EffectKind.DEADLINE, EffectKind.LAPSE, EffectKind.AGENT_GONE)


class System:
    """`python -m handoff dev --json` in a process of its own. `line` is what it printed."""

    def __init__(self, data: Path, *options: str, **settings: str) -> None:
        """Starts it on this data folder; returns when everything answers, which it says in its one line."""
        self.data = data
        self.mark = uuid.uuid4().hex
        ours = ("HANDOFF_", "TWILIO_", "DEVPHONE_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        with data.with_name(data.name + ".log").open("wb") as log:
            self.supervisor = subprocess.Popen(
                [sys.executable, "-m", "handoff", "dev", "--json", "--data", str(data), *options],
                cwd=ROOT,
                env={**kept, "HANDOFF_CHAOS_MARK": self.mark, **settings},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self.supervisor.stdout is not None
        told = self.supervisor.stdout.readline()
        assert told, f"it did not start: {Path(log.name).read_text()}"
        self.line: dict[str, Any] = json.loads(told)
        self.url, self.api_key = str(self.line["url"]), str(self.line["api_key"])
        self.phone = DevPhone(self.line["devphone_url"], PATIENCE_S)
        self.redis: Any = redis.Redis.from_url(self.line["redis_url"], decode_responses=True)
        self.keys = Keyspace("handoff")
        self.http = self._http(self.line["operator_key"])
        self.as_agent = self._http(self.api_key)
        self._agents: list[Agent] = []
        self._pages: list[Page] = []

    # Who takes part

    def agent(self) -> Agent:
        """A new program with the SDK."""
        self._agents.append(Agent(self.url, self.api_key))
        return self._agents[-1]

    @property
    def ada(self) -> Device:
        """Who is rung first."""
        return self.phone.device(ADA)

    @property
    def ben(self) -> Device:
        """Who is rung next."""
        return self.phone.device(BEN)

    def page(self, text: TextOnPhone) -> Page:
        """The page behind the link in this text, opened."""
        self._pages.append(Page(text.links[0]))
        return self._pages[-1].read()

    def open(self, reason: str, **more: Any) -> str:
        """Opens a handoff by one HTTP request, as an agent that does not wait for it; gives its id."""
        response = self.as_agent.post("/v1/handoffs", json={"kind": "clear", "reason": reason, **more})
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    def handoff(self, handoff_id: str) -> dict[str, Any]:
        """The handoff as the API shows it."""
        response = self.http.get(f"/v1/handoffs/{handoff_id}")
        assert response.status_code == 200, response.text
        return dict(response.json())

    def newest(self) -> str:
        """The id of the handoff that was opened last."""
        return str(self.http.get("/v1/handoffs", params={"limit": 1}).json()["handoffs"][0]["id"])

    def events(self, handoff_id: str) -> list[dict[str, Any]]:
        """Its timeline."""
        return list(self.http.get(f"/v1/handoffs/{handoff_id}/events").json()["events"])

    # Processes

    def pids(self) -> dict[str, int]:
        """Who runs now, as the supervisor says."""
        return dict(json.loads((self.data / "pids.json").read_text()))

    def web_workers(self) -> list[int]:
        """The processes that answer requests, below the one that is called `web`."""
        return children(self.pids()["web"])

    def members(self, who: str) -> list[int]:
        """The processes behind one name: `web` is the master alone, `web workers` all that it started."""
        return self.web_workers() if who == "web workers" else [self.pids()[who]]

    def kill(self, *names: str) -> None:
        """SIGKILL for each, at the same moment, as far as one can."""
        for pid in [pid for name in names for pid in self.members(name)]:
            os.kill(pid, signal.SIGKILL)

    def kill_and_await(self, *names: str) -> None:
        """Kills them, and returns when the supervisor has started them again and the service answers."""
        before, webs = self.pids(), self.web_workers()
        self.kill(*names)
        self.restarted(before, webs, *names)

    @contextmanager
    def stopped(self, name: str) -> Iterator[None]:
        """Inside, this process exists and does nothing (SIGSTOP). Afterwards it goes on, if it lives."""
        pid = self.pids()[name]
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            if alive(pid):
                os.kill(pid, signal.SIGCONT)

    def restarted(self, before: dict[str, int], webs: list[int], *names: str) -> None:
        """Returns when each of these runs under another id than `before`, and requests are answered."""

        def back() -> bool:
            now = self.pids()
            fresh = all(now[name] != before[name] and alive(now[name]) for name in names if name in before)
            web_is_new = "web" in names or "web workers" in names
            return fresh and not (web_is_new and any(map(alive, webs)))

        until(back, PATIENCE_S, f"the supervisor to start {', '.join(names)} again")
        until(self._answers, PATIENCE_S, "the service to answer again")

    def stop(self) -> None:
        """Ends it, unless it has ended, and lets go of all connections to it."""
        for agent in self._agents:
            agent.dies()
        for connection in (self.phone, self.redis, self.http, self.as_agent, *self._pages):
            connection.close()
        if self.supervisor.poll() is None:
            self.supervisor.terminate()
        self.supervisor.communicate(timeout=PATIENCE_S)

    def left_running(self) -> list[str]:
        """The command lines of its processes that still run, also of those that the supervisor forgot."""
        marked = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_marked(pid)]
        # Redis writes its title over its environment, so that it is known by its id alone.
        pids = {pid for pid in (*marked, *self.pids().values()) if alive(pid)}
        return sorted(filter(None, map(_command_of, pids)))

    def _is_marked(self, pid: int) -> bool:
        try:
            return self.mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:  # it ended while we looked, or it is not ours
            return False

    def ports(self) -> list[int]:
        """The ports it listens on."""
        addresses = (self.url, self.line["devphone_url"], self.line["redis_url"])
        return [port for address in addresses if (port := urlsplit(address).port)]

    # What came of it

    def begins(self) -> None:
        """A test begins: the phone forgets what was before."""
        self.phone.reset()

    def creates(self, kind: str = "Calls") -> list[dict[str, Any]]:
        """What the provider was asked to create in this test: `Calls` or `Messages`."""
        return [
            one
            for one in self.phone.requests()
            if one["method"] == "POST" and one["path"].endswith(f"/{kind}.json")
        ]

    def outbox(self) -> list[str]:
        """The ids of what the service still has to do, apart from what is due only later."""
        return [row for row in self.redis.hkeys(self.keys.effects) if not row.startswith(_LATER)]

    def rests(self, *, but: tuple[str, ...] = ()) -> None:
        """Returns when nothing is being done: all that is left is to see what becomes of a call."""
        but += (EffectKind.RECONCILE_CALL,)
        until(lambda: not [row for row in self.outbox() if not row.startswith(but)], PATIENCE_S, "it to rest")

    def expect_all_texts(self) -> None:
        """Whatever was texted is fine: for a story in which a text and its handoff's end may race."""
        self.rests()
        for text in self.phone.state()["messages"]:
            self.phone.expect(text["sid"])

    def waiting_jobs(self) -> list[str]:
        """The ids of jobs that no worker has taken yet, without the signs of life."""
        jobs = self.redis.lrange(f"rq:queue:{queue_names('handoff')[0]}", 0, -1)
        return [job for job in jobs if not job.startswith("beat-")]

    def claims(self) -> dict[str, str]:
        """How often each row of the outbox was handed out."""
        return dict(self.redis.hgetall(self.keys.leases))

    def ends_well(self) -> None:
        """Nothing is left to do, and nobody was rung or texted twice for one reason, or unexpectedly."""
        until(lambda: not self.outbox(), EVERY_LEASE_S, f"the outbox to be empty; it has {self.outbox()}")
        self.phone.settle()
        for kind, name in (("Calls", "Url"), ("Messages", "StatusCallback")):
            urls = Counter(one["form"][name][0] for one in self.creates(kind))
            twice = [url for url, times in urls.items() if times > 1]
            assert not twice, f"{kind} were created more than once: {twice}"
        surprises = [
            f"{kind} to …{one['form']['To'][0][-4:]}"
            for kind in ("Calls", "Messages")
            for one in self.creates(kind)
            if not self.phone.expected(one["sid"])
        ]
        assert not surprises, f"nobody expected: {surprises}"
        assert not self.redis.hgetall(self.keys.lines), "a line is held by a call that is over"

    def _answers(self) -> bool:
        """Whether web and Redis answer. (Not /readyz, which also misses a worker that a test has stopped.)"""
        redis_pid = redis_server.who_answers(urlsplit(self.line["redis_url"]).port or 0)
        return not problem(f"{self.url}/healthz") and redis_pid == self.pids()["redis"]

    def _http(self, key: str) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {key}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=PATIENCE_S, trust_env=False)


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie that waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children(pid: int) -> list[int]:
    """The processes that this one started and that still run."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
