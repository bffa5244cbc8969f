"""A way from the internet to this machine, by a program that is installed already: cloudflared or ngrok.

Which one, its command line, where it says its public address, and whether that address leads to us. Starting
and ending the program is the supervisor's business, as with every other process.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import threading
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

ASK_TIMEOUT_S = 5.0
ASK_EVERY_S = 1.0

#: https://github.com/cloudflare/cloudflared/blob/master/cmd/cloudflared/tunnel/quick_tunnel.go prints it in
#: a box of its own; when it can't get one it names https://api.trycloudflare.com, which is nobody's tunnel.
_CLOUDFLARED = re.compile(r"https://(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?=[\s|]|$)")


class NoTunnel(Exception):
    """No program that makes tunnels is installed; the message says which would do and where to get them."""


@dataclass(frozen=True)
class Tunnel:
    """A program that makes a tunnel to a port of this machine for as long as it runs."""

    name: str
    path: str
    options: tuple[str, ...]
    read: Callable[[str], str | None]

    def command(self, port: int) -> tuple[str, ...]:
        """The command line that makes a tunnel to this loopback port."""
        return (self.path, *(part.format(port=port) for part in self.options))

    def address(self, output: str) -> str | None:
        """The public https address by what the program has printed so far, None while it has not said it."""
        return self.read(output)


def find(path: str | None = None) -> Tunnel:
    """cloudflared if it is on the PATH (or on `path`), else ngrok. Raises NoTunnel."""
    if found := shutil.which("cloudflared", path=path):
        quick = ("tunnel", "--url", "http://127.0.0.1:{port}", "--no-autoupdate")
        return Tunnel("cloudflared", found, quick, _by_cloudflared)
    if found := shutil.which("ngrok", path=path):
        logged = ("http", "{port}", "--log", "stdout", "--log-format", "json")
        return Tunnel("ngrok", found, logged, _by_ngrok)
    raise NoTunnel(
        "Twilio has to reach this machine, and no program that makes a tunnel is installed. Install one of:\n"
        "  cloudflared  https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/"
        "downloads/  (needs no account)\n"
        "  ngrok        https://ngrok.com/download  (needs a free account)"
    )


def _by_cloudflared(output: str) -> str | None:
    found = _CLOUDFLARED.findall(output)
    return found[-1] if found else None


def _by_ngrok(output: str) -> str | None:
    """From `{"msg": "started tunnel", "url": "https://…"}`; older ngroks also say such a line for http."""
    for line in reversed(output.splitlines()):
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and said.get("msg") == "started tunnel":
            url = said.get("url")
            if isinstance(url, str) and url.startswith("https://"):
                return url.rstrip("/")
    return None


def problem(public_url: str) -> str:
    """Empty when our own web process answers at this address; else what is wrong. Waits up to 5 s.

    Asked as the outside would, through the machine's proxy if it has one, with certificates checked.
    """
    request = urllib.request.Request(f"{public_url}/healthz", headers={"User-Agent": "handoff-dev"})
    try:
        with urllib.request.urlopen(request, timeout=ASK_TIMEOUT_S) as response:
            said = response.read(1_000)
    except (OSError, http.client.HTTPException) as error:  # urllib's own errors are OSErrors
        return str(error) or type(error).__name__
    try:
        ours = json.loads(said) == {"status": "ok"}
    except ValueError:
        ours = False
    return "" if ours else "somebody else answers there"


class Lookout:
    """Asks a public address again and again until it leads to us. `problem` is what it found last.

    In a thread of its own: looking up a name that nobody knows yet can take longer than Ctrl-C should.
    """

    def __init__(self, public_url: str) -> None:
        self.problem = "not asked yet"
        self._public_url = public_url
        self._closing = threading.Event()
        threading.Thread(target=self._ask, name="lookout", daemon=True).start()

    def close(self) -> None:
        """Asks no more. Does not wait for a question that is under way."""
        self._closing.set()

    def _ask(self) -> None:
        while not self._closing.is_set():
            self.problem = problem(self._public_url)
            if not self.problem:
                return
            self._closing.wait(ASK_EVERY_S)
