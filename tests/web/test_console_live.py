"""How the operator's pages stay fresh: what ends their wait, what does not, and what they then ask for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, cast

import httpx2
import pytest
from flask import Response

from handoff.waiting import ANY
from handoff.web import console_news
from tests.world.waits import until

from .browser import Page
from .conftest import MakeSite
from .operators_browser import rows
from .site import Site

OPEN = {
    "HANDOFF_DEV": "1",
    "HANDOFF_OPEN_CONSOLE": "1",
    "HANDOFF_PUBLIC_URL": "http://127.0.0.1:8000",
    "HANDOFF_WAITERS_PER_WORKER": "1",  # so that `waiting.full` says that somebody waits
}


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    return make_site(**OPEN)


@pytest.fixture
def http(site: Site) -> Iterator[httpx2.Client]:
    with site.serving() as url:
        with httpx2.Client(base_url=url, trust_env=False, timeout=20) as client:
            yield client


class Live(Page):
    """A page that was loaded over real HTTP, with what its script reads from it."""

    def __init__(self, http: httpx2.Client, path: str) -> None:
        answer = http.get(path)
        assert answer.status_code == 200, answer.text
        super().__init__(cast(Any, Response(answer.content)))
        self.data = next(has for _, has in self.tags if has.get("id") == "page")
        self.news = f"{self.data['data-news']}&seen={self.data['data-seen']}"


def waiting(site: Site, http: httpx2.Client, news: str) -> Future[httpx2.Response]:
    """A page that is waiting for its news by now."""
    future: Future[httpx2.Response] = Future()

    def ask() -> None:
        try:
            future.set_result(http.get(news))
        except BaseException as error:  # raised where the future is asked
            future.set_exception(error)

    threading.Thread(target=ask, name="page", daemon=True).start()
    until(lambda: site.services.waiting.full or future.done(), 10, "somebody to wait")
    assert not future.done(), future.result().text
    return future


def test_a_new_handoff_ends_the_lists_wait_and_is_in_what_it_asks_for_next(
    site: Site, http: httpx2.Client
) -> None:
    first = site.agent.opened()
    page = Live(http, "/")
    news = waiting(site, http, page.news)
    site.now += 1
    second = site.agent.opened()
    answer = news.result(10)
    assert answer.status_code == 200 and answer.headers["Cache-Control"] == "no-store"
    fresh = Live(http, f"{page.data['data-again']}&fragment=1")
    assert rows(fresh) == [second, first]
    assert fresh.data["data-seen"] == answer.json()["seen"]
    assert "<html" not in fresh.html and "<script" not in fresh.html
    assert not site.services.waiting.full, "it has let go of its place"


def test_any_change_of_a_handoff_that_is_shown_ends_the_wait(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    news = waiting(site, http, Live(http, "/").news)
    site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    assert news.result(10).status_code == 200
    fresh = Live(http, "/?fragment=1")
    keys = {has["id"]: has["data-key"] for tag, has in fresh.tags if tag == "tr" and has.get("id")}
    assert keys == {handoff: str(site.record(handoff).rev)}, "so that only what changed is swapped"


def test_a_change_that_another_process_made_ends_the_wait_too(site: Site, http: httpx2.Client) -> None:
    """It comes through the stream of wake-ups only."""
    handoff = site.agent.opened()
    news = waiting(site, http, Live(http, "/").news)
    store = site.services.store
    listeners, store._listeners = store._listeners, []
    try:
        site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    finally:
        store._listeners = listeners
    assert news.result(10).status_code == 200


def test_a_change_of_what_is_filtered_out_does_not_end_the_wait(site: Site, http: httpx2.Client) -> None:
    mine = site.agent.opened()
    news = waiting(site, http, Live(http, "/?agent=shopper").news)
    for _ in range(3):
        site.other.opened()
    site.operator.post(f"/v1/handoffs/{mine}/refusal")
    seen = news.result(10).json()["seen"]
    assert Live(http, "/?agent=shopper").data["data-seen"] == seen


def test_a_wait_that_is_over_answers_with_nothing(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    for path in ("/", f"/handoffs/{handoff}"):
        answer = http.get(f"{Live(http, path).news}&wait=0.2")
        assert (answer.status_code, answer.content) == (204, b"")
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_what_was_missed_before_the_wait_began_ends_it_at_once(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    pages = [Live(http, "/"), Live(http, f"/handoffs/{handoff}")]
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    for page in pages:
        assert http.get(page.news).status_code == 200


def test_one_handoffs_page_waits_for_that_handoff_alone(site: Site, http: httpx2.Client) -> None:
    handoff, other = site.agent.opened(), site.agent.opened()
    page = Live(http, f"/handoffs/{handoff}")
    news = waiting(site, http, page.news)
    site.operator.post(f"/v1/handoffs/{other}/refusal")
    site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    assert news.result(10).json() == {"seen": str(site.record(handoff).rev)}
    fresh = Live(http, f"{page.data['data-again']}&fragment=1")
    assert "ops has it" in fresh.words
    lines = [has["id"] for tag, has in fresh.tags if tag == "li"]
    assert lines == [f"e{event.seq}" for event in site.events(handoff)]


def test_when_there_is_no_room_it_is_told_when_to_come_back(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    page = Live(http, "/")
    first = waiting(site, http, page.news)
    turned_away = http.get(page.news)
    assert turned_away.status_code == 204 and int(turned_away.headers["Retry-After"]) >= 1
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    assert first.result(10).status_code == 200


def test_a_server_that_stops_lets_every_page_go(site: Site, http: httpx2.Client) -> None:
    site.agent.opened()
    news = waiting(site, http, Live(http, "/").news)
    site.services.waiting.stop()
    assert news.result(10).status_code == 204


def test_a_handoff_that_is_gone_ends_the_wait(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    page = Live(http, f"/handoffs/{handoff}")
    site.raw.delete(site.services.store.keys.handoff(handoff))
    assert http.get(page.news).status_code == 404


def test_a_page_that_goes_before_its_wait_began_leaves_its_place(site: Site) -> None:
    answer = console_news.news(site.services, ANY, "x", lambda: "x", 40)
    assert site.services.waiting.full
    answer({"REQUEST_METHOD": "GET"}, lambda *_: print).close()  # type: ignore[attr-defined]  # PEP 3333
    assert not site.services.waiting.full


def test_who_waits_for_any_change_costs_the_agents_that_wait_no_reading(site: Site) -> None:
    """Woken without news: the store is not read for them with every change."""
    handoff = site.agent.opened()
    with site.services.waiting.register(ANY, closed_only=False) as first:
        assert first.wait(10), "the reader of wake-ups has begun, which wakes everybody"
    with site.services.waiting.register(ANY, closed_only=False) as onlooker:
        with site.services.waiting.register(handoff, closed_only=True) as agent:
            site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
            assert onlooker.wait(10) and onlooker.take_news() is None
            assert not agent.wait(0.05)
            site.operator.post(f"/v1/handoffs/{handoff}/refusal")
            assert onlooker.wait(10) and agent.wait(10)


def test_a_token_is_another_for_another_page(site: Site) -> None:
    handoff = site.record(site.agent.opened())
    later = handoff.model_copy(update={"rev": handoff.rev + 1})
    tokens = [
        console_news.list_token(*shown)
        for shown in (((), None), ((handoff,), None), ((later,), None), ((handoff,), "next"))
    ]
    assert len(set(tokens)) == 4
    assert json.dumps(tokens[0]) == f'"{tokens[0]}"', "it goes into an attribute and a query as it is"
