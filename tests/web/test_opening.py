"""Opening a handoff over HTTP: what is taken, what is refused and how, and keys that name one question."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from handoff.moments import DAY
from tests.store.records import at_once
from workers import clock

from .conftest import MakeSite
from .site import AGENT_KEY, REASON, Site, check_problem, fields

GOOD: dict[str, Any] = {"kind": "clear", "reason": REASON}


def test_a_reason_and_a_kind_are_enough_and_people_are_reached_at_once(site: Site) -> None:
    answer = site.agent.post("/v1/handoffs", GOOD)
    opened = answer.get_json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"https://handoff.example.com/v1/handoffs/{opened['id']}"
    assert (opened["state"], opened["timeout_s"], opened["settlement"]) == ("escalating", 600, None)
    assert [(one["contact"], one["channel"]) for one in opened["attempts"]] == [
        ("ada", "call"),
        ("ada", "text"),
    ]
    assert len(site.effects("place_call")) == len(site.effects("send_text")) == 1


def test_a_question_may_be_called_question(site: Site) -> None:
    opened = site.agent.open(kind="ask", reason="Which address?")
    other = site.agent.post("/v1/handoffs", {"kind": "ask", "question": "Which address?"}).get_json()
    assert other["reason"] == opened["reason"] == "Which address?"


WRONG: dict[str, list[Any]] = {
    "kind": ["approve", "CLEAR", "", 1, None, ["clear"]],
    "reason": ["", "   ", "\u200b\u200c\u2060\ufeff", "x" * 2_001, 5, True, None, ["x"], {"a": "b"}],
    "timeout_s": [0.5, 0, -1, 90 * 86_400 + 1, 1e308, True, False, "600", "", None, [], {}, 10**400],
    "live_view_url": [
        "javascript:alert(1)",
        "ftp://a.example/",
        "https://u:p@a.example/",
        "https://a.example/a b",
    ],
    "resume_url": [
        "javascript:alert(1)",
        "ftp://a.example/",
        "https://u@a.example/",
        "https://a.example\\b",
        "/x",
    ],
    "outcome_url": ["data:,x", "https://", "https://a.example:0/", "https://a.example/\n", 7],
    "resume_token": ["", "a b", "a\r\nb", "\u00fc", "t" * 1_025],
    "label": ["", "a\nb", "x" * 201],
    "metadata": [[], "x", {"x": "y" * 16_385}],
    "if_agent_gone": ["maybe", True],
    "on_exhausted": ["retry", None],
    "notify": ["nobody", None, False],
    "max_timeout_s": [599, 90 * 86_400 + 1, "600", True],
    "to": ["+12125550123"],
    "surprise": [None, 1],
    "": [1],
    "__proto__": [{}],
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_is_422_and_named_and_rings_nobody(site: Site, field: str) -> None:
    before = len(site.dump())
    for value in WRONG[field]:
        answer = site.agent.post("/v1/handoffs", GOOD | {field: value})
        assert fields(answer) == {field or "body"}, value
        assert check_problem(answer)["code"] == "invalid"
    assert len(site.dump()) == before and not site.effects("place_call")


@pytest.mark.parametrize("field", ["kind", "reason"])
def test_a_missing_field_is_422_and_named(site: Site, field: str) -> None:
    body = {name: value for name, value in GOOD.items() if name != field}
    assert fields(site.agent.post("/v1/handoffs", body)) == {field}


def test_reason_and_question_together_are_refused_in_words_that_name_both(site: Site) -> None:
    answer = site.agent.post("/v1/handoffs", {"kind": "ask", "reason": "a", "question": "b"})
    assert answer.status_code == 422
    detail = check_problem(answer)["detail"]
    assert "`reason`" in detail and "`question`" in detail


PRIVATE = [
    "http://127.0.0.1/",
    "http://localhost:8080/",
    "http://app.localhost/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://0/",
    "http://127.1/",
    "http://127.0.0.1./",
    "http://10.0.0.5/",
    "http://user@10.0.0.5/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
    "http://100.64.0.1/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://[64:ff9b::a00:5]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://127\u30020\u30020\u30021/",
    "http://printer.local/",
]


@pytest.mark.parametrize("field", ["resume_url", "outcome_url"])
def test_a_callback_into_the_private_network_is_refused_in_every_spelling(site: Site, field: str) -> None:
    for url in PRIVATE:
        assert fields(site.agent.post("/v1/handoffs", GOOD | {field: url})) == {field}, url


def test_a_refusal_does_not_repeat_a_password_from_the_url(site: Site) -> None:
    answer = site.agent.post("/v1/handoffs", GOOD | {"resume_url": "https://u:hunter2@a.example/"})
    assert "hunter2" not in answer.get_data(as_text=True)


def test_a_private_callback_is_taken_where_the_operator_allows_it(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_ALLOW_PRIVATE_CALLBACKS="1")
    assert site.agent.open(resume_url="http://127.0.0.1:9/r")["resume_url"] == "http://127.0.0.1:9/r"
    assert fields(site.agent.post("/v1/handoffs", GOOD | {"resume_url": "http://u@127.0.0.1/"})) == {
        "resume_url"
    }


NOT_JSON: dict[str, bytes] = {
    "words": b"hello",
    "half an object": b'{"kind": "clear"',
    "single quotes": b"{'kind': 'clear'}",
    "a comment": b'{"kind": "clear"} // x',
    "a comma too many": b'{"kind": "clear",}',
    "two values": b"{}{}",
    "NaN": b'{"timeout_s": NaN}',
    "Infinity": b'{"timeout_s": -Infinity}',
    "a number beyond all numbers": b'{"timeout_s": 1e999}',
    "one in the metadata": b'{"metadata": {"x": -1e999}}',
    "a name twice": b'{"reason": "a", "reason": "b"}',
    "a name twice inside": b'{"metadata": {"a": 1, "a": 2}}',
    "a lone surrogate": b'{"reason": "\\ud800"}',
    "a lone surrogate as a name": b'{"\\udfff": 1}',
    "no UTF-8": b'{"reason": "\xff\xfe"}',
    "UTF-8 of a surrogate": b'{"reason": "\xed\xa0\x80"}',
    "overlong UTF-8": b'{"reason": "\xc0\xaf"}',
    "UTF-16": '{"reason": "x"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"reason": "x"}',
    "a raw line end in a text": b'{"reason": "a\nb"}',
    "a NUL": b"\x00",
    "white space": b"  \n ",
    "a hundred thousand brackets": b"[" * 100_000,
    "closed ones": b"[" * 100_000 + b"]" * 100_000,
    "a hundred thousand objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a form": b"kind=clear&reason=x",
    "an endless number": b'{"timeout_s": ' + b"9" * 100_000 + b"}",
}


@pytest.mark.parametrize("how", NOT_JSON)
def test_what_is_not_json_is_400_and_says_so(site: Site, how: str) -> None:
    answer = site.agent.send(NOT_JSON[how])
    assert answer.status_code == 400
    assert check_problem(answer)["code"] == "bad_request"


@pytest.mark.parametrize("raw", [b"[]", b"null", b"1", b'"x"', b"true", b"[{}]"])
def test_json_that_is_no_object_is_422(site: Site, raw: bytes) -> None:
    assert site.agent.send(raw).status_code == 422


def test_a_body_of_over_a_megabyte_is_413_and_of_just_under_one_is_read(site: Site) -> None:
    body = json.dumps(GOOD | {"padding": ""}).encode()
    fits = body[:-2] + b"x" * (1_048_576 - len(body)) + body[-2:]
    assert fields(site.agent.send(fits)) == {"padding"}
    answer = site.agent.send(fits + b" ")
    assert (answer.status_code, check_problem(answer)["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "nonsense",
        "",
    ],
)
def test_json_is_read_as_json_whatever_it_is_called(site: Site, content_type: str) -> None:
    """`curl -d` calls everything a form."""
    answer = site.agent("POST", "/v1/handoffs", data=json.dumps(GOOD).encode(), content_type=content_type)
    assert answer.status_code == 201


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "multipart/form-data;boundary=x"]
)
def test_a_real_form_is_400(site: Site, content_type: str) -> None:
    for raw in (
        b"kind=clear&reason=x",
        b'--x\r\nContent-Disposition: form-data; name="kind"\r\n\r\nclear\r\n--x--',
    ):
        answer = site.agent("POST", "/v1/handoffs", data=raw, content_type=content_type)
        assert answer.status_code == 400


def test_whatever_nesting_is_taken_can_be_shown_listed_called_back_and_purged(site: Site) -> None:
    """Four readers of JSON touch a record; none may choke on what another let through."""
    taken = 0
    for depth in (10, 50, 100, 120, 150, 180, 190, 195, 198, 200, 220, 250, 300, 500, 900, 1_100):
        nested = '{"a":[' * (depth // 2) + "7" + "]}" * (depth // 2)
        metadata = '"metadata":{"n":' + nested + "}"
        raw = '{"kind":"clear","reason":"x","resume_url":"https://a.example/",' + metadata + "}"
        answer = site.agent.send(raw.encode())
        assert answer.status_code in (201, 400, 422), depth
        if answer.status_code != 201:
            continue
        taken += 1
        handoff = answer.get_json()["id"]
        assert metadata in site.agent.get(f"/v1/handoffs/{handoff}").text
        assert site.agent.get("/v1/handoffs").status_code == 200
        assert site.operator.post(f"/v1/handoffs/{handoff}/resolution").status_code == 200
        assert site.agent.get(f"/v1/handoffs/{handoff}/events").status_code == 200
        site.now += 31 * DAY
        clock.tick(site.services)
        assert site.agent.get(f"/v1/handoffs/{handoff}").status_code == 404
    assert taken >= 3


def test_random_bytes_never_break_anything(site: Site) -> None:
    luck = random.Random(20261130)
    good = json.dumps(GOOD | {"timeout_s": 600, "metadata": {"a": [1, "ü", None]}}).encode()
    for _ in range(300):
        raw = bytearray(good)
        for _ in range(luck.randint(1, 6)):
            raw[luck.randrange(len(raw))] = luck.randrange(256)
        assert site.agent.send(bytes(raw)).status_code in (201, 400, 422)


# One key, one question


def test_the_same_key_and_body_find_the_same_handoff_and_ring_nobody_again(site: Site) -> None:
    first = site.agent.open(key="order-1009")
    calls = site.effects("place_call")
    again = site.agent.post("/v1/handoffs", GOOD, headers={"Idempotency-Key": "order-1009"})
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.get_json()["id"] == first["id"]
    assert site.effects("place_call") == calls
    assert len(site.agent.get("/v1/handoffs").get_json()["handoffs"]) == 1


def test_the_same_question_in_another_spelling_is_the_same_question(site: Site) -> None:
    first = site.agent.open(key="k")["id"]
    raw = (
        b'{ "timeout_s": 6e2,\n"reason": "' + REASON.replace("h", "\\u0068").encode() + b'", "kind":"clear" }'
    )
    again = site.agent.send(raw, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.get_json()["id"]) == (200, first)


def test_the_same_key_with_another_body_is_409_and_names_what_the_key_names(site: Site) -> None:
    first = site.agent.open(key="k")["id"]
    for other in ({"timeout_s": 601}, {"label": "x"}, {"kind": "ask"}, {"metadata": {"a": 1}}):
        answer = site.agent.post("/v1/handoffs", GOOD | other, headers={"Idempotency-Key": "k"})
        problem = check_problem(answer)
        assert (answer.status_code, problem["code"]) == (409, "idempotency_conflict")
        assert first in problem["detail"]
    assert len(site.effects("place_call")) == 1


def test_a_key_belongs_to_its_api_key(site: Site) -> None:
    ids = {caller.open(key="k")["id"] for caller in (site.agent, site.sibling, site.other)}
    assert len(ids) == 3


def test_a_refused_request_does_not_use_its_key_up(site: Site) -> None:
    headers = {"Idempotency-Key": "k"}
    assert site.agent.post("/v1/handoffs", GOOD | {"timeout_s": 0}, headers=headers).status_code == 422
    assert site.agent.post("/v1/handoffs", GOOD, headers=headers).status_code == 201


def test_a_key_finds_its_handoff_after_it_was_closed_too(site: Site) -> None:
    opened = site.agent.open(key="k")["id"]
    site.operator.post(f"/v1/handoffs/{opened}/resolution")
    again = site.agent.post("/v1/handoffs", GOOD, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.get_json()["state"]) == (200, "resolved")


def test_a_key_whose_handoff_was_deleted_says_so_and_never_rings_again(site: Site) -> None:
    opened = site.agent.open(key="k")["id"]
    site.operator.post(f"/v1/handoffs/{opened}/resolution")
    site.now += 31 * DAY
    clock.tick(site.services)
    before = len(site.effects("place_call"))
    again = site.agent.post("/v1/handoffs", GOOD, headers={"Idempotency-Key": "k"})
    assert (again.status_code, check_problem(again)["code"]) == (410, "answer_deleted")
    assert len(site.effects("place_call")) == before


def test_twenty_requests_with_one_key_at_once_open_one_handoff(site: Site) -> None:
    headers = {"Idempotency-Key": "k"}
    answers = at_once(20, lambda _: site.agent.post("/v1/handoffs", GOOD, headers=headers))
    assert {answer.get_json()["id"] for answer in answers} == {site.agent.open_id()}
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert len(site.effects("place_call")) == 1


def test_requests_without_a_key_are_requests_of_their_own(site: Site) -> None:
    assert site.agent.opened() != site.agent.opened()


@pytest.mark.parametrize("key", ["", "ü", "a\tb", "k" * 201, "\x7f"])
def test_a_key_that_is_none_is_422_and_named(site: Site, key: str) -> None:
    answer = site.agent.post("/v1/handoffs", GOOD, headers={"Idempotency-Key": key})
    assert fields(answer) == {"Idempotency-Key"}


def test_a_key_that_looks_like_redis_or_like_ours_stays_a_key(site: Site) -> None:
    for key in ("{a}:b|c", "*", "k" * 200, AGENT_KEY, "deleted|", " ", "@1"):
        first = site.agent.open(key=key)["id"]
        again = site.agent.post("/v1/handoffs", GOOD, headers={"Idempotency-Key": key})
        assert again.get_json()["id"] == first
