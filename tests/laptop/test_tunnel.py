"""Tunnel programs: which one is taken, what it says its address is, and whether that address leads to us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from handoff.dev import real_calls, tunnel
from handoff.dev.tunnel import Lookout
from tests.world import ACCOUNT, ADA, OURS, TOKEN, until

from . import stand_ins
from .internet import Internet

STUB_SYSTEM = Path(__file__).parents[1] / "unit" / "dev_stub_system.py"
URL = "https://two-plain-words.trycloudflare.com"


def made_by(name: str, folder: Path) -> tunnel.Tunnel:
    stand_ins.install(folder, name)
    found = tunnel.find(str(folder))
    assert found.name == name
    return found


# Which one


def test_cloudflared_is_taken_before_ngrok(tmp_path: Path) -> None:
    stand_ins.install(tmp_path, "ngrok", "cloudflared")
    found = tunnel.find(str(tmp_path))
    assert found.command(8010) == (
        *(str(tmp_path / "cloudflared"), "tunnel", "--url", "http://127.0.0.1:8010"),
        "--no-autoupdate",
    )


def test_ngrok_is_taken_where_it_is_the_only_one(tmp_path: Path) -> None:
    command = made_by("ngrok", tmp_path).command(8010)
    assert command == (str(tmp_path / "ngrok"), *"http 8010 --log stdout --log-format json".split())


def test_with_neither_both_are_named_with_where_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(tunnel.NoTunnel, match=r"(?s)cloudflared +https://.*ngrok +https://ngrok"):
        tunnel.find(str(tmp_path))


# What it says


def test_cloudflareds_address_is_read_from_its_box(tmp_path: Path) -> None:
    said = stand_ins.BOX.format(at=stand_ins.AT, url=URL)
    assert made_by("cloudflared", tmp_path).address(said) == URL


def test_half_an_address_is_none(tmp_path: Path) -> None:
    found = made_by("cloudflared", tmp_path)
    said = stand_ins.BOX.format(at=stand_ins.AT, url=URL)
    end = said.index(URL) + len(URL)
    for cut in range(said.index(URL), end - 1):
        assert found.address(said[:cut]) is None


def test_cloudflares_own_address_is_nobodys_tunnel(tmp_path: Path) -> None:
    said = stand_ins.REFUSED.format(at=stand_ins.AT)
    assert "https://api.trycloudflare.com" in said
    assert made_by("cloudflared", tmp_path).address(said) is None


def test_ngroks_address_is_the_https_one_whichever_comes_last(tmp_path: Path) -> None:
    lines = [
        "not JSON at all",
        json.dumps({"msg": "starting web service", "url": "https://ngrok.com/docs"}),
        json.dumps({"msg": "started tunnel", "url": "https://calm.ngrok-free.app"}),
        json.dumps({"msg": "started tunnel", "url": "http://calm.ngrok-free.app"}),
        json.dumps(["msg", "started tunnel"]),
    ]
    found = made_by("ngrok", tmp_path)
    assert found.address("\n".join(lines)) == "https://calm.ngrok-free.app"
    assert found.address("\n".join(lines[:2])) is None


# Where it leads


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: a test's output is its own."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy meant for the outside has no part in this."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_an_address_that_leads_to_us_has_no_problem() -> None:
    with answering(b'{"status": "ok"}\n') as url:
        assert tunnel.problem(url) == ""


@pytest.mark.parametrize("body", [b"<h1>Tunnel not found</h1>", b"[]", b'{"status": "not ready"}'])
def test_an_address_at_which_somebody_else_answers_is_not_ours(body: bytes) -> None:
    with answering(body) as url:
        assert tunnel.problem(url) == "somebody else answers there"


def test_an_address_that_nobody_answers_at_says_why() -> None:
    with answering(b"", 530) as url:
        assert "530" in tunnel.problem(url)
    assert "refused" in tunnel.problem(url)


def test_a_lookout_asks_until_the_address_leads_to_us() -> None:
    with answering(b'{"status": "ok"}') as url:
        lookout = Lookout(url)
        until(lambda: not lookout.problem, 10, "the lookout to see us")
        lookout.close()


@pytest.mark.slow
def test_an_address_that_never_leads_here_ends_the_run_in_time_and_tells_how_it_stands(
    tmp_path: Path, world_wide: Internet
) -> None:
    stand_ins.install(tmp_path / "bin", "cloudflared")
    account = {
        "TWILIO_ACCOUNT_SID": ACCOUNT,
        "TWILIO_AUTH_TOKEN": TOKEN,
        "TWILIO_FROM_NUMBER": OURS,
        "HANDOFF_TO_NUMBER": f"Ada={ADA}",
        "STAND_IN": "nowhere",
        "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]),
        "PYTHONPATH": str(STUB_SYSTEM.parents[2]),
    }
    ended = subprocess.run(
        [sys.executable, str(STUB_SYSTEM), str(tmp_path / "data"), "--twilio", "--limit", "7"],
        env={**os.environ, **world_wide.environment(), **account},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert ended.returncode == 1
    assert ended.stdout.count("does not lead here yet") == 1, "how it stands, after 5 s"
    assert "waiting, 5 of 7 s" in ended.stdout
    assert "trycloudflare.com does not lead here yet" in ended.stderr


# The settings


def test_a_file_is_read_as_a_shell_would(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "# a comment\n\nexport TWILIO_ACCOUNT_SID=AC1 # mine\n"
        'TWILIO_AUTH_TOKEN="to # ken"\nTWILIO_FROM_NUMBER=\nHANDOFF_TO_NUMBER=Ada=+12125550123\nPATH=/tmp\n'
    )
    found = real_calls.settings({"TWILIO_FROM_NUMBER": OURS, "TWILIO_AUTH_TOKEN": " "}, file)
    assert found == {
        "TWILIO_ACCOUNT_SID": "AC1",
        "TWILIO_AUTH_TOKEN": "to # ken",
        "TWILIO_FROM_NUMBER": OURS,
        "HANDOFF_TO_NUMBER": f"Ada={ADA}",
    }


@pytest.mark.parametrize("line", ["TWILIO_AUTH_TOKEN=a secret", "TWILIO_AUTH_TOKEN='secret", "secret"])
def test_a_line_that_can_not_be_read_is_named_without_what_it_says(tmp_path: Path, line: str) -> None:
    file = tmp_path / ".env"
    file.write_text(f"# first\n{line}\n")
    with pytest.raises(real_calls.NotReady, match=r"\.env, line 2: must be NAME=value") as refused:
        real_calls.settings({}, file)
    assert "secret" not in str(refused.value)


def test_everything_that_is_missing_is_named_in_one_message(tmp_path: Path) -> None:
    with pytest.raises(real_calls.NotReady) as refused:
        real_calls.settings({"TWILIO_AUTH_TOKEN": TOKEN}, tmp_path / ".env")
    assert "TWILIO_ACCOUNT_SID, TWILIO_FROM_NUMBER and HANDOFF_TO_NUMBER must be set" in str(refused.value)
