"""What the application gets: limits and retries that a URL asks for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from twilio.rest import Client

from devphone.engine.actions import FetchDocument, NoReply
from devphone.testing import DevPhone
from devphone.webhooks import Webhooks

from .calling import HELLO, answered
from .conftest import ADA, OURS, TOKEN
from .stub_application import Answer, Application

SORRY = Answer("<Response><Say>Sorry.</Say></Response>")
FAILS = Answer("", status=500)


@contextmanager
def listener(first_bytes: bytes, *, then_close: bool) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers each request with a few bytes, and then hangs up or says nothing more.

    Gives its URL and the list of requests.
    """
    requests: list[bytes] = []
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def work() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                    requests.append(connection.recv(65536))
                except OSError:
                    return
                connection.sendall(first_bytes)
                if then_close:
                    connection.close()
                kept.append(connection)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/", requests
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for connection in kept:
            connection.close()


def test_the_fragment_is_neither_sent_nor_signed(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", HELLO) + "?t=1#ct=500&rt=2000&tt=9000&rc=0&rp=5xx,ct&e=dublin&sni=y"
    answered(phone, client, url).hears("Hello").hang_up()
    (hook,) = application.at("/voice")
    assert (hook.url, hook.signed) == (f"{application.url}/voice?t=1", True)


def test_a_server_error_is_retried_when_the_url_says_so(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", FAILS, Answer("", status=503), HELLO) + "#rc=2&rp=5xx"
    answered(phone, client, url).hears("Hello").hang_up()
    tokens = [hook.headers["i-twilio-idempotency-token"] for hook in application.at("/voice")]
    assert len(tokens) == 3
    assert len(set(tokens)) == 1


@pytest.mark.parametrize("fragment", ["", "#rc=5", "#rc=5&rp=4xx,ct,rt", "#rp=5xx&rc=0"])
def test_a_server_error_is_final_otherwise(
    phone: DevPhone, client: Client, application: Application, fragment: str
) -> None:
    url = application.answers("/voice", FAILS, HELLO) + fragment
    call = answered(phone, client, url, fallback_url=application.answers("/fallback", SORRY))
    call.hears("Sorry").hang_up()
    assert len(application.at("/voice")) == 1
    phone.expect_debugger(11200)


def test_each_webhook_has_a_token_of_its_own(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.says("/voice", "<Redirect>/next</Redirect>")
    application.answers("/next", HELLO)
    answered(phone, client, url, status_callback=f"{application.url}/status").hears("Hello").hang_up()
    phone.settle()
    tokens = {hook.headers["i-twilio-idempotency-token"] for hook in application.webhooks}
    assert len(tokens) == 3


def test_an_answer_that_does_not_begin_in_time_is_retried_with_rt(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", Answer(hold=True), HELLO) + "#rt=500&rp=rt"
    answered(phone, client, url).hears("Hello").hang_up()
    assert len(application.at("/voice")) == 2


def test_an_answer_that_does_not_begin_in_time_is_final_by_default(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", Answer(hold=True), HELLO) + "#rt=150"
    call = answered(phone, client, url, fallback_url=application.answers("/fallback", SORRY))
    call.hears("Sorry").hang_up()
    assert len(application.at("/voice")) == 1
    assert "0.15 seconds" in phone.expect_debugger(11200)["text"]


def test_the_total_time_ends_all_retries(phone: DevPhone, client: Client, application: Application) -> None:
    url = application.answers("/voice", Answer(hold=True)) + "#rt=300&rc=5&rp=all&tt=750"
    call = answered(phone, client, url, fallback_url=application.answers("/fallback", SORRY))
    call.hears("Sorry").hang_up()
    assert 2 <= len(application.at("/voice")) <= 3
    phone.expect_debugger(11200)


def test_a_part_received_answer_is_never_retried(
    phone: DevPhone, client: Client, application: Application
) -> None:
    part = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 500\r\n\r\n<Response>"
    fallback = application.answers("/fallback", SORRY)
    for then_close, code in ((True, 11206), (False, 11200)):
        with listener(part, then_close=then_close) as (url, requests):
            call = answered(phone, client, url + "#rt=500&rc=5&rp=all", fallback_url=fallback)
            call.hears("Sorry").hang_up()
            assert len(requests) == 1
        phone.expect_debugger(code)


@pytest.mark.parametrize(("fragment", "tries"), [("", 1), ("#rc=2", 1), ("#rc=2&rp=all", 3)])
def test_a_connection_that_is_cut_before_an_answer_is_retried_with_all(
    phone: DevPhone, client: Client, application: Application, fragment: str, tries: int
) -> None:
    with listener(b"", then_close=True) as (url, requests):
        call = answered(phone, client, url + fragment, fallback_url=application.answers("/fallback", SORRY))
        call.hears("Sorry").hang_up()
        assert len(requests) == tries
    phone.expect_debugger(11206)


@pytest.mark.parametrize(
    ("fragment", "tries"), [("", 2), ("#rc=0", 1), ("#rc=5", 6), ("#rc=5&rp=5xx", 1), ("#rp=all", 2)]
)
def test_connecting_is_tried_twice_unless_the_url_says_else(fragment: str, tries: int) -> None:
    seen: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        raise httpx2.ConnectError("refused", request=request)

    webhooks = Webhooks(TOKEN, httpx2.MockTransport(refuse))
    wanted = FetchDocument("CA1", 1, f"http://app.test/{fragment}", "POST", {})
    reply = webhooks.ask(wanted, lambda *_: None)
    assert isinstance(reply, NoReply)
    assert (reply.code, len(seen)) == (11205, tries)
    assert len({request.headers["I-Twilio-Idempotency-Token"] for request in seen}) == 1


def test_nobody_there_leads_to_the_fallback(
    phone: DevPhone, client: Client, application: Application
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    call = answered(phone, client, url, fallback_url=application.answers("/fallback", SORRY))
    call.hears("Sorry").hang_up()
    fields = application.at("/fallback")[0].fields
    assert (fields["ErrorCode"], fields["ErrorUrl"]) == ("11205", url)
    phone.expect_debugger(11205)


@pytest.mark.parametrize("policy", ["", "6xx", "5xx,never", "all,", "5XX"])
def test_a_retry_policy_that_does_not_exist_is_11243_and_nothing_is_sent(
    phone: DevPhone, client: Client, application: Application, policy: str
) -> None:
    url = application.answers("/voice", HELLO) + f"#rp={policy}"
    call = answered(phone, client, url, fallback_url=application.answers("/fallback", SORRY))
    call.hears("Sorry").hang_up()
    assert application.at("/voice") == []
    assert application.at("/fallback")[0].fields["ErrorCode"] == "11243"
    phone.expect_debugger(11243)


@pytest.mark.parametrize("part", ["ct=99", "ct=10001", "rt=15001", "tt=0", "rc=6", "rc=-1", "rt=2s", "xy=1"])
def test_any_other_bad_override_is_listed_and_not_obeyed(
    phone: DevPhone, client: Client, application: Application, part: str
) -> None:
    url = application.answers("/voice", FAILS, HELLO) + f"#{part}&rp=5xx"
    answered(phone, client, url).hears("Hello").hang_up()
    assert part in phone.expect_debugger(20001)["text"]


def test_the_overrides_follow_a_redirect_unless_it_has_its_own(
    phone: DevPhone, client: Client, application: Application
) -> None:
    for location, tries in (("/there", 2), ("/there#rc=0", 1)):
        application.answers("/there", FAILS, HELLO)
        url = application.answers("/voice", Answer("", status=307, headers={"Location": location}))
        before = len(application.at("/there"))
        call = answered(phone, client, f"{url}#rp=5xx", fallback_url=application.answers("/fallback", SORRY))
        call.hears("Hello" if tries == 2 else "Sorry").hang_up()
        assert len(application.at("/there")) - before == tries
    phone.expect_debugger(11200)


def test_status_callbacks_and_actions_obey_their_own_fragments(
    phone: DevPhone, client: Client, application: Application
) -> None:
    gather = '<Gather numDigits="1" action="/key#rp=5xx"><Say>Press.</Say></Gather>'
    application.answers("/key", FAILS, HELLO)
    status = application.answers("/status", FAILS, Answer(status=204, body="", content_type=None))
    call = answered(
        phone,
        client,
        application.says("/voice", gather),
        status_callback=f"{status}#rp=5xx",
        status_callback_event=["answered"],
    )
    call.press("1").hears("Hello").hang_up()
    phone.settle()
    assert [hook.fields["Digits"] for hook in application.at("/key")] == ["1", "1"]
    assert application.statuses() == ["in-progress", "in-progress"]


def test_texts_obey_the_fragment_too(phone: DevPhone, client: Client, application: Application) -> None:
    status = application.answers("/status", FAILS, Answer(status=204, body="", content_type=None))
    client.messages.create(to=ADA, from_=OURS, body="Hello", status_callback=f"{status}#rp=5xx")
    phone.device(ADA).expect_text("Hello")
    phone.settle()
    assert application.statuses() == ["sending", "sending", "sent", "delivered"]
    url = application.answers("/sms", FAILS, Answer("<Response/>"))
    phone.line(OURS).sends_texts_to(f"{url}#rp=5xx")
    phone.device(ADA).texts(OURS, "Hi")
    phone.settle()
    assert [hook.fields["Body"] for hook in application.at("/sms")] == ["Hi", "Hi"]
