"""`python -m demo` as a newcomer sees it: a story, an honest exit code, and nothing left running."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from demo import shop
from demo.browser import Browser
from demo.story import Story
from handoff.dev import ports, system
from tests.world import until

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 50

pytestmark = pytest.mark.timeout(120)


class Demo:
    """One run of the demo, at a terminal or without one, and every process that it starts."""

    def __init__(self, *, terminal: bool, **environ: str) -> None:
        self.mark = uuid.uuid4().hex
        self.told = ""
        self._read_to = 0
        self._here, there = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "demo"],
            cwd=ROOT,
            env={**os.environ, "DEMO_TEST_MARK": self.mark, **environ},
            stdin=there if terminal else subprocess.DEVNULL,
            stdout=there,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.close(there)

    def until(self, words: str) -> str:
        """What it told from the last `until` up to these words; fails the test when they do not come.

        At a terminal lines are wrapped, so the words may stand on two.
        """
        wanted = re.compile(r"\s+".join(map(re.escape, words.split())))
        deadline = time.monotonic() + LIMIT_S
        while not (found := wanted.search(self.told, self._read_to)):
            more = self._more(deadline)
            assert more, f"it never said {words!r}, but:\n{self.told}"
            self.told += more
        since, self._read_to = self._read_to, found.end()
        return self.told[since : found.end()]

    def told_already_or_soon(self, words: str) -> None:
        """As `until`, from the beginning: for what may come sooner or later than what was waited for."""
        self._read_to = 0
        self.until(words)

    def type(self, line: str) -> None:
        os.write(self._here, f"{line}\n".encode())

    def end(self) -> tuple[int, str]:
        """Its exit code and all that it told."""
        deadline = time.monotonic() + LIMIT_S
        while more := self._more(deadline):
            self.told += more
        return self.process.wait(10), self.told

    def left_running(self) -> list[str]:
        """The command lines of what it started and what still runs."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:
                continue  # it ended while we looked, or it is not ours
        return found

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)
        os.close(self._here)

    def _more(self, deadline: float) -> str:
        if not select.select([self._here], [], [], max(0, deadline - time.monotonic()))[0]:
            raise AssertionError(f"it hangs after:\n{self.told}")
        try:
            return os.read(self._here, 65_536).decode()
        except OSError:  # how Linux says that the other side of a terminal was closed
            return ""


@pytest.fixture
def demos() -> Iterator[list[Demo]]:
    started: list[Demo] = []
    yield started
    for demo in started:
        demo.close()


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@needs_proc
def test_with_nobody_there_it_answers_by_itself_and_the_agent_gets_through(demos: list[Demo]) -> None:
    demos.append(demo := Demo(terminal=False))
    code, told = demo.end()
    assert code == 0, told
    story = [
        r"agent .* is refused \(403\)",
        r"phone .* rings",
        r"person .* answers",
        r"voice .*checkbox",
        r"person .* opens the link",
        r"person .* opens the agent's page: \"Checkout\"",
        r"shop .* box was ticked",
        r"person .* presses 1",
        r"agent .* goes on: Ada cleared it \(keypress\)",
        r"agent .* Order 1001 is placed",
    ]
    for before, after in zip(story, story[1:], strict=False):
        assert re.search(rf"(?s){before}.*{after}", told), f"{before!r} then {after!r} in:\n{told}"
    assert re.search(r"text .*is blocked: .*http://127\.0\.0\.1:\d+/h/", told, re.DOTALL)
    assert told.count(" rings") == 1
    assert "\033[" not in told
    assert demo.left_running() == []


@needs_proc
def test_whoever_sits_at_the_terminal_plays_the_person_with_a_few_keys(demos: list[Demo]) -> None:
    demos.append(demo := Demo(terminal=True, TERM="xterm"))
    demo.until("You are Ada")
    demo.until(" rings")
    demo.type("a")
    demo.until("checkbox is blocking checkout.")
    demo.told_already_or_soon("/h/")
    demo.type("o")
    demo.until("box was ticked")
    demo.type("1")
    code, told = demo.end()
    assert code == 0, told
    assert "Order 1001 is placed" in told
    assert "\033[" in told
    assert demo.left_running() == []


@needs_proc
def test_the_operators_list_is_open_where_the_story_says(demos: list[Demo]) -> None:
    demos.append(demo := Demo(terminal=True, NO_COLOR="1"))
    address = re.search(r"the list\s+(http://\S+)", demo.until("the shop"))
    assert address
    demo.until(" rings")
    front = httpx2.get(address[1], trust_env=False)
    assert front.status_code == 200
    assert "teapot-agent" in front.text


@needs_proc
@pytest.mark.slow
def test_saying_done_before_it_is_makes_the_agent_ask_again(demos: list[Demo]) -> None:
    demos.append(demo := Demo(terminal=True, NO_COLOR="1"))
    demo.until(" rings")
    demo.type("a")
    demo.until("checkbox is blocking checkout.")
    demo.type("1")  # the box was not ticked
    demo.until("goes on: Ada")
    demo.until("is refused (403)")
    demo.until("Ada's phone rings")
    assert "takes the order" not in demo.told
    demo.type("q")
    code, told = demo.end()
    assert code == 130
    assert "\033[" not in told
    assert demo.left_running() == []


@needs_proc
@pytest.mark.parametrize("moment", ["Starting Redis", " rings"])
def test_ctrl_c_leaves_nothing_running(demos: list[Demo], moment: str) -> None:
    demos.append(demo := Demo(terminal=True))
    demo.until(moment)
    os.killpg(demo.process.pid, signal.SIGINT)
    os.killpg(demo.process.pid, signal.SIGINT)  # the impatient press twice
    code, told = demo.end()
    assert code == 130, told
    assert "Traceback" not in told
    # The impatient one may be back at the prompt before the last process has let go.
    until(lambda: demo.left_running() == [], 15, "everything to be gone")


@pytest.fixture
def usual_ports_taken() -> Iterator[None]:
    usual = (system.WEB_PORT, system.DEVPHONE_PORT, shop.PORT)
    taken = [socket.create_server((ports.LOOPBACK, port)) for port in usual if ports.is_free(port)]
    yield
    for server in taken:
        server.close()


@pytest.mark.usefixtures("usual_ports_taken")
def test_where_the_usual_ports_are_taken_others_are_found(demos: list[Demo]) -> None:
    demos.append(demo := Demo(terminal=True))
    demo.until("phone rings")
    assert f":{system.WEB_PORT}/" not in demo.told
    assert f":{system.DEVPHONE_PORT}/" not in demo.told
    assert f":{shop.PORT}/" not in demo.told


@pytest.mark.slow
def test_a_system_that_can_not_start_is_a_clear_failure(demos: list[Demo]) -> None:
    demos.append(demo := Demo(terminal=False, HANDOFF_RING_SECONDS="soon"))
    code, told = demo.end()
    assert code == 1
    assert "did not get through: Handoff did not start" in told
    assert "HANDOFF_RING_SECONDS" in told


def test_a_terminal_that_knows_only_ascii_gets_only_ascii() -> None:
    written = io.BytesIO()
    terminal = io.TextIOWrapper(written, encoding="ascii")
    story = Story(terminal)
    story.tell("person", "Ada’s link “opens” …")
    story.say("Ærø")
    assert written.getvalue().decode("ascii").split() == [
        *("+0.00", "s", "person"),
        *("Ada's", "link", '"opens"', "..."),
        "?r?",
    ]


# The wall itself: the demo shows nothing if a program could pass it.


@pytest.fixture
def open_shop() -> Iterator[tuple[shop.Shop, str]]:
    counter = shop.Shop(tell=lambda _what: None)
    server = shop.Server(counter)
    yield counter, server.url
    server.close()


def test_an_order_is_refused_until_a_person_ticked_the_box(open_shop: tuple[shop.Shop, str]) -> None:
    counter, url = open_shop
    agent, person = Browser("teapot-agent/1.0"), Browser("Mozilla/5.0")
    agent.open(url)
    agent.press("Check out")
    checkout = agent.url
    agent.press("Place the order")
    assert agent.status == 403
    assert counter.orders == 0

    person.open(checkout)
    person.press("Confirm", tick=True)

    agent.open(checkout)
    agent.press("Place the order")
    assert agent.status == 201
    assert counter.orders == 1
    agent.close()
    person.close()


@pytest.mark.parametrize(
    "agent_name, ticked", [("teapot-agent/1.0", True), ("Mozilla/5.0", False)], ids=["a robot", "no tick"]
)
def test_neither_a_robot_nor_an_empty_box_passes_the_wall(
    open_shop: tuple[shop.Shop, str], agent_name: str, ticked: bool
) -> None:
    counter, url = open_shop
    visitor = Browser(agent_name)
    visitor.open(url)
    visitor.press("Check out")
    visitor.press("Confirm", tick=ticked)
    assert visitor.status in (403, 422)
    assert not any(checkout.verified for checkout in counter.checkouts.values())
    visitor.close()


def test_a_post_without_the_page_passes_no_wall(open_shop: tuple[shop.Shop, str]) -> None:
    counter, url = open_shop
    visitor = Browser("Mozilla/5.0")
    visitor.open(url)
    visitor.press("Check out")
    bare = httpx2.post(
        f"{visitor.url}/verification", data={"human": "yes"}, headers={"User-Agent": "Mozilla/5.0"}
    )
    assert bare.status_code == 403
    assert not any(checkout.verified for checkout in counter.checkouts.values())
    visitor.close()


def test_ordering_twice_orders_once(open_shop: tuple[shop.Shop, str]) -> None:
    counter, url = open_shop
    together = threading.Barrier(2)
    counter.checkouts["visit"] = shop.Checkout(verified=True)

    def order() -> None:
        together.wait()
        httpx2.post(f"{url}checkouts/visit/order")

    threads = [threading.Thread(target=order) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.orders == 1
