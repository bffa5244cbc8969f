"""What a request may say and what an answer shows, before any HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from handoff.messages import MAX_METADATA, MAX_REASON, OpenRequest
from handoff.models import Handoff
from handoff.states import Kind, State
from handoff.views import AttemptView, DecisionView, EventView, HandoffView

from .lives import handoff_in, opening

GOOD: dict[str, Any] = {"kind": "clear", "reason": "A checkbox is in the way"}


def read(**fields: Any) -> OpenRequest:
    return OpenRequest.model_validate_json(json.dumps({**GOOD, **fields}))


def wrong(**fields: Any) -> set[str]:
    """The fields that are refused."""
    with pytest.raises(ValidationError) as refused:
        read(**fields)
    return {str(one["loc"][0]) if one["loc"] else "body" for one in refused.value.errors()}


def test_a_reason_and_a_kind_are_enough() -> None:
    request = read()
    assert (request.timeout_s, request.if_agent_gone, request.on_exhausted) == (600, "keep", "wait")
    assert request.metadata == {} and request.label is None


@pytest.mark.parametrize("timeout", [1, 1.0, 1.5, 600, 90 * 86_400])
def test_timeouts_from_one_second_to_ninety_days_are_taken(timeout: float) -> None:
    assert read(timeout_s=timeout).timeout_s == timeout


@pytest.mark.parametrize(
    "timeout", [0.5, 0, -1, 0.999, 90 * 86_400 + 1, 1e308, 10**400, True, False, "600", "", None, [600], {}]
)
def test_any_other_timeout_is_refused_by_name(timeout: Any) -> None:
    assert wrong(timeout_s=timeout) == {"timeout_s"}


@pytest.mark.parametrize(
    "reason", ["x", "🔒", "验证码", "هنا", "a\nb", "-", "x" * MAX_REASON, "🔒" * MAX_REASON]
)
def test_any_words_are_a_reason(reason: str) -> None:
    assert read(reason=reason).reason == reason


BLANK = {
    "nothing": "",
    "spaces": "   ",
    "line ends": "\n\r\n\t",
    "no-break spaces": "\u00a0\u202f\u3000",
    "zero-width spaces": "\u200b\u200c\u200d\u2060\ufeff",
    "a soft hyphen": "\u00ad",
    "directions": "\u200e\u200f\u202a\u202e\u2066\u2069",
    "control characters": "\x00\x07\x1b",
    "private use": "\ue000",
    "variation selectors": "\ufe0f\ufe0e",
    "a grapheme joiner": "\u034f",
    "hangul fillers": "\u115f\u1160\u3164\uffa0",
    "an empty braille pattern": "\u2800",
    "accents on nothing": "\u0301\u0308",
}


@pytest.mark.parametrize("what", BLANK)
def test_a_reason_that_shows_nothing_is_refused(what: str) -> None:
    assert wrong(reason=BLANK[what]) == {"reason"}
    assert wrong(reason=BLANK[what] * 3 + " ") == {"reason"}


@pytest.mark.parametrize("reason", ["x" * (MAX_REASON + 1), 5, True, None, ["x"], {"x": 1}])
def test_a_reason_that_is_too_long_or_no_text_is_refused(reason: Any) -> None:
    assert wrong(reason=reason) == {"reason"}


def test_a_question_is_another_name_for_the_reason_of_an_ask() -> None:
    request = OpenRequest.model_validate_json('{"kind": "ask", "question": "Which address?"}')
    assert (request.kind, request.reason) == (Kind.ASK, "Which address?")
    assert wrong(kind="ask", question="Which address?") == {"body"}
    assert "question" in wrong(question="Which address?"), "a wall has no question"


@pytest.mark.parametrize("kind", ["approve", "CLEAR", "", None, 1, "clear "])
def test_any_other_kind_is_refused(kind: Any) -> None:
    assert "kind" in wrong(kind=kind)


BAD_URLS = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "ftp://agent.example/x",
    "file:///etc/passwd",
    "//agent.example/x",
    "/resume",
    "agent.example",
    "",
    "http://",
    "https:///x",
    "https://user@agent.example/",
    "https://user:pw@agent.example/",
    "https://:pw@agent.example/",
    "https://@agent.example/",
    "https://agent.example/a b",
    " https://agent.example/",
    "https://agent.example/\n",
    "https://agent.example/\x00",
    "https://agent.example/\u202e",
    "https://agent.example\\@evil.example/",
    "https://agent.example:0/",
    "https://agent.example:99999/",
    "https://agent.example:x/",
    "https://[::1/",
    "https://agent.example/" + "a" * 2_048,
]


@pytest.mark.parametrize("field", ["live_view_url", "resume_url", "outcome_url"])
@pytest.mark.parametrize("url", BAD_URLS)
def test_an_address_that_is_no_plain_http_one_is_refused_by_name(field: str, url: str) -> None:
    assert wrong(**{field: url}) == {field}


@pytest.mark.parametrize(
    "url",
    [
        "https://agent.example",
        "http://agent.example:8080/a?b=c#d",
        "HTTPS://AGENT.EXAMPLE/",
        "https://bücher.example/ü",
    ],
)
def test_an_ordinary_address_is_taken(url: str) -> None:
    assert read(live_view_url=url).live_view_url == url


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", ""),
        ("label", " "),
        ("label", "a\nb"),
        ("label", "x" * 201),
        ("label", 5),
        ("resume_token", ""),
        ("resume_token", "a b"),
        ("resume_token", "a\r\nX-Evil: 1"),
        ("resume_token", "é"),
        ("resume_token", "t" * 1_025),
        ("metadata", []),
        ("metadata", "x"),
        ("metadata", None),
        ("metadata", {"x": "y" * MAX_METADATA}),
        ("metadata", {"x": "ü" * (MAX_METADATA // 2)}),
        ("if_agent_gone", "maybe"),
        ("if_agent_gone", None),
        ("on_exhausted", "retry"),
        ("notify", "nobody"),
        ("notify", None),
        ("max_timeout_s", 599),
        ("max_timeout_s", 90 * 86_400 + 1),
        ("max_timeout_s", True),
        ("to", "+12125550123"),
        ("number", "+12125550123"),
        ("contacts", ["ada"]),
        ("id", "ho_x"),
        ("state", "resolved"),
        ("agent", "somebody-else"),
    ],
)
def test_a_field_that_is_wrong_or_unknown_is_refused_by_name(field: str, value: Any) -> None:
    """Promise 8: nothing in a request names a number; promise 9: nor who asks."""
    assert wrong(**{field: value}) == {field}


def test_every_wrong_field_is_told_at_once() -> None:
    assert wrong(kind="x", reason="", timeout_s="x", nonsense=1) == {
        "kind",
        "reason",
        "timeout_s",
        "nonsense",
    }


def test_metadata_comes_back_as_it_was() -> None:
    given = {"order": 1009, "deep": [{"a": [None, True, 1.5, "ü\u2028🔒", 2**53 + 1]}], "": ""}
    handoff = opening(metadata=given).handoff
    shown = json.loads(
        HandoffView.of(Handoff.model_validate_json(handoff.model_dump_json())).model_dump_json()
    )
    assert shown["metadata"] == given


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", [Kind.CLEAR, Kind.ASK])
def test_a_handoff_is_shown_without_secrets_and_numbers_in_every_state(state: State, kind: Kind) -> None:
    handoff = handoff_in(state, kind, resume_url="https://agent.example/r", resume_token="sesame")
    text = HandoffView.of(handoff).model_dump_json()
    shown = json.loads(text)
    assert set(shown) == set(HandoffView.model_fields)
    assert "sesame" not in text and "2125550123" not in text
    assert not {"api_key", "resume_token", "rev", "seq", "position"} & set(shown)
    assert shown["created_at"].endswith("Z") and (shown["closed_at"] is None) == (not handoff.closed)


def test_views_show_nothing_that_is_not_declared() -> None:
    change = opening()
    event = json.loads(EventView.of(change.events[0]).model_dump_json())
    assert set(event) == set(EventView.model_fields)
    attempt = json.loads(AttemptView.of(change.handoff.attempts[0]).model_dump_json())
    assert set(attempt) == set(AttemptView.model_fields)
    assert DecisionView.of(None) is None
