"""Ring: from the agent's 201 to the call's arrival at the provider, everything real.

Starts `handoff dev` (Redis that fsyncs every write, two web processes, one worker, clock, dev phone) and
opens handoffs one after the other, each when the call of the one before is over. A ring is timed from the
moment the agent has read the whole 201 to the moment at which the dev phone's log of REST requests has the
create, both on this machine's clock. A worker may be quicker than the answer: then it is below zero.
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench import figures, places
from bench.figures import Spread
from handoff.dev import processes, system

P50_BAR_MS = 30.0
#: How long a call may take to arrive, and its line to be free again, before the run gives up.
PATIENCE_S = 20.0


class Api:
    """One kept connection to one server of ours."""

    def __init__(self, url: str, key: str = "") -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_S)
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def ask(self, verb: str, path: str, body: dict[str, Any] | None = None) -> tuple[dict[str, Any], float]:
        """The answer's JSON and the Unix time, s, at which it had been read. Raises NotReady for an error."""
        sent = json.dumps(body or {}) if verb != "GET" else None
        self._connection.request(verb, path, sent, self._headers)
        response = self._connection.getresponse()
        text = response.read()
        at = time.time()
        if response.status >= 400:
            raise places.NotReady(f"{verb} {path} was answered {response.status}: {text[:300]!r}")
        found: dict[str, Any] = json.loads(text)
        return found, at


def main() -> int:
    """Measures and reports. A timing decides nothing; a call that never arrives ends the run with 1."""
    given = _arguments()
    with places.data_folder(given.data) as data, everything(data) as line:
        agent, phone = Api(line["url"], line["api_key"]), Api(line["devphone_url"])
        for _ in range(given.warm_up):
            _one(agent, phone)
        ring = Spread.of([_one(agent, phone) for _ in range(given.rings)])
    found = {"bench": "ring", "ring": asdict(ring), "p50_bar_ms": P50_BAR_MS}
    heads = ["201 to the call's arrival", "p50 ms", "p90 ms", "p99 ms", "max ms"]
    rows: list[list[object]] = [
        [f"{ring.count} handoffs", ring.p50, ring.p90, ring.p99, ring.most],
        ["bar", P50_BAR_MS, "", "", ""],
    ]
    figures.report(found, figures.table(heads, rows), as_json=given.json)
    return 0


def _arguments() -> argparse.Namespace:
    what = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=what)
    parser.add_argument("--rings", type=int, default=200, help="handoffs to measure (200)")
    parser.add_argument("--warm-up", type=int, default=5, help="handoffs before, which don't count (5)")
    parser.add_argument("--data", type=Path, help="folder for the service's files (a fresh temporary one)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser.parse_args()


@contextmanager
def everything(data: Path) -> Iterator[dict[str, Any]]:
    """A running `handoff dev`, as the line of JSON that it prints."""
    command = [sys.executable, "-m", "handoff", "dev", "--json", "--web-workers", "2", "--data", str(data)]
    log = data / "bench.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=system.ROOT, stdout=subprocess.PIPE, stderr=output, start_new_session=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise places.NotReady(processes.log_end(log))
        yield json.loads(line)
    finally:
        processes.end([process], grace_s=25)


def _one(agent: Api, phone: Api) -> float:
    """Opens one handoff, waits until it rang and its line is free again; the ring's time in s."""
    phone.ask("POST", "/_devphone/reset")
    wanted = {"kind": "clear", "reason": "A checkbox is blocking checkout", "timeout_s": 600}
    handoff, answered_at = agent.ask("POST", "/v1/handoffs", wanted)
    arrived_at = _wait_for(lambda: _arrival(phone), "no call arrived")
    path = f"/v1/handoffs/{handoff['id']}"
    _wait_for(lambda: _placed(agent, path), "the call was not recorded as placed")
    agent.ask("POST", f"{path}/cancellation")
    _wait_for(lambda: _over(agent, path), "the call did not end")
    return float(arrived_at - answered_at)


def _arrival(phone: Api) -> float | None:
    """When the create of a call came in, Unix time in s."""
    requests = phone.ask("GET", "/_devphone/requests")[0]["requests"]
    creates = [one for one in requests if one["method"] == "POST" and one["path"].endswith("/Calls.json")]
    return creates[0]["at_ms"] / 1000 if creates else None


def _placed(agent: Api, path: str) -> bool | None:
    events = agent.ask("GET", f"{path}/events")[0]["events"]
    return any(event["type"] == "call_placed" for event in events) or None


def _over(agent: Api, path: str) -> bool | None:
    """Whether every call has ended, so that the next one finds the number's line free."""
    attempts = agent.ask("GET", path)[0]["attempts"]
    return all(one["ended_at"] for one in attempts if one["channel"] == "call") or None


def _wait_for(look: Any, otherwise: str) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while (found := look()) is None:
        if time.monotonic() > deadline:
            raise places.NotReady(otherwise)
        time.sleep(0.02)
    return found


if __name__ == "__main__":
    sys.exit(main())
