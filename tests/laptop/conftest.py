"""A laptop with a Twilio account: `handoff dev --twilio` in a process of its own, in a small internet.

What is false here are the tunnel programs (stand_ins.py), the names and the telephone network; the requests,
the TLS, the signatures and every process of the service are real.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from devphone.testing import DevPhone
from tests.world import ACCOUNT, ADA, OURS, TOKEN, Agent, until

from . import stand_ins
from .internet import Internet, internet

ROOT = Path(__file__).resolve().parents[2]
FAR_AWAY = Path(__file__).with_name("far_away.py")
PATIENCE_S = 40.0


@dataclass(frozen=True)
class Twilio:
    """The dev phone in Twilio's place, and the https address at which its API is asked."""

    phone: DevPhone
    api_url: str


class Laptop:
    """One run of `handoff dev --twilio`. Everything it prints is in `said()`."""

    def __init__(self, folder: Path, path: str, environ: dict[str, str], *options: str) -> None:
        self.mark, self.data = uuid.uuid4().hex, folder / "data"
        self._output = folder / f"output-{self.mark}"
        self._errors = folder / f"errors-{self.mark}"
        kept = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("HANDOFF_", "TWILIO_", "DEVPHONE_"))
        }
        command = [sys.executable, "-m", "handoff", "dev", "--twilio", "--data", str(self.data), *options]
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env={**kept, "PYTHONPATH": str(ROOT), "PATH": path, "LAPTOP_MARK": self.mark, **environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )

    def line(self) -> dict[str, Any]:
        """Its line of JSON, once it is there."""

        def found() -> str:
            assert self.process.poll() is None, f"it ended: {self.complaints()}"
            return self.said() if "\n" in self.said() else ""

        return dict(json.loads(until(found, PATIENCE_S, "its line of JSON")))

    def said(self) -> str:
        """Standard output so far."""
        return self._output.read_text()

    def complaints(self) -> str:
        """Standard error so far."""
        return self._errors.read_text()

    def pids(self) -> dict[str, int]:
        """Who runs now."""
        return dict(json.loads((self.data / "pids.json").read_text()))

    def public_url(self) -> str:
        """The newest address its tunnel has said, as the programs of the service were told it."""
        environ = Path(f"/proc/{self.pids()['web']}/environ").read_bytes().decode().split("\0")
        return dict(pair.partition("=")[::2] for pair in environ).get("HANDOFF_PUBLIC_URL", "")

    def left_running(self) -> list[int]:
        """The processes that it started and that still run."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue  # it ended while we looked, or it is not ours
        return found

    def ends(self, within_s: float = PATIENCE_S) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(within_s)

    def close(self) -> None:
        """Ends it if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)


@pytest.fixture
def world_wide(tmp_path: Path) -> Iterator[Internet]:
    """An internet for one test."""
    with internet(tmp_path / "internet") as made:
        yield made


@pytest.fixture
def twilio(world_wide: Internet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Twilio]:
    """Twilio's double, which reaches the laptop only through the internet."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    account = {"DEVPHONE_ACCOUNT_SID": ACCOUNT, "DEVPHONE_AUTH_TOKEN": TOKEN}
    with subprocess.Popen(
        [sys.executable, str(FAR_AWAY), OURS],
        env={**os.environ, **world_wide.environment(), **account},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            port = int(process.stdout.readline())
            phone = DevPhone(f"http://127.0.0.1:{port}", PATIENCE_S)
            with world_wide.tls_in_front_of(port) as api_url:
                yield Twilio(phone, api_url)
            phone.close()
        finally:
            process.terminate()


@pytest.fixture
def account(twilio: Twilio) -> dict[str, str]:
    """What an operator would have in `.env`."""
    return {
        "TWILIO_ACCOUNT_SID": ACCOUNT,
        "TWILIO_AUTH_TOKEN": TOKEN,
        "TWILIO_FROM_NUMBER": OURS,
        "HANDOFF_TO_NUMBER": f"Ada={ADA}",
        "TWILIO_API_URL": twilio.api_url,
    }


@pytest.fixture
def agent_of() -> Iterator[Callable[[dict[str, Any]], Agent]]:
    """Makes a program with the SDK on a laptop, by its line of JSON."""
    made: list[Agent] = []

    def agent(line: dict[str, Any]) -> Agent:
        made.append(Agent(line["url"], line["api_key"]))
        return made[-1]

    yield agent
    for one in made:
        one.dies()


#: Starts a laptop on which these tunnel programs are installed; further settings by name.
Start = Callable[..., Laptop]


@pytest.fixture
def start(tmp_path: Path, world_wide: Internet) -> Iterator[Start]:
    """Starts laptops; all are gone after the test."""
    if sys.platform != "linux":
        pytest.skip("looks for processes in /proc")
    started: list[Laptop] = []

    def begin(*options: str, installed: tuple[str, ...] = ("cloudflared",), **environ: str) -> Laptop:
        programs = tmp_path / "bin"
        stand_ins.install(programs, *installed)
        # Real ones of this machine have no part in this.
        others = [
            place
            for place in os.environ["PATH"].split(os.pathsep)
            if not any(shutil.which(name, path=place) for name in ("cloudflared", "ngrok"))
        ]
        path = os.pathsep.join([str(programs), *others])
        started.append(Laptop(tmp_path, path, {**world_wide.environment(), **environ}, *options))
        return started[-1]

    yield begin
    for one in started:
        one.close()


@pytest.fixture
def browser(world_wide: Internet) -> Iterator[httpx2.Client]:
    """A browser somewhere in the internet."""
    with httpx2.Client(transport=world_wide.transport(), timeout=PATIENCE_S) as client:
        yield client
