"""The program: attaches to a running dev phone, prints what happens, does what is typed.

Two threads, one for the dev phone and one for the keyboard, put what they get into one queue.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from devphone.numbers import is_e164

from .deeds import HELP, Quit, Request, meant
from .news import News, harmless
from .wire import Gone, Refusal, Wire

URL = "http://127.0.0.1:8899"
_STDIN = 0

Incoming = dict[str, Any] | str | Gone | None
"""A new state, a typed line, the end of the dev phone, or the end of the input."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run until q, the end of the input or Ctrl-C; 1 when the dev phone goes away, 2 for bad arguments."""
    parser = argparse.ArgumentParser(prog="devphone-phone", description="The dev phone in a terminal.")
    parser.add_argument("url", nargs="?", default=os.environ.get("DEVPHONE_URL", URL), help=f"default {URL}")
    parser.add_argument("--number", action="append", default=[], help="attend to this phone only; repeatable")
    given = parser.parse_args(argv)
    if bad := [number for number in given.number if not is_e164(number)]:
        parser.error(f"not a number of the form +12125550123: {', '.join(bad)}")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace", line_buffering=True)
    try:
        return _run(Wire(given.url), given.number)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains at its end
        return 0


def _run(wire: Wire, numbers: Sequence[str]) -> int:
    """Show and obey. Raises KeyboardInterrupt and BrokenPipeError."""
    news = News(numbers)
    try:
        first = wire.state()
    except Gone as gone:
        sys.stderr.write(f"devphone-phone: no dev phone at {wire.url}: {gone}\n")
        return 1
    _print(f"SIMULATED phone at {wire.url}. Nobody is really called.\n{HELP}", *news.look(first))
    incoming: SimpleQueue[Incoming] = SimpleQueue()
    for work in (lambda: _watch(wire, first["seq"], incoming), lambda: _read(incoming)):
        threading.Thread(target=work, daemon=True).start()
    try:
        while (found := incoming.get()) is not None:
            if isinstance(found, Gone):
                raise found
            if isinstance(found, dict):
                _print(*news.look(found))
            elif not _obey(found, wire, news):
                break
    except Gone as gone:
        _print(f"The dev phone went away: {gone}")
        return 1
    return 0


def _obey(line: str, wire: Wire, news: News) -> bool:
    """Do what a typed line means; False when it is to quit. Raises Gone."""
    wanted = meant(line, news)
    if isinstance(wanted, Quit):
        return False
    if isinstance(wanted, Request):
        try:
            wire.ask("POST", wanted.path, wanted.body)
        except Refusal as refusal:
            _print(f"Not done: {harmless(str(refusal))}")
        _print(*news.look(wire.state()))
    else:
        _print(wanted)
    return True


def _watch(wire: Wire, seq: int, incoming: SimpleQueue[Incoming]) -> None:
    """Put a new state whenever something happened, and Gone at the end."""
    try:
        while True:
            newest = wire.next_happening(seq)
            if newest != seq:
                seq = newest
                incoming.put(wire.state())
    except Gone as gone:
        incoming.put(gone)


def _read(incoming: SimpleQueue[Incoming]) -> None:
    """Put typed lines, and None at the end of the input.

    Reads the descriptor itself: a thread that waits in `sys.stdin` would hold its lock while Python ends.
    """
    rest = b""
    while chunk := os.read(_STDIN, 4096):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            incoming.put(line.decode(errors="replace"))
    if rest:
        incoming.put(rest.decode(errors="replace"))
    incoming.put(None)


def _print(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
