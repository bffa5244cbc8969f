"""The client for tests and demos: phones that expect calls and texts, press keys, and hear what was said.

Speaks the control API only, so it works in any process. It knows nothing of the service under test.
Every wait has a deadline and fails with AssertionError, saying what was heard instead.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from devphone.numbers import masked

from .calls_and_texts import CallOnPhone, TextOnPhone, spoken
from .connection import Connection
from .devices import Device
from .lines import Line

__all__ = ["CallOnPhone", "DevPhone", "Device", "Line", "TextOnPhone", "start"]

__tracebackhide__ = True

WAIT_S = 10.0


class DevPhone(Connection):
    """A running dev phone."""

    def __init__(self, url: str, timeout_s: float = WAIT_S) -> None:
        """`url` is what the program printed when it began to listen; see Connection for `timeout_s`."""
        super().__init__(url, timeout_s)
        self._expected_codes: list[int] = []

    def device(self, number: str) -> Device:
        """The phone with this number (E.164)."""
        return Device(self, number)

    def line(self, number: str) -> Line:
        """A number of the account (E.164), and where its inbound calls and texts go."""
        return Line(self, number)

    def account(self, **limits: Any) -> dict[str, Any]:
        """Set `calls_per_second` or `concurrent_requests` (0 = no limit), `trial`, `verified` (numbers).

        Returns all four as they are now.
        """
        return self.send("PUT", "/account", limits)

    def advance(self, seconds: float) -> None:
        """Move a manual clock; returns when the service has answered everything that this caused."""
        self.send("POST", "/clock/advance", {"seconds": seconds})

    def settle(self) -> None:
        """Return when no request to the service is in flight."""
        self.send("POST", "/clock/settle")

    def faults(self, wanted: dict[str, Any]) -> None:
        """Ask for faults, such as `{"lose_201": 1}`; the list is in docs/control-api.md."""
        self.send("POST", "/faults", wanted)

    def pace(self, **seconds: float) -> None:
        """Set `queue_s`, `ring_s`, `text_step_s`."""
        self.send("PUT", "/pace", seconds)

    def requests(self) -> list[dict[str, Any]]:
        """REST requests that the service made, oldest first, with `form`, `status`, `sid` and `at_ms`."""
        found: list[dict[str, Any]] = self.send("GET", "/requests")["requests"]
        return found

    def debugger(self) -> list[dict[str, Any]]:
        """The debugger's entries, oldest first."""
        found: list[dict[str, Any]] = self.send("GET", "/debugger")["entries"]
        return found

    def expect_debugger(self, code: int) -> dict[str, Any]:
        """Wait for a debugger entry with this code; `nothing_else_happened` then accepts one such entry."""
        already = self._expected_codes.count(code)

        def entry() -> dict[str, Any] | None:
            found = [entry for entry in self.debugger() if entry["code"] == code]
            return found[already] if len(found) > already else None

        found = self.wait_for(entry, lambda: f"no debugger entry {code}; it has {self.debugger()}")
        self._expected_codes.append(code)
        return found

    def nothing_else_happened(self) -> None:
        """Raise AssertionError naming each call, text and debugger entry that was not expected.

        So does a fault that was asked for by number and did not happen, because the test is then not about
        it; and, with a contract, each REST answer that differs from Twilio's.
        """
        self.settle()
        state, surprises = self.state(), []
        for kind, name in (("calls", "call"), ("messages", "text")):
            for record in state[kind]:
                if record["sid"] not in self._expected:
                    way = "from" if record["direction"] == "inbound" else "to"
                    heard = record.get("body") or spoken(record)
                    who = masked(record["person"])
                    surprises.append(f"{name} {way} {who}, {record['status']}: {heard!r}")
        allowed = list(self._expected_codes)
        for entry in self.debugger():
            if entry["code"] in allowed:
                allowed.remove(entry["code"])
            else:
                surprises.append(f"debugger {entry['code']}: {entry['text']}")
        for fault in self.send("GET", "/faults")["faults"]:
            if fault["chance"] is None:
                surprises.append(
                    f"fault {fault['name']} on {fault['on']} did not happen, {fault['times']} left"
                )
        for violation in self.send("GET", "/contract")["violations"]:
            surprises.append(f"{violation['request']} is not as Twilio's: {'; '.join(violation['problems'])}")
        if surprises:  # no assert: pytest would rewrite it, and its words
            raise AssertionError("nobody expected:\n  " + "\n  ".join(surprises))

    def reset(self) -> None:
        """Forget calls, texts, behaviours, faults, logs, and what was expected."""
        self.send("POST", "/reset")
        self._expected.clear()
        self._expected_codes.clear()


@contextmanager
def start(
    account_sid: str,
    auth_token: str,
    clock: Literal["real", "manual"] = "manual",
    numbers: Sequence[str] = (),
    timeout_s: float = WAIT_S,
    calls_per_second: float | None = None,
    contract: Path | None = None,
) -> Iterator[DevPhone]:
    """Run the program on a free port for as long as the `with` block lasts, and this process lives.

    `calls_per_second` is the rate at which calls leave the queue: 0 = at once, None = the program's default.
    `contract` is Twilio's OpenAPI file, to compare every REST answer with.

    Raises RuntimeError with the program's own words when it refuses to start.
    """
    command = [sys.executable, "-m", "devphone", "--json", "--ends-with-stdin", "--clock", clock]
    command += [part for number in numbers for part in ("--number", number)]
    command += [] if calls_per_second is None else ["--calls-per-second", f"{calls_per_second:g}"]
    command += [] if contract is None else ["--contract", str(contract)]
    source = str(Path(__file__).parent.parent.parent)
    environ = os.environ | {
        "DEVPHONE_ACCOUNT_SID": account_sid,
        "DEVPHONE_AUTH_TOKEN": auth_token,
        "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH")))),
    }
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            said = json.loads(line) if line else {"refused": f"it ended with code {process.wait()}"}
            if "refused" in said:
                raise RuntimeError(f"the dev phone does not start: {said['refused']}")
            phone = DevPhone(said["url"], timeout_s)
            try:
                yield phone
            finally:
                phone.close()
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
