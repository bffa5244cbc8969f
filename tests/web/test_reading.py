"""Reading over HTTP: one handoff, lists with filters and cursors, the timeline, HEAD and OPTIONS."""

from __future__ import annotations

import re
from typing import Any

import pytest

from .site import Site, check_problem, fields


def listed(site: Site, query: str = "", caller: Any = None) -> list[str]:
    """Ids over all pages."""
    caller, found, cursor = caller or site.operator, [], ""
    while True:
        page = caller.get(f"/v1/handoffs?limit=2{query}{cursor}").get_json()
        found += [one["id"] for one in page["handoffs"]]
        if page["next_cursor"] is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def test_lists_are_newest_first_with_each_filter_and_everybody_sees_their_own(site: Site) -> None:
    made: dict[str, tuple[str, str]] = {}
    for number in range(9):
        site.now += 5
        caller, agent = ((site.agent, "shopper"), (site.other, "other"))[number % 2]
        handoff = caller.opened()
        state = "escalating"
        if number % 3 == 0:
            site.operator.post(f"/v1/handoffs/{handoff}/refusal")
            state = "declined"
        made[handoff] = (agent, state)
    newest_first = list(reversed(made))
    assert listed(site) == newest_first
    for agent in ("shopper", "other"):
        theirs = [one for one in newest_first if made[one][0] == agent]
        assert listed(site, f"&agent={agent}") == theirs
        assert listed(site, "", site.agent if agent == "shopper" else site.other) == theirs
        for state in ("declined", "escalating", "expired"):
            assert listed(site, f"&agent={agent}&state={state}") == [
                one for one in theirs if made[one][1] == state
            ]
    assert listed(site, "&state=declined") == [one for one in newest_first if made[one][1] == "declined"]
    assert listed(site, "&agent=nobody") == []


def test_an_agent_that_asks_for_anothers_list_is_refused_and_may_name_itself(site: Site) -> None:
    site.agent.opened()
    assert site.agent.get("/v1/handoffs?agent=shopper").status_code == 200
    answer = site.agent.get("/v1/handoffs?agent=other")
    assert (answer.status_code, check_problem(answer)["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=bogus", "state"),
        ("state=", "state"),
        ("state=Escalating", "state"),
        ("cursor=", "cursor"),
        ("cursor=x", "cursor"),
        ("cursor=-1", "cursor"),
        ("cursor=0000000000000:ho_" + "0" * 21, "cursor"),
        ("cursor=0000000000000:ho_" + "0" * 22 + "%0A", "cursor"),
        ("cursor=%00", "cursor"),
        ("cursor=%5B1700000000000:ho_" + "0" * 22, "cursor"),
        ("cursor=" + "9" * 5_000, "cursor"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("limit=1e2", "limit"),
        ("limit=1.5", "limit"),
        ("limit=" + "9" * 400, "limit"),
        ("agent=" + "a" * 65, "agent"),
        ("sort=oldest", "sort"),
        ("page=2", "page"),
    ],
)
def test_a_filter_that_is_none_is_422_and_named(site: Site, query: str, field: str) -> None:
    assert fields(site.operator.get(f"/v1/handoffs?{query}")) == {field}


def test_the_timeline_is_oldest_first_and_goes_on_after_the_last_id_seen(site: Site) -> None:
    handoff = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    events = site.agent.get(f"/v1/handoffs/{handoff}/events").get_json()["events"]
    assert [(one["seq"], one["type"]) for one in events] == [
        (1, "opened"),
        (2, "step_started"),
        (3, "declined"),
    ]
    assert {one["v"] for one in events} == {1} and events[0]["by"]["name"] == "shopper"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["at"]) for one in events)
    for last, rest in [("0", 3), ("2", 1), ("3", 0), ("999999", 0), (" 2 ", 1), ("", 3)]:
        headers = {"Last-Event-ID": last}
        after = site.agent.get(f"/v1/handoffs/{handoff}/events", headers=headers).get_json()["events"]
        assert after == events[3 - rest :]


@pytest.mark.parametrize("last", ["-1", "x", "1.5", "1e3", "٣", "9" * 13, "1-0", "+", "$", "1 2", "ü"])
def test_a_last_event_id_that_is_none_is_422_and_named(site: Site, last: str) -> None:
    handoff = site.agent.opened()
    for accept in ("application/json", "text/event-stream"):
        headers = {"Last-Event-ID": last.encode().decode("latin-1"), "Accept": accept}
        assert fields(site.agent.get(f"/v1/handoffs/{handoff}/events", headers=headers)) == {"Last-Event-ID"}


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        (None, False),
        ("*/*", False),
        ("application/json", False),
        ("text/event-stream", True),
        ("text/event-stream, */*", True),
        ("application/json;q=0.1, text/event-stream", True),
        ("text/event-stream;q=0.1, application/json", False),
        ("text/event-stream;q=0", False),
        ("image/png", False),
        ("", False),
        (",,,;;;===", False),
        ("text/*", True),
        ("a" * 5_000, False),
    ],
)
def test_the_timeline_is_a_stream_only_for_who_would_rather_have_one(
    site: Site, accept: str | None, streams: bool
) -> None:
    handoff = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    headers = {} if accept is None else {"Accept": accept}
    answer = site.agent.get(f"/v1/handoffs/{handoff}/events", headers=headers)
    assert answer.status_code == 200
    assert (answer.mimetype == "text/event-stream") == streams


def test_head_answers_like_get_without_a_body_and_changes_nothing(site: Site) -> None:
    handoff = site.agent.opened()
    before = site.dump()
    for path in ("/v1/handoffs", f"/v1/handoffs/{handoff}", f"/v1/handoffs/{handoff}/events"):
        head, get = site.agent("HEAD", path), site.agent.get(path)
        assert (head.status_code, head.get_data()) == (200, b"")
        assert head.content_length == get.content_length
    head = site.agent("HEAD", f"/v1/handoffs/{handoff}/events", headers={"Accept": "text/event-stream"})
    assert head.status_code == 200
    assert site.dump() == before


def test_options_tells_the_methods_without_a_key(site: Site) -> None:
    for path, methods in {"/v1/handoffs": {"GET", "POST"}, "/v1/handoffs/x/refusal": {"POST"}}.items():
        answer = site.anybody("OPTIONS", path)
        assert answer.status_code == 200
        assert set(answer.headers["Allow"].split(", ")) - {"OPTIONS", "HEAD"} == methods


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "BREW"])
def test_a_method_that_is_none_is_405_with_what_is_allowed(site: Site, method: str) -> None:
    handoff = site.agent.opened()
    for path in ("/v1/handoffs", f"/v1/handoffs/{handoff}", f"/v1/handoffs/{handoff}/refusal"):
        answer = site.agent(method, path)
        assert (answer.status_code, check_problem(answer)["code"]) == (405, "method_not_allowed")
        assert set(answer.headers["Allow"].split(", ")) <= {"GET", "HEAD", "OPTIONS", "POST"}


def test_nothing_of_a_secret_is_in_what_an_agent_can_read(site: Site) -> None:
    handoff = site.agent.opened(
        resume_url="https://a.example/r", outcome_url="https://a.example/o", resume_token="sesame"
    )
    link = site.link(handoff)
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    for path in (f"/v1/handoffs/{handoff}", f"/v1/handoffs/{handoff}/events", "/v1/handoffs"):
        text = site.agent.get(path).text
        assert not any(secret in text for secret in ("sesame", link, "2125550123", "idem", "api_key"))
