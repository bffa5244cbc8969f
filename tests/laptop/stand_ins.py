"""cloudflared and ngrok as far as `handoff dev --twilio` knows them: same command line, same words.

They make no tunnel: they enter their name in the test's internet (internet.py), which leads to the port for
as long as they live. Run as programs, by a name on the PATH. What STAND_IN says: `refused` gets no tunnel,
`nowhere` says an address that leads to nobody.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from pathlib import Path

#: As cloudflared 2022 to 2026 prints it: a time, a level, and the address in a box, on standard error.
BOX = """\
{at} INF Thank you for trying Cloudflare Tunnel. (https://www.cloudflare.com/website-terms/)
{at} INF Requesting new quick Tunnel on trycloudflare.com...
{at} INF +--------------------------------------------------------------------------------------------+
{at} INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |
{at} INF |  {url}                                   |
{at} INF +--------------------------------------------------------------------------------------------+
{at} INF Registered tunnel connection connIndex=0 location=ams01 protocol=quic
"""
REFUSED = """\
{at} INF Requesting new quick Tunnel on trycloudflare.com...
failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: no such host
"""
AT = "2026-11-30T18:00:00Z"


def install(folder: Path, *names: str) -> None:
    """Puts programs of these names into a folder that a test has on its PATH."""
    folder.mkdir(exist_ok=True)
    for name in names:
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {name} "$@"\n')
        program.chmod(0o755)


def cloudflared(arguments: list[str]) -> None:
    tunnel, option, target, calm = arguments
    assert (tunnel, option, calm) == ("tunnel", "--url", "--no-autoupdate"), arguments
    if os.environ.get("STAND_IN") == "refused":
        sys.exit(REFUSED.format(at=AT))
    host = f"two-plain-words-{secrets.token_hex(3)}.trycloudflare.com"
    _enter(host, target.removeprefix("http://127.0.0.1:"))
    print(BOX.format(at=AT, url=f"https://{host}"), file=sys.stderr, flush=True)


def ngrok(arguments: list[str]) -> None:
    kind, port, *logging = arguments
    assert (kind, logging) == ("http", ["--log", "stdout", "--log-format", "json"]), arguments
    host = f"{secrets.token_hex(3)}-203-0-113-7.ngrok-free.app"
    _enter(host, port)
    for line in (
        {"lvl": "info", "msg": "no configuration paths supplied", "t": AT},
        {"addr": "127.0.0.1:4040", "lvl": "info", "msg": "starting web service", "obj": "web", "t": AT},
        {
            "addr": f"http://localhost:{port}",
            "lvl": "info",
            "msg": "started tunnel",
            "name": "command_line",
            "obj": "tunnels",
            "t": AT,
            "url": f"https://{host}",
        },
    ):
        print(json.dumps(line), flush=True)


def _enter(host: str, port: str) -> None:
    seen = sorted(name for name in os.environ if name.startswith(("HANDOFF_", "TWILIO_")))
    assert not seen, f"a program that is not ours was told {seen}"
    if os.environ.get("STAND_IN") != "nowhere":
        entry = Path(os.environ["INTERNET"]) / host
        entry.write_text(json.dumps({"port": int(port), "pid": os.getpid()}))


if __name__ == "__main__":
    {"cloudflared": cloudflared, "ngrok": ngrok}[sys.argv[1]](sys.argv[2:])
    signal.pause()
