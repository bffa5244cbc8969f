"""Dev phone: how many calls a second the double carries to completion, so that other benches know its share.

Starts `python -m devphone` (real clock, no calls-per-second limit) and, in another process, an application
that answers without thinking. Threads (--ways) create calls with Twilio's client; the phones answer by
themselves; one hand for all of them presses a key, through the control API, when a menu listens. A call is:
create, voice document, key, the key's document, which hangs up, and a status callback for each of 4 events;
so 2 requests to the dev phone and 6 from it. Nothing is said, no time passes on the line. Measured twice:

- one by one: each way creates its next call when its last one is over.
- at full speed: each way creates its next call at once, so that calls pile up and their times tell how far.

Times begin just before the create and end with the 201 or with the arrival of the `completed` callback, on
this machine's clock. Client, application and hand share the machine with the dev phone; its own CPU time,
from /proc (Linux only), is the figure that travels.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from bench import figures, places
from bench.figures import Spread
from handoff.dev import processes, system

ACCOUNT, OURS = "AC" + "0123456789abcdef" * 2, "+12125550100"
TOKEN = "made up for one run of the benchmark"  # noqa: S105 - nothing is behind it
EVENTS = ["initiated", "ringing", "answered", "completed"]
MENU = b'<Response><Gather numDigits="1" timeout="60" action="/key"/></Response>'
BYE = b"<Response><Hangup/></Response>"
#: Requests to the application for one call: two documents and a callback for each event.
WEBHOOKS = 2 + len(EVENTS)
#: How long a call may take to complete before it counts as lost.
PATIENCE_S = 30.0
FINGERS = 8


@dataclass(frozen=True)
class Measured:
    """What one load of calls showed; spreads in ms."""

    calls: int
    ways: int
    created_a_second: float
    completed_a_second: float
    create: Spread
    completed: Spread
    cpu_ms_a_call: float
    lost: int
    webhooks_missing: int


def main() -> int:
    """Measures and reports; 1 when a call was lost or a webhook did not come."""
    given = _arguments()
    with _application() as application, _dev_phone() as (url, pid):
        threading.Thread(target=_press_when_a_menu_listens, args=(url,), daemon=True).start()
        load = _Load(url, pid, application, given.ways)
        load.carry(given.warm_up, one_by_one=True)
        one_by_one = load.carry(given.calls, one_by_one=True)
        full_speed = load.carry(given.calls, one_by_one=False)
    found = {"bench": "devphone", "one_by_one": asdict(one_by_one), "full_speed": asdict(full_speed)}
    figures.report(found, _text(one_by_one, full_speed), as_json=given.json)
    return int(any(run.lost or run.webhooks_missing for run in (one_by_one, full_speed)))


def _arguments() -> argparse.Namespace:
    what = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=what)
    parser.add_argument("--calls", type=int, default=300, help="calls to measure, twice (300)")
    parser.add_argument("--ways", type=int, default=8, help="threads that create them (8)")
    parser.add_argument("--warm-up", type=int, default=30, help="calls before, which don't count (30)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser.parse_args()


def _text(one_by_one: Measured, full_speed: Measured) -> str:
    heads = [f"{one_by_one.calls} calls, {one_by_one.ways} ways", "one by one", "at full speed"]
    runs = (one_by_one, full_speed)
    return figures.table(
        heads,
        [
            ["calls created a second", *(run.created_a_second for run in runs)],
            ["calls completed a second", *(run.completed_a_second for run in runs)],
            ["to the 201, p50 ms", *(run.create.p50 for run in runs)],
            ["to the 201, p99 ms", *(run.create.p99 for run in runs)],
            ["to completed, p50 ms", *(run.completed.p50 for run in runs)],
            ["to completed, p99 ms", *(run.completed.p99 for run in runs)],
            ["CPU of the dev phone, ms a call", *(run.cpu_ms_a_call for run in runs)],
            ["calls lost", *(run.lost for run in runs)],
            ["webhooks missing", *(run.webhooks_missing for run in runs)],
        ],
    )


@contextmanager
def _dev_phone() -> Iterator[tuple[str, int]]:
    """A running dev phone: its URL and process id. Raises NotReady."""
    command = [sys.executable, "-m", "devphone", "--json", "--calls-per-second", "0", "--number", OURS]
    account = {"DEVPHONE_ACCOUNT_SID": ACCOUNT, "DEVPHONE_AUTH_TOKEN": TOKEN}
    process = subprocess.Popen(
        command, cwd=system.ROOT, stdout=subprocess.PIPE, env=os.environ | account, start_new_session=True
    )
    try:
        assert process.stdout is not None
        line = json.loads(process.stdout.readline() or '{"refused": "the dev phone does not start"}')
        if "refused" in line:
            raise places.NotReady(line["refused"])
        yield line["url"], line["pid"]
    finally:
        processes.end([process], grace_s=5)


def _press_when_a_menu_listens(url: str) -> None:
    """The one hand of all phones; ends with the dev phone."""
    with (
        contextlib.suppress(httpx2.RequestError),
        httpx2.Client(base_url=f"{url}/_devphone", timeout=PATIENCE_S, trust_env=False) as http,
        http.stream("GET", "/events") as events,
        ThreadPoolExecutor(FINGERS) as fingers,
    ):
        for line in events.iter_lines():
            if '"call.listening"' in line:
                sid = json.loads(line.removeprefix("data: "))["sid"]
                fingers.submit(http.post, f"/calls/{sid}/press", json={"digits": "1"})


class _Load:
    """Calls through one dev phone, and what became of them."""

    def __init__(self, url: str, pid: int, application: _Arrivals, ways: int) -> None:
        self._url, self._pid, self._application, self._ways = url, pid, application, ways
        self._of_this_thread = threading.local()
        for number in map(_person, range(ways)):
            httpx2.put(f"{url}/_devphone/phones/{number}", json={"behaviour": "answers"}).raise_for_status()

    def carry(self, calls: int, *, one_by_one: bool) -> Measured:
        """Creates that many calls and waits until all completed, each for PATIENCE_S at most."""
        used_s, webhooks = self._cpu_s(), self._application.webhooks
        created: dict[str, tuple[float, float]] = {}

        def create(number: int) -> None:
            begun = time.monotonic()
            sid = self._create(_person(number % self._ways))
            created[sid] = begun, time.monotonic()
            if one_by_one:
                self._application.completed(sid)

        with ThreadPoolExecutor(self._ways) as ways:
            list(ways.map(create, range(calls)))
        ends = {sid: at for sid in created if (at := self._application.completed(sid))}
        missing = (
            webhooks + calls * WEBHOOKS - self._application.webhooks_in_the_end(webhooks + calls * WEBHOOKS)
        )
        first = min(begun for begun, _ in created.values())
        return Measured(
            calls,
            self._ways,
            round(calls / (max(end for _, end in created.values()) - first), 1),
            round(len(ends) / (max(ends.values(), default=first) - first or 1), 1),
            Spread.of([end - begun for begun, end in created.values()]),
            Spread.of([end - created[sid][0] for sid, end in ends.items()]),
            round((self._cpu_s() - used_s) / calls * 1000, 1),
            calls - len(ends),
            missing,
        )

    def _create(self, to: str) -> str:
        if not hasattr(self._of_this_thread, "client"):
            client = Client(ACCOUNT, TOKEN, http_client=TwilioHttpClient(timeout=PATIENCE_S))
            client.api.base_url = self._url
            self._of_this_thread.client = client
        ours = self._application.url
        call = self._of_this_thread.client.calls.create(
            to=to,
            from_=OURS,
            url=f"{ours}/voice",
            status_callback=f"{ours}/status",
            status_callback_event=EVENTS,
        )
        return str(call.sid)

    def _cpu_s(self) -> float:
        """CPU time that the dev phone has used so far (utime and stime of proc(5))."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _person(number: int) -> str:
    return f"+1212555{200 + number:04d}"


class _Arrivals:
    """What arrived at the application, told by its process: (CallSid of a completed call or "", moment)."""

    def __init__(self, told: Connection) -> None:
        self.url = str(told.recv())
        self.webhooks = 0
        self._told, self._completed, self._news = told, dict[str, float](), threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def completed(self, sid: str) -> float | None:
        """When this call's `completed` came; waits for it, for PATIENCE_S at most."""
        with self._news:
            self._news.wait_for(lambda: sid in self._completed, PATIENCE_S)
            return self._completed.get(sid)

    def webhooks_in_the_end(self, wanted: int) -> int:
        """How many came so far; waits for that many, a second at most."""
        with self._news:
            self._news.wait_for(lambda: self.webhooks >= wanted, 1)
            return self.webhooks

    def _listen(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                sid, at = self._told.recv()
                with self._news:
                    self.webhooks += 1
                    if sid:
                        self._completed[sid] = at
                    self._news.notify_all()


@contextmanager
def _application() -> Iterator[_Arrivals]:
    """The application, in a process of its own."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield _Arrivals(ours)
    finally:
        process.terminate()
        process.join()


def _serve(tell: Connection) -> None:
    """Answers webhooks until the process is ended."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; the dev phone sends one request on each."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.lower().split("\r\n") if line.startswith("content-length:"))
        fields = parse_qs((await reader.readexactly(int(length.split(":")[1]))).decode())
        path = urlsplit(head.split()[1]).path
        over = path == "/status" and fields["CallStatus"] == ["completed"]
        tell.send((fields["CallSid"][0] if over else "", time.monotonic()))
        document = {"/voice": MENU, "/key": BYE}.get(path, b"")
        headers = f"Content-Type: text/xml\r\nContent-Length: {len(document)}\r\nConnection: close"
        writer.write(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + document)
        await writer.drain()
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
        tell.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await server.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    sys.exit(main())
