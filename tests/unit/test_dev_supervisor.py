"""The supervisor of `handoff dev`, with stand-ins for the service.

What it tells, what it starts again, and what is left of it afterwards (nothing).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from handoff.dev import health, redis_server

ROOT = Path(__file__).resolve().parents[2]
STUB_SYSTEM = Path(__file__).with_name("dev_stub_system.py")

STUBBORN_PARENT = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    print("child", child, flush=True)
while True:
    signal.pause()
"""


def eventually(condition: Callable[[], Any], within_s: float = 10) -> Any:
    """What `condition` gives once it is truthy; fails the test when that takes longer than `within_s`."""
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.02)
    return found


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie that waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port
    return port


class Dev:
    """A running system of stand-ins in a folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(STUB_SYSTEM), str(folder), *options],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def line(self) -> dict[str, Any]:
        assert self.process.stdout
        return dict(json.loads(self.process.stdout.readline()))

    def said_until(self, words: str) -> str:
        """What it said up to the line that has these words."""
        assert self.process.stdout
        said = ""
        while words not in said:
            line = self.process.stdout.readline()
            assert line, f"it ended without saying {words!r}"
            said += line
        return said

    def pids(self) -> dict[str, int]:
        return dict(json.loads((self.folder / "pids.json").read_text()))

    def stop(self) -> tuple[int, str, str]:
        self.process.terminate()
        return self.rest()

    def rest(self) -> tuple[int, str, str]:
        """Exit code, what was not yet read of standard output, standard error."""
        out, error = self.process.communicate(timeout=20)
        return self.process.returncode, out, error


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Callable[..., Dev]]:
    started: list[Dev] = []

    def start(*options: str) -> Dev:
        started.append(Dev(tmp_path / "data", *options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.stop()


def test_one_line_tells_a_script_where_everything_is_and_nothing_follows(dev: Callable[..., Dev]) -> None:
    running = dev("--json")
    line = running.line()
    assert set(line) == {"url", "api_key", "operator_key", "devphone_url", "redis_url", "pids"}
    assert list(line["pids"]) == ["web", "worker", "clock", "redis", "devphone"]
    assert all(alive(pid) for pid in line["pids"].values())
    assert f"export HANDOFF_PUBLIC_URL={line['url']}\n" in (running.folder / "env").read_text()
    assert health.problem(line["url"]) == health.problem(line["devphone_url"]) == ""
    with redis.Redis.from_url(line["redis_url"]) as client:
        assert client.ping()

    code, more, _ = running.stop()
    assert (code, more) == (0, "")


def test_a_person_is_told_the_addresses_and_the_key(dev: Callable[..., Dev]) -> None:
    running = dev()
    told = running.said_until("Try it")
    kept = json.loads((running.folder / "dev.json").read_text())
    assert f"HANDOFF_API_KEY={kept['api_key']}" in told
    assert f"HANDOFF_URL=http://127.0.0.1:{kept['web_port']}" in told
    assert f"http://127.0.0.1:{kept['devphone_port']}" in told
    assert running.stop()[0] == 0


@pytest.mark.parametrize("name", ["web", "worker", "clock", "redis", "devphone"])
def test_a_killed_process_is_started_again_at_its_old_place(dev: Callable[..., Dev], name: str) -> None:
    running = dev("--json")
    line = running.line()
    with redis.Redis.from_url(line["redis_url"]) as client:
        client.set("answer", "kept")

    os.kill(line["pids"][name], signal.SIGKILL)

    fresh = eventually(lambda: (now := running.pids()[name]) != line["pids"][name] and now)
    eventually(lambda: alive(fresh))
    eventually(lambda: not health.problem(line["url"]) and not health.problem(line["devphone_url"]))
    eventually(lambda: redis_server.who_answers(port_of(line["redis_url"])) == running.pids()["redis"])
    with redis.Redis.from_url(line["redis_url"]) as client:
        assert client.get("answer") == b"kept"
    untold = (name, "supervisor", "callbacks")
    others = {other: pid for other, pid in running.pids().items() if other not in untold}
    assert others == {other: pid for other, pid in line["pids"].items() if other != name}
    _, out, error = running.stop()
    assert out == ""
    assert f"{name} was killed by SIGKILL" in error


@pytest.mark.parametrize("asking", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_ends_everything(dev: Callable[..., Dev], asking: signal.Signals) -> None:
    running = dev("--json")
    pids = running.line()["pids"]
    running.process.send_signal(asking)
    code, _, _ = running.rest()
    assert code == 0
    assert not [name for name, pid in pids.items() if alive(pid)]


def test_a_stop_while_it_still_starts_ends_everything(dev: Callable[..., Dev]) -> None:
    running = dev("--json", "--worker", "import time; time.sleep(60)")
    eventually(lambda: (running.folder / "pids.json").exists())
    code, out, _ = running.stop()
    assert (code, out) == (0, "")
    assert not [name for name, pid in running.pids().items() if alive(pid)]


def test_a_process_that_will_not_end_is_ended_with_what_it_started(dev: Callable[..., Dev]) -> None:
    running = dev("--json", "--worker", STUBBORN_PARENT)
    worker = running.line()["pids"]["worker"]
    log = running.folder / "logs" / "worker.log"
    child = int(eventually(lambda: log.read_text().startswith("child ") and log.read_text().split()[1]))
    running.stop()
    assert not alive(worker)
    eventually(lambda: not alive(child))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent was killed")
def test_a_killed_supervisor_leaves_no_orphans_and_a_free_folder(dev: Callable[..., Dev]) -> None:
    killed = dev("--json")
    line = killed.line()
    killed.process.kill()
    killed.rest()
    again = dev("--json")  # waits for the old Redis to let go of its file
    assert again.line()["api_key"] == line["api_key"]
    assert not [name for name, pid in line["pids"].items() if alive(pid)]


def test_a_restart_uses_the_same_ports_so_that_old_links_open(dev: Callable[..., Dev]) -> None:
    first = dev("--json")
    before = first.line()
    first.stop()
    after = dev("--json").line()
    addresses = ("url", "devphone_url", "redis_url", "api_key", "operator_key")
    assert [after[name] for name in addresses] == [before[name] for name in addresses]


def test_a_process_that_dies_at_once_is_named_with_the_end_of_its_log(dev: Callable[..., Dev]) -> None:
    running = dev("--worker", "raise SystemExit('HANDOFF_TO_NUMBER is missing')")
    told = running.said_until("    HANDOFF_TO_NUMBER is missing")
    assert "worker ended with code 1" in told
    assert "worker ended 3 times in a row" in told


def test_a_script_is_not_kept_waiting_by_a_system_that_can_not_start(dev: Callable[..., Dev]) -> None:
    running = dev("--json", "--web", "raise SystemExit('HANDOFF_TO_NUMBER is missing')")
    code, out, error = running.rest()
    assert (code, out) == (1, "")
    assert "web ended 3 times in a row" in error
    assert "handoff dev: the service is not ready" in error
    assert "    HANDOFF_TO_NUMBER is missing" in error
    assert not [name for name, pid in running.pids().items() if alive(pid)]
