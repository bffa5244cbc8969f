"""What a resume callback sends, byte for byte, and what of it is never told to anybody else.

Signed how, and verified, is in test_resume_signing.py; where it may go in test_resume_destinations.py.
"""

from __future__ import annotations

import logging
import re
from datetime import timedelta, timezone
from typing import Any

import pytest

from handoff.resume import BEARER_PATTERN, Delivered, FailureKind, deliver, verify

from .receivers import (
    BODY,
    NOW,
    OLD_SECRET,
    SECRET,
    Serve,
    answering,
    failed_with,
    independent_verifier,
    send,
    to,
)


def test_a_callback_is_a_signed_post_of_exactly_these_bytes(serve: Serve) -> None:
    receiver = serve(204)
    assert deliver(
        to(receiver.url("/resume/7?run=a%20b"), bearer="resume-token-of-ada"), now=NOW, allow_private=True
    ) == Delivered(204)
    [request] = receiver.requests
    assert request.path == "/resume/7?run=a%20b"
    assert request.body == BODY
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["Authorization"] == "Bearer resume-token-of-ada"
    assert request.headers["webhook-id"] == "resume-ho_1"
    assert request.headers["webhook-timestamp"] == "1796030467"
    assert independent_verifier(request, SECRET)
    assert not independent_verifier(request, OLD_SECRET)


def test_without_a_token_there_is_no_authorization(serve: Serve) -> None:
    receiver = serve()
    send(receiver.url())
    assert receiver.requests[0].headers["Authorization"] is None


def test_while_a_secret_is_changed_both_verify_newest_first(serve: Serve) -> None:
    receiver = serve()
    deliver(to(receiver.url(), secrets=[SECRET, OLD_SECRET]), now=NOW, allow_private=True)
    [request] = receiver.requests
    assert independent_verifier(request, SECRET)
    assert independent_verifier(request, OLD_SECRET)
    verify(request.body, dict(request.headers.items()), OLD_SECRET, now=NOW)
    first = dict(request.headers.items()) | {
        "webhook-signature": request.headers["webhook-signature"].split()[0]
    }
    verify(request.body, first, SECRET, now=NOW)


def test_a_later_try_has_the_same_id_and_bytes_and_a_fresh_timestamp_and_signature(serve: Serve) -> None:
    receiver = serve(500)
    delivery = to(receiver.url())
    assert failed_with(deliver(delivery, now=NOW, allow_private=True)) == (FailureKind.SERVER_ERROR, True)
    receiver.behave = answering(200)
    later = NOW + timedelta(minutes=10)
    # Another time zone is the same moment.
    elsewhere = later.astimezone(timezone(timedelta(hours=9)))
    assert deliver(delivery, now=elsewhere, allow_private=True) == Delivered(200)
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 600
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert independent_verifier(second, SECRET)


def test_a_time_without_a_zone_is_refused_before_it_signs_the_wrong_moment() -> None:
    with pytest.raises(ValueError, match="time zone"):
        send("http://127.0.0.1:1/", now=NOW.replace(tzinfo=None))


def test_what_can_not_be_sent_safely_can_not_be_made() -> None:
    bad: dict[str, Any]
    for bad in (
        {"webhook_id": "a.b"},
        {"webhook_id": "a\r\nX-Forged: 1"},
        {"webhook_id": ""},
        {"secrets": []},
        {"bearer": "hunter2\r\nX-Forged: 1"},
        {"bearer": "hunter2\n"},
        {"bearer": "hunter2 two"},
        {"bearer": "hünter2"},
        {"bearer": ""},
    ):
        with pytest.raises(ValueError) as refused:
            to("https://agent.example/", **bad)
        assert "nter2" not in str(refused.value)
    assert re.fullmatch(BEARER_PATTERN, "eyJhbGciOi.J9-_~+/==")


def test_no_log_detail_or_repr_holds_the_query_the_token_a_secret_or_the_answer(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    private = ["query-word", "path-word", "bearer-word", "answer-word", SECRET, SECRET[6:], "naïve"]
    echo = b"answer-word bearer-word query-word"
    receivers = [
        serve(answering(200, echo)),
        serve(answering(302, echo, Location="http://answer-word.example/?query-word")),
        serve(answering(404, echo)),
        serve(answering(500, echo)),
        serve(lambda handler: handler.wfile.write(b"answer-word\r\n\r\n")),
        serve(tls=True),
    ]
    outcomes = []
    for number, receiver in enumerate(receivers):
        for scheme in ("http", "https"):
            delivery = to(
                receiver.url(f"/path-word?key=query-word&n={number}", scheme=scheme), bearer="bearer-word"
            )
            outcomes.append(repr(deliver(delivery, now=NOW, allow_private=True)) + repr(delivery))
            outcomes.append(repr(deliver(delivery, now=NOW, allow_private=False)))
    assert len(receivers[0].requests) == 1
    told = "\n".join(outcomes) + caplog.text
    for word in private:
        assert word not in told
