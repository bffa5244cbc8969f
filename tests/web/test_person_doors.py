"""Who comes to the page and how often: guessers, scanners, previews, a restart, a proxy in front."""

from __future__ import annotations

import pytest

from .browser import Page, load, press
from .conftest import MakeSite
from .site import Site

UNKNOWN = "0" * 22


def from_(address: str) -> dict[str, dict[str, str]]:
    return {"environ_base": {"REMOTE_ADDR": address}}


def test_whoever_guesses_links_is_slowed_down_and_good_links_from_there_still_open(site: Site) -> None:
    """Behind one address may be a whole carrier."""
    handoff = site.agent.opened()
    link = site.link(handoff)
    statuses = [load(site, UNKNOWN, **from_("192.0.2.1")).status for _ in range(40)]
    assert statuses == [404] * 30 + [429] * 10
    slowed = load(site, UNKNOWN, **from_("192.0.2.1"))
    assert "wait a minute" in slowed.words and slowed.response.headers["Cache-Control"] == "no-store"
    assert site.anybody("POST", f"/h/{UNKNOWN}/resolution", **from_("192.0.2.1")).status_code == 429
    assert load(site, UNKNOWN, **from_("192.0.2.2")).status == 404
    page = load(site, link, **from_("192.0.2.1"))
    assert page.status == 200
    done = site.anybody("POST", f"/h/{link}/resolution", data={"nonce": page.nonce}, **from_("192.0.2.1"))
    assert done.status_code == 303 and site.record(handoff).state == "resolved"


def test_the_addresses_of_one_customer_are_one(site: Site) -> None:
    for number in range(30):
        load(site, UNKNOWN, **from_(f"2001:db8:0:1::{number:x}"))
    assert load(site, UNKNOWN, **from_("2001:db8:0:1:ffff::1")).status == 429
    assert load(site, UNKNOWN, **from_("2001:db8:0:2::1")).status == 404


@pytest.mark.parametrize("address", ["", "unix:", "::ffff:192.0.2.9", "not an address"])
def test_an_odd_address_is_no_error(site: Site, address: str) -> None:
    assert load(site, UNKNOWN, **from_(address)).status == 404


def test_behind_a_proxy_of_ours_each_visitor_counts_alone(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_PROXIES="1")
    for _ in range(31):
        load(site, UNKNOWN, headers={"X-Forwarded-For": "192.0.2.1"})
    assert load(site, UNKNOWN, headers={"X-Forwarded-For": "203.0.113.9, 192.0.2.1"}).status == 429
    assert load(site, UNKNOWN, headers={"X-Forwarded-For": "192.0.2.2"}).status == 404


def test_a_preview_of_the_link_spends_nothing_and_shows_no_reason_in_its_card(site: Site) -> None:
    """Web cases 38 and 40, telephony 62 and 63: the second visitor, a person, still gets in."""
    handoff = site.agent.opened(reason="The bank asks for Ada’s code")
    link = site.link(handoff)
    for agent in ("WhatsApp/2", "Twitterbot/1.0", "SkypeUriPreview"):
        for method in ("HEAD", "GET", "GET"):
            assert site.anybody(method, f"/h/{link}", headers={"User-Agent": agent}).status_code == 200
    page = load(site, link)
    title = page.html.partition("<title>")[2].partition("</title>")[0]
    assert title == "Handoff for shopper"
    told = [has for tag, has in page.tags if tag == "meta" and (has.get("property") or has.get("name"))]
    assert {has.get("name") for has in told} <= {
        "viewport",
        "color-scheme",
        "theme-color",
        "format-detection",
    }
    assert press(site, link, "resolution", page.nonce).status == 303


def test_no_address_below_a_link_or_a_page_acts_on_get(site: Site) -> None:
    """Case 39: not one path is forgotten, also none that is added later."""
    handoff = site.agent.open(notify="none", live_view_url="https://view.example/")["id"]
    link = site.link(handoff)
    before = site.dump()
    rules = [rule for rule in site.app.url_map.iter_rules() if str(rule).startswith(("/h/", "/p/"))]
    assert len(rules) > 8
    for rule in rules:
        for verb in ("acknowledgement", "extension", "resolution", "refusal"):
            values = {"given": link, "handoff_id": handoff, "_": verb, "verb": verb}
            path = (
                site.app.url_map.bind("localhost").build(
                    rule.endpoint, {name: values[name] for name in rule.arguments}, method="GET"
                )
                if "GET" in (rule.methods or ())
                else None
            )
            for method in ("GET", "HEAD", "OPTIONS") if path else ():
                assert site.anybody(method, path or "").status_code in (200, 204, 403)
    assert site.dump() == before


def test_a_page_that_was_open_during_a_restart_still_works(site: Site, make_site: MakeSite) -> None:
    """Cases 20 and 22: nothing of it lived in the process."""
    handoffs = [site.agent.opened() for _ in range(3)]
    by_page, by_operator, by_agent = handoffs
    page = load(site, site.link(by_page))
    restarted = make_site(HANDOFF_PREFIX=site.services.settings.prefix)
    listed = restarted.agent.get("/v1/handoffs").get_json()["handoffs"]
    assert {one["id"] for one in listed} == set(handoffs)
    assert press(restarted, restarted.link(by_page), "resolution", page.nonce).status == 303
    assert restarted.operator.post(f"/v1/handoffs/{by_operator}/resolution").status_code == 200
    assert restarted.agent.post(f"/v1/handoffs/{by_agent}/observation").status_code == 200
    assert {site.record(one).state.value for one in handoffs} == {"resolved"}


def test_what_a_person_was_shown_can_not_be_changed_under_their_eyes(site: Site) -> None:
    """Case 34: what was asked stays what was asked."""
    handoff = site.agent.open(key="refund", reason="Refund 100 USD?", kind="ask")["id"]
    for method in ("PATCH", "PUT", "POST", "DELETE"):
        answer = site.agent(method, f"/v1/handoffs/{handoff}", json={"reason": "Refund 50 USD?"})
        assert answer.status_code == 405
    again = site.agent.post(
        "/v1/handoffs",
        {"kind": "ask", "reason": "Refund 50 USD?"},
        headers={"Idempotency-Key": "refund"},
    )
    assert again.status_code == 409
    assert "Refund 100 USD?" in load(site, site.link(handoff)).words


def test_text_that_is_not_what_it_looks_like_is_shown_for_what_it_is(site: Site) -> None:
    """Case 149, in every field of the agent's."""
    link = site.link(site.agent.opened(reason="pay\u200b roll \u202etxt.exe"))
    page = load(site, link)
    assert "pay\\u200b roll \\u202etxt.exe" in page.words and "hidden characters" in page.words
    press(site, link, "refusal")
    ended = load(site, link)
    for shown in (page, ended):
        assert "\u200b" not in shown.html and "\u202e" not in shown.html
    honest = load(site, site.link(site.agent.opened(reason="Ça va, שלום, 验证?")))
    assert "hidden characters" not in honest.words


def test_through_a_proxy_that_ends_tls_and_cuts_the_prefix_off_a_press_counts(make_site: MakeSite) -> None:
    """Case 46: neither link nor nonce depends on the address as it is seen behind the proxy."""
    site = make_site(HANDOFF_PUBLIC_URL="https://ex.example/handoff", HANDOFF_PROXIES="1")
    handoff = site.agent.opened()
    link = site.link(handoff)
    forwarded = {
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "ex.example",
        "X-Forwarded-For": "192.0.2.1",
    }
    page = Page(site.anybody.get(f"/h/{link}", headers=forwarded, base_url="http://10.0.0.5:8000"))
    assert page.forms[0] == f"/handoff/h/{link}/resolution"
    own = forwarded | {"Origin": "https://ex.example", "Sec-Fetch-Site": "same-origin"}
    done = site.anybody(
        "POST",
        f"/h/{link}/resolution",
        data={"nonce": page.nonce},
        headers=own,
        base_url="http://10.0.0.5:8000",
    )
    assert (done.status_code, done.headers["Location"]) == (303, f"/handoff/h/{link}")
