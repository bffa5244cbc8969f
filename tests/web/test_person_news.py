"""The open page hears what others did: at once, woken, over, full; and asking changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from html.parser import HTMLParser
from pathlib import Path

import httpx2
import pytest

from handoff.web import person_page
from tests.world.waits import until

from .browser import load, press
from .conftest import MakeSite
from .site import Site


@pytest.fixture
def http(site: Site) -> Iterator[httpx2.Client]:
    with site.serving() as url, httpx2.Client(base_url=url, trust_env=False, timeout=20) as client:
        yield client


def listening(site: Site, http: httpx2.Client, handoff: str, path: str) -> Future[httpx2.Response]:
    """A page that waits for news by now."""
    future: Future[httpx2.Response] = Future()
    before = site.services.waiting.count(handoff)

    def ask() -> None:
        try:
            future.set_result(http.get(path))
        except BaseException as error:  # raised where the future is asked
            future.set_exception(error)

    threading.Thread(target=ask, name="page", daemon=True).start()
    until(lambda: site.services.waiting.count(handoff) > before or future.done(), 10, "the page to listen")
    assert not future.done(), future.result().text
    return future


def words(html: str) -> str:
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_data = found.append  # type: ignore[method-assign]  # the shortest way to a page's words
    parser.feed(html)
    return " ".join(" ".join(found).split())


def test_a_page_that_has_seen_everything_hears_nothing(site: Site) -> None:
    handoff = site.agent.opened()
    answer = site.anybody.get(f"/h/{site.link(handoff)}/news?seen={site.record(handoff).rev}")
    assert answer.status_code == 204 and not answer.get_data()
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_page_that_has_seen_less_gets_the_part_that_changes(site: Site) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    seen = site.record(handoff).rev
    press(site, site.link(handoff, "ben"), "acknowledgement")
    news = site.anybody.get(f"/h/{link}/news?seen={seen}&wait=20").get_json()
    assert set(news) == {"rev", "html"} and news["rev"] == site.record(handoff).rev > seen
    assert "Ben is on it" in words(news["html"])
    assert news["html"].lstrip().startswith('<div id="person"') and "<html" not in news["html"]
    nonce = news["html"].split('name="nonce" value="')[1].split('"')[0]
    assert press(site, link, "resolution", nonce).status == 303, "its forms are as good as the page's"


def test_whoever_listens_is_told_as_soon_as_somebody_else_settles_it(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    path = f"/h/{site.link(handoff)}/news?seen={site.record(handoff).rev}&wait=20"
    page = listening(site, http, handoff, path)
    press(site, site.link(handoff, "ben"), "resolution")
    answer = page.result(10)
    assert answer.status_code == 200 and "Ben did it" in words(answer.json()["html"])
    assert "<form" not in answer.json()["html"]
    assert answer.headers["Cache-Control"] == "no-store" and "noindex" in answer.headers["X-Robots-Tag"]
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_whoever_listens_hears_of_more_time_too(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    page = listening(site, http, handoff, f"/h/{site.link(handoff)}/news?seen=1&wait=20")
    press(site, site.link(handoff, "ben"), "extension")
    assert f'data-until="{site.record(handoff).deadline}"' in page.result(10).json()["html"]


def test_a_wait_without_news_ends_with_nothing(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    answer = http.get(f"/h/{site.link(handoff)}/news?seen=1&wait=0.05")
    assert answer.status_code == 204
    until(lambda: site.services.waiting.count(handoff) == 0, 10, "its place to be free")


def test_a_handoff_that_is_deleted_meanwhile_ends_the_listening(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    page = listening(site, http, handoff, f"/h/{site.link(handoff)}/news?seen=1&wait=20")
    site.raw.unlink(site.services.store.keys.handoff(handoff))
    site.services.waiting.stop()
    assert page.result(10).status_code == 404


def test_where_too_many_wait_a_page_is_told_to_come_back(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_WAITERS_PER_WORKER="1")
    handoff = site.agent.opened()
    with site.services.waiting.register("another", closed_only=True):
        answer = site.anybody.get(f"/h/{site.link(handoff)}/news?seen=1&wait=20")
    assert answer.status_code == 204 and answer.headers["Retry-After"]


def test_one_link_opened_in_a_thousand_windows_leaves_room_for_the_agents(site: Site) -> None:
    handoff = site.agent.opened()
    windows = [
        site.services.waiting.register(handoff, closed_only=False) for _ in range(person_page.MOST_ONLOOKERS)
    ]
    answer = site.anybody.get(f"/h/{site.link(handoff)}/news?seen=1&wait=20")
    assert answer.status_code == 204 and answer.headers["Retry-After"]
    for window in windows:
        window.close()


@pytest.mark.parametrize("query", ["", "seen=1", "seen=0&wait=0", "seen=-1&wait=20"])
def test_listening_changes_nothing(site: Site, query: str) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    before = site.dump()
    for method in ("GET", "HEAD"):
        assert site.anybody(method, f"/h/{link}/news?{query}").status_code in (200, 204)
    assert site.dump() == before


@pytest.mark.parametrize("query", ["seen=x", "seen=1e3", "seen=" + "9" * 40, "seen=²", "seen=1&wait=soon"])
def test_nonsense_is_refused(site: Site, query: str) -> None:
    assert site.anybody.get(f"/h/{site.link(site.agent.opened())}/news?{query}").status_code == 422


def test_news_of_an_unknown_link_is_no_news(site: Site) -> None:
    assert site.anybody.get(f"/h/{'0' * 22}/news?seen=1&wait=20").status_code == 404


def test_the_page_tells_its_script_the_servers_clock_and_the_deadline(site: Site) -> None:
    """A phone whose clock is wrong counts down right, and stops offering buttons at zero (case 18)."""
    handoff = site.agent.opened(timeout_s=600)
    page = load(site, site.link(handoff))
    [root] = [has for _, has in page.tags if has.get("id") == "person"]
    assert (root["data-now"], root["data-until"]) == (str(site.now), str(site.record(handoff).deadline))
    assert root["data-rev"] == str(site.record(handoff).rev)


def test_the_script_never_presses_a_button_by_itself() -> None:
    """Scanners run scripts: what decides is a press (cases 41 and 42)."""
    script = (Path(person_page.__file__).parent / "static" / "page.js").read_text(encoding="utf-8")
    assert '"submit"' in script, "it only listens to it"
    for word in (".submit(", "requestSubmit", ".click(", "dispatchEvent", "sendBeacon", "innerHTML", "eval("):
        assert word not in script, word
