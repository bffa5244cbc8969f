"""Waiting for the close: at once, woken, over, full, shut down; and nothing that happens then is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import httpx2
import pytest

from handoff.effects import EffectKind, timer_id
from handoff.web import waits
from tests.world.waits import until

from .conftest import MakeSite
from .site import AGENT_KEY, Site, fields


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    """With room for one waiter, so that `waiting.full` says that somebody waits."""
    return make_site(HANDOFF_WAITERS_PER_WORKER="1")


@pytest.fixture
def http(site: Site) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {AGENT_KEY}"}
    with site.serving() as url:
        with httpx2.Client(base_url=url, headers=headers, trust_env=False, timeout=20) as client:
            yield client


def waiting(site: Site, http: httpx2.Client, path: str, **headers: str) -> Future[httpx2.Response]:
    """A request that is waiting by now."""
    future: Future[httpx2.Response] = Future()

    def ask() -> None:
        try:
            future.set_result(http.get(path, headers=headers))
        except BaseException as error:  # raised where the future is asked
            future.set_exception(error)

    threading.Thread(target=ask, name="agent", daemon=True).start()
    until(lambda: site.services.waiting.full or future.done(), 10, "somebody to wait")
    assert not future.done(), future.result().text
    return future


def state(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200
    return answer.json()["state"]


def test_a_closed_handoff_is_shown_at_once_however_long_one_would_wait(site: Site) -> None:
    handoff = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    for query in ("?wait=50", "?wait=1e9", "?wait=0"):
        answer = site.agent.get(f"/v1/handoffs/{handoff}{query}")
        assert answer.get_json()["state"] == "declined"
        assert "Preference-Applied" not in answer.headers


def test_whoever_waits_is_woken_by_the_close_and_gets_the_answer(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    answer = waiting(site, http, f"/v1/handoffs/{handoff}?wait=40")
    site.operator.post(f"/v1/handoffs/{handoff}/resolution", {"answer": "1 Ada Street"})
    shown = answer.result(10)
    assert state(shown) == "resolved" and shown.json()["result"]["answer"] == "1 Ada Street"
    assert shown.headers["Preference-Applied"] == "wait=40"
    assert not site.services.waiting.full, "it has let go of its place"


def test_what_leaves_it_open_does_not_end_the_wait(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    answer = waiting(site, http, f"/v1/handoffs/{handoff}?wait=40")
    site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    other = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{other}/refusal")
    site.operator.post(f"/v1/handoffs/{handoff}/resolution")
    assert state(answer.result(10)) == "resolved"


def test_a_wait_that_is_over_answers_with_the_present_state(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    answer = http.get(f"/v1/handoffs/{handoff}?wait=0.2")
    assert state(answer) == "escalating" and answer.headers["Preference-Applied"] == "wait=0.2"
    assert "Retry-After" not in answer.headers


def test_prefer_does_the_same_as_the_query_and_the_query_counts_if_both_are_there(
    site: Site, http: httpx2.Client
) -> None:
    handoff = site.agent.opened()
    for prefer in (
        "wait=0.2",
        'wait="0.2"',
        "respond-async, WAIT = 0.2",
        "wait=0.2; foo=bar",
        "x, wait=0.2,",
    ):
        answer = http.get(f"/v1/handoffs/{handoff}", headers={"Prefer": prefer})
        assert answer.headers["Preference-Applied"] == "wait=0.2", prefer
    both = http.get(f"/v1/handoffs/{handoff}?wait=0.1", headers={"Prefer": "wait=40"})
    assert both.headers["Preference-Applied"] == "wait=0.1"


def test_a_preference_that_makes_no_sense_is_ignored(site: Site) -> None:
    handoff = site.agent.opened()
    for prefer in (
        "wait",
        "wait=",
        "wait=soon",
        "wait=-1",
        "wait=nan",
        "wait=inf",
        "waiting=5",
        "",
        ",;=",
        "ü",
    ):
        answer = site.agent.get(f"/v1/handoffs/{handoff}", headers={"Prefer": prefer})
        assert answer.status_code == 200 and "Preference-Applied" not in answer.headers, prefer


def test_a_wait_that_is_none_is_422_and_named(site: Site) -> None:
    handoff = site.agent.opened()
    for text in (
        "nan",
        "-1",
        "-0.1",
        "inf",
        "-inf",
        "1e999",
        "soon",
        "",
        " ",
        "1,5",
        "0x10",
        "1_0",
        "٢",
        "5s",
        "%00",
    ):
        assert fields(site.agent.get(f"/v1/handoffs/{handoff}?wait={text}")) == {"wait"}, text


def test_no_wait_is_longer_than_any_common_proxy_allows(site: Site) -> None:
    """nginx cuts at 60 s. Whatever is asked for, and the answer says what was done."""
    assert waits.LONGEST_WAIT_S <= 50
    for asked in ("51", "60", "90", "1e9"):
        with site.app.test_request_context(f"/?wait={asked}"):
            assert waits.asked_for() == 50
        with site.app.test_request_context("/", headers={"Prefer": f"wait={asked}"}):
            assert waits.asked_for() == 50


def test_when_there_is_no_room_the_present_state_comes_at_once_with_a_time_to_come_back(
    site: Site, http: httpx2.Client
) -> None:
    handoff = site.agent.opened()
    first = waiting(site, http, f"/v1/handoffs/{handoff}?wait=40")
    turned_away = http.get(f"/v1/handoffs/{handoff}?wait=40")
    assert state(turned_away) == "escalating"
    assert int(turned_away.headers["Retry-After"]) >= 1
    assert not first.done()
    assert http.get(f"/v1/handoffs/{handoff}").status_code == 200, "who does not wait always gets in"
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    assert state(first.result(10)) == "declined"


def test_a_server_that_stops_answers_every_wait_with_the_state_as_it_is(
    site: Site, http: httpx2.Client
) -> None:
    handoff = site.agent.opened()
    answer = waiting(site, http, f"/v1/handoffs/{handoff}?wait=1000")
    site.services.waiting.stop()
    shown = answer.result(10)
    assert state(shown) == "escalating" and shown.headers["Preference-Applied"] == "wait=50"
    assert state(http.get(f"/v1/handoffs/{handoff}?wait=40")) == "escalating", "and takes no new waits"


def test_a_broken_connection_to_redis_loses_no_wake_up(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    answer = waiting(site, http, f"/v1/handoffs/{handoff}?wait=40")
    site.raw.client_kill_filter(_type="normal", skipme=True)
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    assert state(answer.result(15)) == "declined"


def test_two_who_wait_for_one_handoff_are_both_woken(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_WAITERS_PER_WORKER="2")
    handoff = site.agent.opened()
    headers = {"Authorization": f"Bearer {AGENT_KEY}"}
    found: list[Any] = []

    def wait() -> None:
        found.append(
            httpx2.get(f"{url}/v1/handoffs/{handoff}?wait=40", headers=headers, trust_env=False, timeout=20)
        )

    with site.serving() as url:
        both = [threading.Thread(target=wait) for _ in range(2)]
        for thread in both:
            thread.start()
        until(lambda: site.services.waiting.full, 10, "both to wait")
        site.operator.post(f"/v1/handoffs/{handoff}/refusal")
        for thread in both:
            thread.join(10)
    assert [state(one) for one in found] == ["declined", "declined"]


def test_an_agent_that_waits_is_not_taken_for_gone(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened(if_agent_gone="cancel")
    row = timer_id(EffectKind.AGENT_GONE, handoff)
    due = site.services.store.keys.due
    assert site.raw.zscore(due, row) == site.now + 90_000
    site.now += 80_000
    http.get(f"/v1/handoffs/{handoff}?wait=0.1")
    assert site.raw.zscore(due, row) == site.now + 90_100


def test_a_handoff_that_closes_between_the_look_and_the_wait_is_not_missed(site: Site) -> None:
    """The agent was registered, its handoff was looked at and found open, then it closed, then it waits."""
    handoff = site.agent.opened()
    with site.services.waiting.register(handoff, closed_only=True) as waiter:
        site.operator.post(f"/v1/handoffs/{handoff}/refusal")
        answer = waits.LongPoll(site.services, waiter, 40)({"REQUEST_METHOD": "GET"}, lambda *_: print)
        assert json.loads(b"".join(answer))["state"] == "declined"


def test_an_agent_that_hangs_up_before_its_wait_began_leaves_its_place(site: Site) -> None:
    handoff = site.agent.opened()
    waiter = site.services.waiting.register(handoff, closed_only=True)
    answer = waits.LongPoll(site.services, waiter, 40)({"REQUEST_METHOD": "GET"}, lambda *_: print)
    answer.close()
    site.services.waiting.limit = 1
    assert not site.services.waiting.full
