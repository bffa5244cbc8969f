"""The demo's stage: the shop, a whole Handoff (`handoff dev`), the agent, and whoever plays the person.

Starts them, waits for the end with a limit, and takes everything down again, whatever happened.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from demo import person, shop
from demo.phone_story import PhoneStory
from demo.story import Story
from handoff.dev import processes
from handoff.dev.system import ROOT

START_LIMIT_S = 45
ALONE_LIMIT_S = 45
SOMEBODY_LIMIT_S = 15 * 60
#: How long the voice may take for its last words once the agent is through.
LAST_WORDS_S = 8
_LOGS = ("web", "worker", "callbacks", "clock", "devphone", "redis")


#: What ends it.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failed(Exception):
    """The demo could not go on; the message says why."""


class Stage:
    """Everything of one demo, between `with` and its end."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._somebody = sys.stdin is not None and sys.stdin.isatty()
        self._folder = tempfile.TemporaryDirectory(prefix="handoff-demo-", ignore_cleanup_errors=True)
        self._running: list[subprocess.Popen[bytes]] = []
        self._closing: list[Any] = []
        self._problem = ""
        self._stop = threading.Event()

    def __enter__(self) -> Stage:
        for number in _ENDING:
            signal.signal(number, _interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _let_nothing_interrupt()
        for one in reversed(self._closing):
            one.close()
        processes.end(self._running, grace_s=10)
        self._folder.cleanup()

    def play(self) -> int:
        """The whole demo; the exit code."""
        began = time.monotonic()
        try:
            self._play()
        except KeyboardInterrupt:
            self._story.say("\nStopped.")
            return 130
        except Failed as failure:
            self._story.say(f"\nThe agent did not get through: {failure}")
            self._show_logs()
            return 1
        self._story.say(f"\nThe agent got through. ({time.monotonic() - began:.1f} s in all)")
        return 0

    def _play(self) -> None:
        counter = shop.Shop(tell=lambda what: self._story.tell("shop", what))
        server = shop.Server(counter)
        self._closing.append(server)
        self._story.say("Starting Redis, web, worker, clock and a phone ...")
        api_key = "hk_" + secrets.token_hex(20)
        dev = self._start_handoff(api_key)
        self._introduce(dev, server.url)
        self._closing.append(phones := PhoneStory(dev["devphone_url"], self._story, _name_of))
        self._story.begin()
        agent = self._start_agent(dev["url"], api_key, server.url)
        if self._somebody:
            stdin = sys.stdin.fileno()
            self._closing.append(
                person.AtTheTerminal(stdin, dev["devphone_url"], self._story, self._stop.set)
            )
        else:
            threading.Thread(target=self._play_person, args=[dev["devphone_url"]], daemon=True).start()
        self._await(agent)
        if counter.orders != 1:
            raise Failed(f"the shop took {counter.orders} orders")
        phones.saw("call.ended", LAST_WORDS_S)

    def _start_handoff(self, api_key: str) -> dict[str, Any]:
        """Starts `handoff dev` and returns its line of JSON."""
        environ = {
            **os.environ,
            "HANDOFF_TO_NUMBER": f"{person.NAME}={person.NUMBER}",
            "HANDOFF_API_KEYS": f"teapot-agent={api_key}",
            "HANDOFF_OPEN_CONSOLE": "1",  # everything of the demo is on loopback and gone with it
            "HANDOFF_ROUNDS": "10",  # whoever sits at the terminal may miss the first ring
        }
        command = [sys.executable, "-m", "handoff", "dev", "--json", "--data", self._folder.name]
        process = self._start(command, environ)
        line = _first_line(process, START_LIMIT_S)
        if not line:
            raise Failed("Handoff did not start")
        return dict(json.loads(line))

    def _start_agent(self, url: str, api_key: str, shop_url: str) -> subprocess.Popen[bytes]:
        environ = {**os.environ, "HANDOFF_URL": url, "HANDOFF_API_KEY": api_key}
        agent = self._start([sys.executable, "-m", "demo.agent", shop_url], environ)
        threading.Thread(target=self._relay, args=[agent], daemon=True).start()
        return agent

    def _start(self, command: list[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
        with (Path(self._folder.name) / "demo.log").open("ab") as log:
            process = subprocess.Popen(
                processes.tethered(command),
                cwd=ROOT,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def _introduce(self, dev: dict[str, Any], shop_url: str) -> None:
        self._story.say(
            f"""
  the phone   {dev["devphone_url"]}/   open it to see it ring
  the list    {dev["url"]}/   every handoff so far, as an operator sees it
  the shop    {shop_url}   where the agent meets its wall
  the API     {dev["url"]}/docs
"""
        )
        if self._somebody:
            self._story.say(
                f"You are {person.NAME}. Use the phone in the browser, or type here:\n  {person.KEYS}\n"
            )
        else:
            self._story.say(f"Nobody is at this terminal, so {person.NAME} acts by herself.\n")

    def _relay(self, agent: subprocess.Popen[bytes]) -> None:
        assert agent.stdout
        for line in agent.stdout:
            self._story.tell("agent", line.decode(errors="replace").rstrip())

    def _play_person(self, devphone_url: str) -> None:
        try:
            person.acts_alone(devphone_url, self._story)
        except AssertionError as error:
            self._problem = str(error)
            self._stop.set()

    def _await(self, agent: subprocess.Popen[bytes]) -> None:
        limit_s = SOMEBODY_LIMIT_S if self._somebody else ALONE_LIMIT_S
        deadline = time.monotonic() + limit_s
        while agent.poll() is None:
            if self._stop.wait(0.05):
                if self._problem:
                    raise Failed(self._problem)
                raise KeyboardInterrupt
            if time.monotonic() > deadline:
                raise Failed(f"it still waits after {limit_s} s")
        if agent.returncode != 0:
            raise Failed("it gave up, see above")

    def _show_logs(self) -> None:
        folder = Path(self._folder.name)
        for log in (folder / "demo.log", *(folder / "logs" / f"{name}.log" for name in _LOGS)):
            if log.exists() and log.stat().st_size:
                self._story.say(processes.log_end(log, 8))


def _first_line(process: subprocess.Popen[bytes], timeout_s: float) -> bytes:
    """The first line a process prints; empty when it ends, or says nothing for so long."""
    assert process.stdout
    if not select.select([process.stdout], [], [], timeout_s)[0]:
        return b""
    return process.stdout.readline()


def _name_of(number: str) -> str:
    return person.NAME if number == person.NUMBER else number


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what signal() calls
    _let_nothing_interrupt()
    raise KeyboardInterrupt


def _let_nothing_interrupt() -> None:
    """From here on it ends: a second Ctrl-C would leave half of it running."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
