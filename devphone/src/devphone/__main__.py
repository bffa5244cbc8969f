"""The program: `python -m devphone`. Reads arguments, listens, ends at once on SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NoReturn

from werkzeug.serving import BaseWSGIServer

from .clock import ManualClock, RealClock
from .contract import Contract, NoContract
from .driver import Driver
from .settings import BadSettings, check
from .web.app import create_app, serve

#: How long the program may take to notice that it is to end, in seconds.
LOOKS_UP_S = 0.5


class Parser(argparse.ArgumentParser):
    """Refuses as all else here does."""

    def error(self, message: str) -> NoReturn:
        """Raises BadSettings."""
        raise BadSettings(f"{message}; --help lists what there is")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until told to stop; 2 when it can't start like this."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        given = _parser().parse_args(words)
        server = _server(given)
    except (BadSettings, NoContract) as refusal:
        print(f"devphone: {refusal}", file=sys.stderr)
        if "--json" in words:
            print(json.dumps({"refused": str(refusal)}), flush=True)
        return 2
    # No Event: its `set` waits for a lock that the handler may have interrupted the very holder of, as when
    # two signals come at once. https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put
    stop = SimpleQueue[None]()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.put(None))
    threading.excepthook = _end_with
    threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
    if given.ends_with_stdin:
        threading.Thread(target=_wait_for_end, args=(stop,), name="stdin", daemon=True).start()
    host = f"[{server.host}]" if ":" in server.host else server.host
    url = f"http://{host}:{server.port}"
    line = (
        json.dumps({"simulated": True, "url": url, "pid": os.getpid()})
        if given.json
        else f"SIMULATED phone at {url}"
    )
    print(line, flush=True)
    while not _heard(stop):
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="devphone", description="A Twilio double with a phone you can see.")
    parser.add_argument("--host", default="127.0.0.1", help="loopback only")
    parser.add_argument("--port", default="0", help="0 = any free one")
    parser.add_argument("--account-sid", help="AC and 32 hexadecimal digits; or DEVPHONE_ACCOUNT_SID")
    parser.add_argument("--auth-token", help="or DEVPHONE_AUTH_TOKEN, which other processes can't see")
    parser.add_argument("--number", action="append", default=[], help="a number of the account; repeatable")
    parser.add_argument("--clock", choices=("real", "manual"), default="real")
    parser.add_argument("--calls-per-second", help="0 = no limit; or DEVPHONE_CALLS_PER_SECOND; default 1")
    parser.add_argument("--contract", help="Twilio's OpenAPI file to check answers by; or DEVPHONE_CONTRACT")
    parser.add_argument("--json", action="store_true", help="print one line of JSON: listens, or why not")
    # Not for people: see `testing.start`.
    parser.add_argument("--ends-with-stdin", action="store_true", help=argparse.SUPPRESS)
    return parser


def _server(given: argparse.Namespace) -> BaseWSGIServer:
    """A phone that listens. Raises BadSettings and NoContract."""
    settings = check(
        os.environ,
        account_sid=given.account_sid,
        auth_token=given.auth_token,
        numbers=given.number,
        host=given.host,
        port=given.port,
        calls_per_second=given.calls_per_second,
    )
    path = given.contract or os.environ.get("DEVPHONE_CONTRACT")
    contract = Contract.load(Path(path)) if path else None
    driver = Driver(settings, ManualClock() if given.clock == "manual" else RealClock())
    return serve(create_app(driver, contract), settings.host, settings.port)


def _heard(stop: SimpleQueue[None]) -> bool:
    """Whether we were told to end. Looks up now and then: a signal that the system gives to another thread
    does not wake this one, which alone runs its handler (https://docs.python.org/3/library/signal.html)."""
    try:
        stop.get(timeout=LOOKS_UP_S)
    except Empty:
        return False
    return True


def _wait_for_end(stop: SimpleQueue[None]) -> None:
    """Whoever started the program holds the other end of its standard input, and lets go when killed."""
    while os.read(0, 4096):
        pass
    stop.put(None)


def _end_with(failure: threading.ExceptHookArgs) -> None:
    """A bug in one of our threads ends the program: a phone that is half dead would mislead every test."""
    traceback.print_exception(failure.exc_value)
    os._exit(70)


if __name__ == "__main__":
    sys.exit(main())
