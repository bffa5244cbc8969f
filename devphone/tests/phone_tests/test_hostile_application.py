"""Whatever an application or a text sends: a debugger entry and the fallback, and the program goes on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from devphone.engine.actions import FetchDocument, NoReply
from devphone.previews import Previews
from devphone.testing import CallOnPhone, DevPhone
from devphone.webhooks import Webhooks, new_transport

from .conftest import ADA, OURS, TOKEN
from .stub_application import Answer, Application

HELLO = Answer("<Response><Say>Hello.</Say></Response>")
SORRY = Answer("<Response><Say>Sorry.</Say></Response>")
BAD_HOSTS = ["http://a..b/x", f"http://{'a' * 64}.test/x", "http://\u2603..test/x", "https://.test/x"]
DIGITS = "9" * 5000


def answered(phone: DevPhone, client: Client, url: str, **more: Any) -> CallOnPhone:
    """Ada picks up a call whose document is at `url`."""
    client.calls.create(to=ADA, from_=OURS, url=url, **more)
    call = phone.device(ADA).let_ring().answer()
    phone.settle()
    return call


@contextmanager
def dripping(head: bytes, drop: bytes) -> Iterator[str]:
    """A server that begins its answer with `head` and sends a `drop` ten times a second for 5 seconds."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(head)
                        for _ in range(50):
                            if stop.wait(0.1):
                                return
                            connection.sendall(drop)
                except OSError:
                    continue

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        stop.set()
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


DRIPS = {
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X-Drip: 1\r\n"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 500\r\n\r\n", b" "),
    "body without length": (b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n<Response/>", b" "),
}


# Host names that can't be looked up


@pytest.mark.parametrize("url", BAD_HOSTS)
def test_a_call_to_a_host_that_can_not_exist_is_refused(phone: DevPhone, client: Client, url: str) -> None:
    for fields, code in (
        ({"url": url}, 21205),
        ({"twiml": "<Response/>", "status_callback": url}, 21609),
    ):
        with pytest.raises(TwilioRestException) as refused:
            client.calls.create(to=ADA, from_=OURS, **fields)
        assert refused.value.code == code
    assert phone.state()["calls"] == []


@pytest.mark.parametrize("url", BAD_HOSTS)
def test_a_redirect_to_such_a_host_leads_to_the_fallback(
    phone: DevPhone, client: Client, application: Application, url: str
) -> None:
    fallback = application.answers("/fallback", SORRY)
    document = application.says("/voice", f"<Redirect>{url}</Redirect>")
    answered(phone, client, document, fallback_url=fallback).hears("Sorry").hang_up()
    phone.expect_debugger(11100)


def test_a_location_that_can_not_exist_leads_to_the_fallback(
    phone: DevPhone, client: Client, application: Application
) -> None:
    fallback = application.answers("/fallback", SORRY)
    for location in (b"http://a..b/", b"http://[::1/", b"/\x01"):
        head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
        with dripping(head, b"") as url:
            answered(phone, client, url, fallback_url=fallback).hears("Sorry").hang_up()
        phone.expect_debugger(11100)


def test_an_address_with_a_blank_in_its_host_leads_to_the_fallback(
    phone: DevPhone, client: Client, application: Application
) -> None:
    document = application.says("/voice", "<Redirect>http://127.0.0.1 x/\u007f</Redirect>")
    fallback = application.answers("/fallback", SORRY)
    answered(phone, client, document, fallback_url=fallback).hears("Sorry").hang_up()
    phone.expect_debugger(11100)


def test_a_text_with_such_an_address_is_a_text(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("rings", previews=True)
    body = " ".join(BAD_HOSTS)
    moved = application.answers("/short", Answer(status=302, headers={"Location": "http://127.0.0.1 x/"}))
    client.messages.create(to=ADA, from_=OURS, body=f"{moved} {body} http://127.0.0.1\u007fx/")
    phone.device(ADA).expect_text("http")
    phone.settle()
    assert len(application.at("/short")) == 3


def test_an_address_that_nobody_checked_before_is_no_answer() -> None:
    wanted = FetchDocument("CA1", 1, "http://a..b/", "POST", {})
    reply = Webhooks(TOKEN, new_transport()).ask(wanted, lambda *_: None)
    assert isinstance(reply, NoReply)
    assert reply.code == 11100
    visits = list(Previews(new_transport()).visits("http://a..b/"))
    assert [(visit.status, visit.problem != "") for visit in visits] == [(None, True)] * 3


# Numbers, cookies, characters


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_half_a_character_is_sent_as_a_question_mark(method: str) -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(204)

    wanted = FetchDocument("SM1", 1, "http://app.test/sms", method, {"Body": "\ud83d"})
    Webhooks(TOKEN, httpx2.MockTransport(answer)).ask(wanted, lambda *_: None)
    (request,) = seen
    form = {"Body": "?"} if method == "POST" else {}
    signature = request.headers["X-Twilio-Signature"]
    assert RequestValidator(TOKEN).validate(str(request.url), form, signature)


@pytest.mark.parametrize("name", ["ct", "rt", "tt", "rc"])
def test_an_override_with_very_many_digits_is_listed_and_not_obeyed(
    phone: DevPhone, client: Client, application: Application, name: str
) -> None:
    url = application.answers("/voice", HELLO) + f"#{name}={DIGITS}"
    answered(phone, client, url).hears("Hello").hang_up()
    assert f"{name}=99" in phone.expect_debugger(20001)["text"]


def test_a_cookie_that_can_not_be_sent_back_is_not(
    phone: DevPhone, client: Client, application: Application
) -> None:
    redirect = "<Response><Redirect>/next</Redirect></Response>"
    url = application.answers("/voice", Answer(redirect, headers={"Set-Cookie": "name=Zo\u00eb"}))
    application.answers("/next", HELLO)
    answered(phone, client, url).hears("Hello").hang_up()
    assert "cookie" not in application.at("/next")[0].headers


# Time


@pytest.mark.parametrize("what", DRIPS)
def test_an_answer_that_drips_ends_with_the_total_time(
    phone: DevPhone, client: Client, application: Application, what: str
) -> None:
    with dripping(*DRIPS[what]) as url:
        begun = time.monotonic()
        call = answered(phone, client, f"{url}#tt=300", fallback_url=application.answers("/fallback", SORRY))
        assert time.monotonic() - begun < 2
        call.hears("Sorry").hang_up()
    assert "0.3 seconds" in phone.expect_debugger(11200)["text"]


# The base of relative addresses


@pytest.mark.parametrize("verbs", ['<Gather method="GET" numDigits="1"/>', '<Redirect method="GET"/>'])
def test_fields_of_a_get_do_not_get_into_the_next_address(
    phone: DevPhone, client: Client, application: Application, verbs: str
) -> None:
    # A document that asks itself for the next one got the fields of all its requests so far.
    application.says("/voice", f"<Pause/>{verbs}", f"<Pause/>{verbs}", "<Say>Hello.</Say>")
    call = answered(phone, client, f"{application.url}/voice?step=1#rc=0", method="GET")
    for _ in range(2):
        phone.advance(1)
        if "Gather" in verbs:
            call.press("1")
            phone.settle()
    call.hears("Hello").hang_up()
    assert len(application.at("/voice")) == 3
    for hook in application.at("/voice"):
        names = [name for name, _ in parse_qsl(urlsplit(hook.url).query, keep_blank_values=True)]
        assert sorted(names) == sorted(set(names))
        assert hook.fields["step"] == "1"
        assert hook.signed
