"""Burst: a thousand handoffs in ten seconds, everything real: none refused, none lost, the urgent first.

Starts `handoff dev` (Redis that fsyncs every write, two web processes, one worker, clock, dev phone) with as
many people as handoffs, each rung by call only on a phone that is busy, and a rate of calls per second.
Threads open the handoffs on time, ten of them critical and opened last; then the dev phone's log of REST
requests says when each call was created. The rate is counted from the first create to the last. Calls that
waited may begin only as their slots come, so that a run takes handoffs / rate seconds, and a while longer
where this machine places fewer than the rate. `--workers` has more of them; `--answer-after` a provider that
takes its time to answer a create, as Twilio does. Linux only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench import figures, places
from bench.figures import Spread
from bench.ring import Api, everything
from handoff.dev import processes, system

#: How long nothing may arrive before what is missing counts as lost.
PATIENCE_S = 45.0
WAYS = 16
CRITICAL = 10


@dataclass(frozen=True)
class Measured:
    """What a burst showed. `opening` is a create's time in ms.

    `overtaken`: calls of normal urgency that began after the last critical handoff was accepted and before
    the last critical call.
    """

    handoffs: int
    opened_in_s: float
    opening: Spread
    refused: int
    calls_per_second: float
    dialled_a_second: float
    dialled_in_s: float
    lost: int
    doubled: int
    overtaken: int
    critical_last_after_s: float


def main() -> int:
    """Measures and reports; 1 when a handoff was refused, or its call lost or doubled."""
    given = _arguments()
    with places.data_folder(given.data) as data:
        numbers = _numbers(given.handoffs)
        people = data / "people.toml"
        people.write_text(
            "".join(
                f'[contacts.p{at}]\nname = "P"\nnumbers = ["{number}"]\nchannels = ["call"]\n'
                for at, number in enumerate(numbers)
            )
        )
        os.environ |= {
            "HANDOFF_PEOPLE": str(people),
            "HANDOFF_CALLS_PER_SECOND": str(given.rate),
            "HANDOFF_NUMBER_CAPS": "1/1m 3/15m 7/1h 15/3h",
            "HANDOFF_CALLS_A_DAY": "1000000",
        }
        with everything(data) as line, _more_workers(line["pids"]["worker"], given.workers - 1, data):
            if given.answer_after:
                late = {"seconds": given.answer_after, "chance": 1, "on": "calls"}
                Api(line["devphone_url"]).ask("POST", "/_devphone/faults", {"delay_201_s": late})
            found = _burst(line, numbers, given.within, given.rate)
    workers = f"{given.workers} worker{'s' if given.workers > 1 else ''}"
    heads = ["burst", f"{found.handoffs:,} handoffs, {given.rate:g} calls a second, {workers}"]
    rows: list[list[object]] = [
        ["opened within, s", found.opened_in_s],
        ["an opening, p50 ms", found.opening.p50],
        ["an opening, p99 ms", found.opening.p99],
        ["refused", found.refused],
        ["dialled a second", found.dialled_a_second],
        ["dialled within, s", found.dialled_in_s],
        ["lost", found.lost],
        ["doubled", found.doubled],
        ["placed before something critical that was there", found.overtaken],
        ["the last critical one after, s", found.critical_last_after_s],
    ]
    figures.report({"bench": "burst", **asdict(found)}, figures.table(heads, rows), as_json=given.json)
    return int(bool(found.refused or found.lost or found.doubled))


def _arguments() -> argparse.Namespace:
    what = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=what)
    parser.add_argument("--handoffs", type=int, default=1_000, help="handoffs, at most 7,000 (1,000)")
    parser.add_argument(
        "--within", type=float, default=10.0, help="seconds within which they are opened (10)"
    )
    parser.add_argument("--rate", type=float, default=50.0, help="HANDOFF_CALLS_PER_SECOND (50)")
    parser.add_argument("--workers", type=int, default=1, help="workers that place calls (1)")
    parser.add_argument(
        "--answer-after", type=float, default=0.0, help="seconds that the provider takes for a create (0)"
    )
    parser.add_argument("--data", type=Path, help="folder for the service's files (a fresh temporary one)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser.parse_args()


@contextmanager
def _more_workers(first: int, count: int, data: Path) -> Iterator[None]:
    """So many workers beside the one with this process id, with the settings that it was given."""
    given = Path(f"/proc/{first}/environ").read_text().rstrip("\0").split("\0")
    settings = dict(one.partition("=")[::2] for one in given)
    command = [sys.executable, "-m", "handoff", "worker", "--only", "people"]
    more = list[subprocess.Popen[bytes]]()
    try:
        for number in range(count):
            log = data / f"worker-{number + 2}.log"
            more.append(processes.spawn(command, log, cwd=system.ROOT, env=settings))
        yield
    finally:
        processes.end(more, grace_s=10)


def _numbers(count: int) -> list[str]:
    """Made-up numbers (555-0101 to 0199) in as many area codes as are needed."""
    lines = (f"+1{area}55501{line:02d}" for area in range(201, 990) for line in range(1, 100))
    return list(islice(lines, count))


def _burst(line: dict[str, Any], numbers: list[str], within_s: float, rate: float) -> Measured:
    phone = Api(line["devphone_url"])
    for number in numbers:
        phone.ask("PUT", f"/_devphone/phones/{number}", {"behaviour": "busy"})
    begins = time.time() + 0.5
    each = within_s / len(numbers)

    def open_some(way: int) -> list[tuple[float, float, bool]]:
        """Every sixteenth at its moment: when it was answered, how long that took, whether it was taken."""
        agent, told = Api(line["url"], line["api_key"]), []
        for at in range(way, len(numbers), WAYS):
            time.sleep(max(0.0, begins + at * each - time.time()))
            urgency = "critical" if at >= len(numbers) - CRITICAL else "normal"
            wanted = {"kind": "clear", "reason": "A checkbox", "contact": f"p{at}", "urgency": urgency}
            asked = time.time()
            try:
                answered = agent.ask("POST", "/v1/handoffs", {**wanted, "timeout_s": 86_400})[1]
            except places.NotReady:
                told.append((time.time(), time.time() - asked, False))
                agent = Api(line["url"], line["api_key"])
            else:
                told.append((answered, answered - asked, True))
        return told

    with ThreadPoolExecutor(WAYS) as pool:
        told = [one for way in pool.map(open_some, range(WAYS)) for one in way]
    taken = sum(ok for _, _, ok in told)
    opened_at = max(at for at, _, _ in told)
    creates = _creates(phone, taken, rate)
    times = sorted(creates.values())
    urgent = [creates[number] for number in numbers[-CRITICAL:] if number in creates]
    normal = [creates[number] for number in numbers[:-CRITICAL] if number in creates]
    asked = [one for one in _asked(phone) if one["sid"]]
    return Measured(
        handoffs=len(numbers),
        opened_in_s=round(opened_at - begins, 2),
        opening=Spread.of([took for _, took, _ in told]),
        refused=len(told) - taken,
        calls_per_second=rate,
        dialled_a_second=round((len(times) - 1) / (times[-1] - times[0]), 2),
        dialled_in_s=round(times[-1] - times[0], 2),
        lost=taken - len(creates),
        doubled=len(asked) - len(creates),
        overtaken=sum(opened_at < at < max(urgent) for at in normal),
        critical_last_after_s=round(max(urgent) - opened_at, 2),
    )


def _creates(phone: Api, wanted: int, rate: float) -> dict[str, float]:
    """When each number's call was created, Unix time in s, once there are so many or nothing more comes."""
    seen, changed = 0, time.monotonic()
    while True:
        found = {one["form"]["To"][0]: one["at_ms"] / 1000 for one in reversed(_asked(phone))}
        if len(found) != seen:
            seen, changed = len(found), time.monotonic()
        if seen >= wanted or time.monotonic() - changed > PATIENCE_S:
            return found
        time.sleep(min(5.0, 1.0 + 10 / rate))


def _asked(phone: Api) -> list[dict[str, Any]]:
    requests = phone.ask("GET", "/_devphone/requests")[0]["requests"]
    return [one for one in requests if one["method"] == "POST" and one["path"].endswith("/Calls.json")]


if __name__ == "__main__":
    sys.exit(main())
