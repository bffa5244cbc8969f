"""The frame with the agent's browser: for whom it is, for how long, and what its policy lets in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handoff.web.person_view import may_be_linked, origin_of

from .browser import Page, load, press
from .site import Site

VIEW = "https://view.example/session/1?token=secret;frame-src"
OURS = "https://handoff.example.com"


def framed(site: Site, link: str) -> list[dict[str, str | None]]:
    page = Page(site.anybody.get(f"/h/{link}/view"))
    assert page.status == 200
    return [has for tag, has in page.tags if tag == "iframe"]


def policy(site: Site, link: str) -> dict[str, str]:
    headers = site.anybody.get(f"/h/{link}/view").headers
    return dict(one.strip().partition(" ")[::2] for one in headers["Content-Security-Policy"].split(";"))


def test_whoever_took_it_on_sees_the_browser_in_a_frame_that_lets_in_nothing_else(site: Site) -> None:
    link = site.link(site.agent.opened(live_view_url=VIEW))
    press(site, link, "acknowledgement")
    [frame] = framed(site, link)
    assert frame["src"] == VIEW and frame["referrerpolicy"] == "no-referrer" and frame["title"]
    assert frame["allow"] == "clipboard-read; clipboard-write; fullscreen"
    assert "allow-top-navigation" not in (frame["sandbox"] or ""), "the vendor's page can't replace ours"
    assert policy(site, link) == {
        "default-src": "'none'",
        "style-src": "'self'",
        "frame-src": "https://view.example:443",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    }
    headers = site.anybody.get(f"/h/{link}/view").headers
    assert headers["X-Frame-Options"] == "SAMEORIGIN" and headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store" and "noindex" in headers["X-Robots-Tag"]


def test_the_page_frames_only_our_own_document_and_always_offers_the_full_size(site: Site) -> None:
    link = site.link(site.agent.opened(live_view_url=VIEW))
    assert not [1 for tag, _ in load(site, link).tags if tag == "iframe"], "showing it takes a tap"
    press(site, link, "acknowledgement")
    page = load(site, link)
    [frame] = [has for tag, has in page.tags if tag == "iframe"]
    assert frame["src"] == f"/h/{link}/view" and frame["title"]
    [full] = [has for tag, has in page.tags if tag == "a"]
    assert (full["href"], full["target"], full["rel"]) == (VIEW, "_blank", "noopener noreferrer")
    assert "frame-src 'self';" in page.response.headers["Content-Security-Policy"]


def test_nobody_else_sees_it(site: Site) -> None:
    handoff = site.agent.opened(live_view_url=VIEW)
    ada, ben = site.link(handoff, "ada"), site.link(handoff, "ben")
    assert not framed(site, ada) and "say on the page" in Page(site.anybody.get(f"/h/{ada}/view")).words
    press(site, ada, "acknowledgement")
    assert framed(site, ada) and not framed(site, ben)
    assert "secret" not in site.anybody.get(f"/h/{ben}/view").text
    assert policy(site, ben)["frame-src"] == "'none'"


@pytest.mark.parametrize("how", ["done", "withdrawn", "expired", "late", "lapsed"])
def test_after_the_end_and_after_the_pause_it_is_shown_no_more(site: Site, how: str) -> None:
    handoff = site.agent.opened(live_view_url=VIEW)
    link = site.link(handoff)
    press(site, link, "acknowledgement")
    record = site.record(handoff)

    def move(to: int | None) -> None:
        assert to is not None
        site.now = to

    ends: dict[str, Callable[[], object]] = {
        "done": lambda: press(site, link, "resolution"),
        "withdrawn": lambda: site.agent.post(f"/v1/handoffs/{handoff}/cancellation"),
        "expired": lambda: site.expire(handoff),
        "late": lambda: move(record.deadline),
        "lapsed": lambda: (
            move(record.acknowledged_until),
            site.services.handoffs.lapse(handoff, record.acknowledged_until),
        ),
    }
    ends[how]()
    assert not framed(site, link)
    assert ("It is over" in Page(site.anybody.get(f"/h/{link}/view")).words) == (how != "lapsed")
    assert policy(site, link)["frame-src"] == "'none'"


def test_a_handoff_without_a_live_view_has_no_frame(site: Site) -> None:
    link = site.link(site.agent.opened())
    press(site, link, "acknowledgement")
    assert not framed(site, link) and not [1 for tag, _ in load(site, link).tags if tag == "iframe"]


def test_looking_at_the_frame_changes_nothing(site: Site) -> None:
    link = site.link(site.agent.opened(live_view_url=VIEW))
    press(site, link, "acknowledgement")
    before = site.dump()
    for method in ("GET", "HEAD"):
        assert site.anybody(method, f"/h/{link}/view").status_code == 200
    assert site.dump() == before


def test_an_unknown_link_has_no_frame(site: Site) -> None:
    answer = site.anybody.get(f"/h/{'0' * 22}/view")
    assert answer.status_code == 404 and answer.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://view.example/a?b=c#d", "https://view.example:443"),
        ("https://VIEW.example:8443/", "https://view.example:8443"),
        ("https://a-b.view.example./", "https://a-b.view.example.:443"),
        ("https://192.0.2.7/", "https://192.0.2.7:443"),
        ("https://bücher.example/", "https://xn--bcher-kva.example:443"),
        ("https://user:word@view.example/", "https://view.example:443"),
    ],
)
def test_of_a_live_view_the_policy_names_scheme_host_and_port_and_nothing_else(url: str, origin: str) -> None:
    assert origin_of(url, OURS) == origin


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "http://view.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "ws://view.example/",
        "https://",
        "https:///x",
        "https://*.example/",
        "https://*",
        "https://a;script-src *",
        "https://a'unsafe-inline'/",
        "https://a b/",
        "https://a,b/",
        "https://a\r\nSet-Cookie: x/",
        "https://[2001:db8::1]/",
        "https://[broken/",
        "https://view.example:0/",
        "https://view.example:99999/",
        "https://view.example:x/",
        "https://under_score.example/",
        "https://-a.example/",
        "https://" + "a" * 300 + "/",
        "https://handoff.example.com/h/x",
        "https://handoff.example.com:443/",
    ],
)
def test_what_can_not_be_framed_is_not_named_in_the_policy(url: str | None) -> None:
    assert origin_of(url, OURS) is None


def test_http_is_framed_only_where_we_are_http_ourselves() -> None:
    assert origin_of("http://127.0.0.1:9000/x", "http://127.0.0.1:8000") == "http://127.0.0.1:9000"
    assert origin_of("http://127.0.0.1:8000/x", "http://127.0.0.1:8000/prefix") is None, "never our own pages"


def test_a_browser_that_can_not_be_framed_is_still_a_link(site: Site) -> None:
    link = site.link(site.agent.opened(live_view_url="https://[2001:db8::1]/live"))
    press(site, link, "acknowledgement")
    assert not framed(site, link) and "full size" in Page(site.anybody.get(f"/h/{link}/view")).words
    assert [
        1 for tag, has in load(site, link).tags if tag == "a" and has["href"] == "https://[2001:db8::1]/live"
    ]


def test_only_a_web_address_is_ever_a_link() -> None:
    assert may_be_linked("https://view.example/") and may_be_linked("http://view.example/")
    for url in (None, "", "javascript:alert(1)", "data:text/html,x", "https://[broken/"):
        assert not may_be_linked(url)
