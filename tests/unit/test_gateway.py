"""The gateway to Twilio over real sockets: what is sent, and what each kind of failure is taken for."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from handoff.states import Disposition
from voice.gateway import CallReport, Gateway, GatewayError, Permanent, Placed, Retryable, Unknown
from voice.twilio_gateway import _CODES, TwilioGateway

SID, TOKEN, OURS, ADA = "AC" + "0" * 32, "a-token-of-this-test", "+12125550100", "+12125550123"
VOICE_URL, STATUS_URL = (
    "https://pub.example/twilio/calls/ca_1/voice?a=1&b=2",
    "https://pub.example/twilio/status",
)


def shared(name: str) -> Any:
    """A file of facts kept beside the repository. Missing: a skip on a laptop, a failure where CI is set."""
    path = Path(os.environ.get("HANDOFF_SHARED") or Path(__file__).parents[3] / "shared") / "twilio" / name
    if path.exists():
        return json.loads(path.read_text())
    if os.environ.get("CI"):
        pytest.fail(f"{path} is missing")
    pytest.skip(f"{path} is missing")


@dataclass
class Peer:
    """An HTTP server that gives one answer to everything and keeps what it was asked.

    `answer` is a status and a body, or a function that writes to the open socket as it likes.
    """

    answer: tuple[int, Any] | Callable[[socket.socket], None] = (201, {"sid": "CA1", "status": "queued"})
    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, list[str]]]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(peer: Peer) -> Iterator[Peer]:
    """The peer on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            super().handle_one_request()
            self.close_connection = True

        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            fields = parse_qs(body or parts.query, keep_blank_values=True)
            peer.asked.append((self.command, parts.path, fields))
            answer = peer.answers.pop(0) if peer.answers else peer.answer
            if callable(answer):
                answer(self.connection)
                return
            status, said = answer
            raw = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            """Nothing: a test's output is its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        peer.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield peer
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def peer() -> Iterator[Peer]:
    with serving(Peer()) as one:
        yield one


def gateway(url: str, **settings: Any) -> TwilioGateway:
    """A gateway that talks to this address."""
    return TwilioGateway(SID, TOKEN, OURS, url, **({"timeout_s": 5.0, "environment": {}} | settings))


def ring(url: str, **settings: Any) -> Placed:
    """One call to Ada through the gateway."""
    return gateway(url, **settings).place_call(
        ADA, voice_url=VOICE_URL, status_url=STATUS_URL, ring_s=25, time_limit_s=600
    )


def failure(url: str, **settings: Any) -> GatewayError:
    """What one call to Ada through the gateway fails with."""
    with pytest.raises(GatewayError) as caught:
        ring(url, **settings)
    return caught.value


def call(sid: str, created: str, **changed: Any) -> dict[str, Any]:
    """One row of Twilio's list of calls."""
    row = {"sid": sid, "date_created": created, "direction": "outbound-api", "status": "in-progress"}
    return row | {"to": ADA, "from": OURS, "answered_by": None} | changed


def listing(*calls: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """A page of Twilio's list of calls."""
    return 200, {"calls": list(calls), "next_page_uri": None, "page": 0, "page_size": 1000}


def test_it_is_a_gateway() -> None:
    one: Gateway = gateway("http://127.0.0.1:9")
    assert one


def test_a_call_is_asked_for_once_with_four_events_in_fields_of_their_own(peer: Peer) -> None:
    # Telephony cases 13 and 14: one field "initiated ringing ..." or a mis-cased name would lose callbacks.
    assert ring(peer.url) == Placed("CA1")
    assert peer.asked == [
        (
            "POST",
            f"/2010-04-01/Accounts/{SID}/Calls.json",
            {
                "To": [ADA],
                "From": [OURS],
                "Url": [VOICE_URL],
                "Method": ["POST"],
                "StatusCallback": [STATUS_URL],
                "StatusCallbackEvent": ["initiated", "ringing", "answered", "completed"],
                "StatusCallbackMethod": ["POST"],
                "Timeout": ["25"],
                "TimeLimit": ["600"],
            },
        )
    ]


def test_every_field_of_a_create_is_one_that_twilio_knows(peer: Peer) -> None:
    # Telephony case 14, against Twilio's own description: an unknown name would be ignored silently.
    paths = shared("twilio_api_v2010.json")["paths"]
    ring(peer.url)
    gateway(peer.url).send_text(ADA, "hello", status_url=STATUS_URL, valid_s=60)
    for (_, path, fields), resource in zip(peer.asked, ("Calls", "Messages"), strict=True):
        assert path.endswith(f"/{resource}.json")
        post = paths[f"/2010-04-01/Accounts/{{AccountSid}}/{resource}.json"]["post"]
        known = post["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]["properties"]
        assert set(fields) <= set(known)


@pytest.mark.parametrize(("valid_s", "sent"), [(300, "300"), (0, "1"), (10**6, "36000")])
def test_a_text_is_dropped_when_it_would_come_too_late(peer: Peer, valid_s: int, sent: str) -> None:
    peer.answer = (201, {"sid": "SM1", "status": "queued"})
    placed = gateway(peer.url).send_text(ADA, "hello", status_url=STATUS_URL, valid_s=valid_s)
    assert placed == Placed("SM1")
    ((_, _, fields),) = peer.asked
    assert (fields["Body"], fields["ValidityPeriod"], fields["To"]) == (["hello"], [sent], [ADA])


def test_every_code_of_the_rest_api_has_been_decided_about() -> None:
    expected = {
        "config": {(Permanent, Disposition.BLOCKED)},
        "permanent": {(Permanent, d) for d in (Disposition.INVALID_NUMBER, Disposition.UNREACHABLE)},
        "permanent-ish": {(Permanent, Disposition.UNREACHABLE)},
        "permanent-for-pair": {(Permanent, Disposition.OPTED_OUT)},
        "transient": {(Retryable, Disposition.PROVIDER_ERROR)},
        "ambiguous": {(Unknown, Disposition.UNKNOWN)},
        "bug": {(Permanent, Disposition.PROVIDER_ERROR)},
        "race": {(Permanent, Disposition.PROVIDER_ERROR)},
    }
    # 20001 is a warning in a log. 20404 is about a record of ours, not about a number.
    published = [row for row in shared("error-codes.json")["codes"] if row["where"].startswith("rest")]
    for row in published:
        if row["code"] not in (20001, 20404):
            decided = _CODES[row["code"]]
            assert (decided.kind, decided.disposition) in expected[row["class"]], row
    assert len(published) > 35
    assert set(_CODES) <= {row["code"] for row in shared("error-codes.json")["codes"]}


@pytest.mark.parametrize(
    ("status", "code", "kind", "disposition"),
    [
        (400, 21211, Permanent, Disposition.INVALID_NUMBER),
        (400, 21215, Permanent, Disposition.BLOCKED),
        (400, 21609, Permanent, Disposition.BLOCKED),  # telephony case 51
        (400, 21610, Permanent, Disposition.OPTED_OUT),  # telephony case 61
        (401, 20003, Permanent, Disposition.BLOCKED),
        (429, 20429, Retryable, Disposition.PROVIDER_ERROR),
        (500, 20500, Unknown, Disposition.UNKNOWN),
        (503, 21211, Unknown, Disposition.UNKNOWN),  # a 5xx is never proof, whatever code it carries
        (400, 29999, Permanent, Disposition.PROVIDER_ERROR),
        (401, None, Permanent, Disposition.BLOCKED),
        (429, None, Unknown, Disposition.UNKNOWN),
    ],
)
def test_a_refusal_says_what_may_be_done_about_it(
    peer: Peer, status: int, code: int | None, kind: type[GatewayError], disposition: Disposition
) -> None:
    said = f"The number {ADA} with {TOKEN} is not good."
    peer.answer = (status, {"code": code, "message": said, "more_info": "https://x", "status": status})
    error = failure(peer.url)
    assert type(error) is kind
    assert (error.code, error.http_status, error.disposition) == (code, status, disposition)
    assert len(peer.asked) == 1


def test_the_newer_shape_of_an_error_is_read_too(peer: Peer) -> None:
    peer.answer = (429, {"type": "https://x", "title": "Too many", "status": 429, "code": 20429})
    assert type(failure(peer.url)) is Retryable


@pytest.mark.parametrize(
    ("status", "page"),
    [
        (429, "<html>slow down</html>"),
        (502, "<html>bad gateway</html>"),
        (504, ""),
        (408, "[]"),
        (500, '{"code": "x"}'),
    ],
)
def test_a_proxys_page_proves_nothing(peer: Peer, status: int, page: str) -> None:
    # Only Twilio's own 20429 says that the create was not processed.
    peer.answer = (status, page)
    error = failure(peer.url)
    assert type(error) is Unknown
    assert error.http_status == status


@pytest.mark.parametrize("said", ["", "<html>", "[]", "null", "{}", '{"sid": null}', '{"sid": 7}', '"CA1"'])
def test_a_success_without_an_id_is_unknown(peer: Peer, said: str) -> None:
    # Telephony case 9.
    peer.answer = (201, said)
    assert type(failure(peer.url)) is Unknown


def test_a_503_after_the_call_was_accepted_makes_one_create_only(peer: Peer) -> None:
    # Telephony case 9: the client's own retries must not ring twice.
    peer.answer = (503, {"code": 20503, "message": "unavailable", "status": 503})
    assert type(failure(peer.url)) is Unknown
    assert len(peer.asked) == 1


def test_a_refused_connection_was_never_sent() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    error = failure(f"http://127.0.0.1:{port}")
    assert type(error) is Retryable
    assert (error.code, error.http_status) == (None, None)


def test_a_host_that_does_not_take_the_connection_was_never_sent_to() -> None:
    with closing(socket.socket()) as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:  # fills the queue of the kernel, so that the next one gets no answer at all
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            error = failure(f"http://127.0.0.1:{full.getsockname()[1]}", connect_s=0.3)
        finally:
            for one in waiting:
                one.close()
    assert type(error) is Retryable


def test_a_peer_that_takes_the_request_and_stays_silent_is_left_in_time() -> None:
    # Telephony cases 64 and 65: without a time-out of ours this would hang until the job is killed.
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        error = failure(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.3)
    assert type(error) is Unknown
    assert error.disposition is Disposition.UNKNOWN


def test_an_answer_that_breaks_off_is_unknown(peer: Peer) -> None:
    def nothing(connection: socket.socket) -> None:
        connection.shutdown(socket.SHUT_RDWR)

    def half(connection: socket.socket) -> None:
        connection.sendall(b'HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{"sid": "CA')
        connection.shutdown(socket.SHUT_RDWR)

    def chunk(connection: socket.socket) -> None:
        connection.sendall(b'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nFF\r\n{"sid"')
        connection.shutdown(socket.SHUT_RDWR)

    def noise(connection: socket.socket) -> None:
        connection.sendall(b"\x00\x01\x02\r\n\r\n")
        connection.shutdown(socket.SHUT_RDWR)

    for breaks_off in (nothing, half, chunk, noise):
        peer.answer = breaks_off
        assert type(failure(peer.url)) is Unknown, breaks_off
    assert len(peer.asked) == 4


def test_no_number_and_no_secret_is_in_an_error_or_a_log(
    peer: Peer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    said = {"code": 21211, "message": f"Invalid number {ADA} for {TOKEN}", "status": 400}
    peer.answer = (400, said)
    errors = [failure(peer.url), failure("http://127.0.0.1:9")]
    with pytest.raises(GatewayError) as caught:
        gateway(peer.url).find_call(ADA, since_ms=0)
    for error in [*errors, caught.value]:
        shown = f"{error} {error!r} {error.args}"
        assert error.__suppress_context__
        assert error.__cause__ is None
        for secret in (ADA, ADA.lstrip("+"), TOKEN, SID):
            assert secret not in shown
            assert secret not in caplog.text


def test_hanging_up_does_not_trust_what_the_api_says_first(peer: Peer) -> None:
    # Telephony case 21: no look-up before it, and `completed` ends a ringing call as well.
    peer.answer = (200, call("CA1", "Mon, 30 Nov 2026 03:00:00 +0000", status="queued"))
    gateway(peer.url).hang_up("CA1")
    assert peer.asked == [("POST", f"/2010-04-01/Accounts/{SID}/Calls/CA1.json", {"Status": ["completed"]})]


def test_hanging_up_what_has_ended_is_success(peer: Peer) -> None:
    peer.answer = (400, {"code": 21220, "message": "not in-progress", "status": 400})
    gateway(peer.url).hang_up("CA1")
    with pytest.raises(Permanent) as caught:
        gateway(peer.url).redirect("CA1", VOICE_URL)
    assert caught.value.code == 21220
    peer.answer = (404, {"code": 20404, "message": "not found", "status": 404})
    with pytest.raises(Permanent):
        gateway(peer.url).hang_up("CA1")


def test_a_call_under_way_can_be_sent_elsewhere(peer: Peer) -> None:
    peer.answer = (200, call("CA1", "Mon, 30 Nov 2026 03:00:00 +0000"))
    gateway(peer.url).redirect("CA1", VOICE_URL)
    assert peer.asked[0][2] == {"Url": [VOICE_URL], "Method": ["POST"]}


def test_a_look_up_reports_the_providers_words(peer: Peer) -> None:
    peer.answer = (200, call("CA1", "Mon, 30 Nov 2026 03:00:00 +0000", answered_by="machine_start"))
    report = gateway(peer.url).look_up("CA1")
    assert report == CallReport("CA1", "in-progress", None, "machine_start")
    peer.answer = (200, {"sid": "CA1"})
    with pytest.raises(Unknown):
        gateway(peer.url).look_up("CA1")


SINCE_MS = 1_796_007_601_500  # Mon, 30 Nov 2026 03:00:01.5 UTC


def test_a_lost_call_is_found_among_older_inbound_and_dialled_ones(peer: Peer) -> None:
    peer.answer = listing(
        call("CA-older", "Mon, 30 Nov 2026 03:00:00 +0000"),
        call("CA-ours", "Mon, 30 Nov 2026 03:00:01 +0000"),
        call("CA-inbound", "Mon, 30 Nov 2026 03:00:05 +0000", direction="inbound"),
        call("CA-leg", "Mon, 30 Nov 2026 03:00:06 +0000", direction="outbound-dial"),
    )
    found = gateway(peer.url).find_call(ADA, since_ms=SINCE_MS)
    assert found == CallReport("CA-ours", "in-progress")
    ((method, path, fields),) = peer.asked
    assert (method, path) == ("GET", f"/2010-04-01/Accounts/{SID}/Calls.json")
    assert (fields["To"], fields["From"], fields["StartTime>"]) == ([ADA], [OURS], ["2026-11-30"])


def test_the_newest_is_found_in_whatever_order_the_rows_come(peer: Peer) -> None:
    rows = [call(f"CA{n}", f"Mon, 30 Nov 2026 03:00:0{n} +0000") for n in (3, 5, 2, 4)]
    peer.answer = listing(*rows)
    found = gateway(peer.url).find_call(ADA, since_ms=SINCE_MS)
    assert found is not None
    assert found.provider_id == "CA5"


def test_a_call_still_in_the_queue_has_no_start_and_is_found_by_its_status(peer: Peer) -> None:
    waiting = call("CA-waiting", "Mon, 30 Nov 2026 03:00:02 +0000", status="queued", start_time=None)
    peer.answers = [listing(), listing(waiting)]
    found = gateway(peer.url).find_call(ADA, since_ms=SINCE_MS)
    assert found == CallReport("CA-waiting", "queued")
    assert peer.asked[1][2]["Status"] == ["queued"]
    assert "StartTime>" not in peer.asked[1][2]


def test_a_call_that_never_arrived_is_not_found(peer: Peer) -> None:
    peer.answer = listing(call("CA-older", "Mon, 30 Nov 2026 02:59:59 +0000"), call("CA-undated", ""))
    assert gateway(peer.url).find_call(ADA, since_ms=SINCE_MS) is None


def test_settings_that_would_move_the_host_are_refused_with_an_address_of_our_own() -> None:
    for name in ("TWILIO_EDGE", "TWILIO_REGION"):
        with pytest.raises(ValueError, match=f"{name}.*TWILIO_API_URL"):
            gateway("http://127.0.0.1:9", environment={name: "dublin"})
    assert TwilioGateway(SID, TOKEN, OURS, environment={"TWILIO_EDGE": "dublin"})


def test_the_machines_own_settings_move_no_host_behind_our_back(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWILIO_EDGE", "dublin")
    assert ring(peer.url, environment={}) == Placed("CA1")


@pytest.mark.parametrize("url", ["127.0.0.1:4010", "ftp://127.0.0.1", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="TWILIO_API_URL"):
        gateway(url)


def test_missing_credentials_are_refused_at_the_start() -> None:
    for missing in range(3):
        given = [SID, TOKEN, OURS]
        given[missing] = ""
        with pytest.raises(ValueError, match="Twilio needs"):
            TwilioGateway(*given, environment={"TWILIO_ACCOUNT_SID": SID, "TWILIO_AUTH_TOKEN": TOKEN})


def test_our_own_number_is_never_called_or_texted(peer: Peer) -> None:
    one = gateway(peer.url)
    with pytest.raises(Permanent):
        one.place_call(OURS, voice_url=VOICE_URL, status_url=STATUS_URL, ring_s=25, time_limit_s=600)
    with pytest.raises(Permanent):
        one.send_text(OURS, "hello", status_url=STATUS_URL, valid_s=60)
    assert peer.asked == []
