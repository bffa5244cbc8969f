"""Signing in as an operator: who gets in, what the cookie is worth, and where one is led afterwards."""

from __future__ import annotations

import pytest

from handoff import keys, sessions
from handoff.moments import HOUR
from handoff.web.signin import COOKIE

from .conftest import MakeSite
from .operators_browser import Browser, rows, signed_in
from .site import AGENT_KEY, OPERATOR_KEY, SECRET, Site

OPEN = {
    "HANDOFF_DEV": "1",
    "HANDOFF_OPEN_CONSOLE": "1",
    "HANDOFF_PUBLIC_URL": "http://127.0.0.1:8000",
}


def test_who_is_not_signed_in_reads_what_this_is_and_how_to_get_in(site: Site) -> None:
    page = Browser(site).get("/")
    assert page.status == 200 and "phone rings" in page.words and "Sign in" in page.words
    assert [1 for tag, has in page.tags if tag == "a" and has.get("href") == "/docs"]
    assert not [1 for tag, _ in page.tags if tag == "script"]


def test_an_operators_key_signs_in_and_the_list_is_there(site: Site) -> None:
    handoff = site.agent.opened()
    browser = Browser(site)
    answer = browser.sign_in()
    assert (answer.status, answer.response.headers["Location"]) == (303, "/")
    assert rows(browser.get("/")) == [handoff]


def test_the_cookie_is_as_tight_as_cookies_get(site: Site) -> None:
    cookie = Browser(site).sign_in().response.headers["Set-Cookie"]
    name, _, rest = cookie.partition("=")
    assert name == COOKIE
    parts = {part.strip() for part in rest.split(";")}
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=43200"} <= parts
    assert OPERATOR_KEY not in cookie, "it names the key's record and is no key"


def test_over_plain_http_on_this_machine_the_cookie_still_works(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_DEV="1", HANDOFF_PUBLIC_URL="http://127.0.0.1:8000")
    assert "Secure" not in Browser(site).sign_in().response.headers["Set-Cookie"]


def test_the_key_is_typed_into_a_password_field_that_managers_know(site: Site) -> None:
    [field] = [has for _, has in Browser(site).get("/sign-in").tags if has.get("name") == "key"]
    assert (field["type"], field["autocomplete"]) == ("password", "current-password")
    assert "value" not in field


@pytest.mark.parametrize("key", ["", " ", "hk_" + "x" * 40, "é" * 60, "x" * 100_000])
def test_a_wrong_key_gets_nothing_and_is_not_shown_again(site: Site, key: str) -> None:
    browser = Browser(site)
    page = browser.sign_in(key)
    assert page.status == 403 and "not known" in page.words and browser.cookie is None
    assert len(key.strip()) < 2 or key not in page.html


def test_an_agents_key_is_refused_with_words_that_say_why(site: Site) -> None:
    browser = Browser(site)
    page = browser.sign_in(AGENT_KEY)
    assert page.status == 403 and browser.cookie is None
    assert "key of an agent (shopper)" in page.words and "can’t answer its own requests" in page.words


def test_a_revoked_key_is_signed_out_with_the_next_request(site: Site) -> None:
    browser = signed_in(site)
    [ops] = [key for key in site.services.store.api_keys() if "operator" in key.scopes]
    keys.revoke(site.services.store, ops.id, site.now)
    assert "phone rings" in browser.get("/").words
    assert Browser(site).sign_in().status == 403


def test_after_twelve_hours_one_signs_in_again(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    site.now += 12 * HOUR - 1
    assert browser.get(f"/handoffs/{handoff}").status == 200
    site.now += 1
    answer = browser.get(f"/handoffs/{handoff}")
    assert answer.response.headers["Location"] == f"/sign-in?next=%2Fhandoffs%2F{handoff}"


def test_a_cookie_that_we_did_not_make_for_this_is_none(site: Site) -> None:
    good = signed_in(site).cookie
    [ops] = [key for key in site.services.store.api_keys() if "operator" in key.scopes]
    [agent, *_] = [key for key in site.services.store.api_keys() if "agent" in key.scopes]
    soon = site.now + HOUR
    assert good is not None
    bad = {
        "another purpose": sessions.seal(SECRET, "pin", ops.id, soon),
        "another server": sessions.seal("x" * 40, "operator", ops.id, soon),
        "an agent's key": sessions.seal(SECRET, "operator", agent.id, soon),
        "no such key": sessions.seal(SECRET, "operator", "ak_0", soon),
        "cut": good[:-1],
        "nonsense": "a.b.c",
        "empty": "",
    }
    for why, text in bad.items():
        browser = Browser(site)
        browser.use_cookie(text)
        assert "phone rings" in browser.get("/").words, why


def test_signing_out_forgets_the_cookie(site: Site) -> None:
    browser = signed_in(site)
    answer = browser.post("/sign-out", browser.get("/").nonce)
    assert answer.status == 303 and not browser.cookie
    assert "phone rings" in browser.get("/").words


def test_another_site_signs_nobody_in_or_out(site: Site) -> None:
    browser = signed_in(site)
    for path, data in (("/sign-out", {}), ("/sign-in", {"key": OPERATOR_KEY})):
        assert browser("POST", path, data=data).status == 403
        nonce = browser.get("/").nonce
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert browser("POST", path, data=data | {"nonce": nonce}, headers=headers).status == 403
    assert browser.cookie


def test_ten_tries_a_minute_from_one_address_and_others_are_not_held_up(site: Site) -> None:
    browser = Browser(site, "192.0.2.7")
    assert [browser.sign_in("hk_wrong").status for _ in range(11)] == [403] * 10 + [429]
    assert browser.sign_in().status == 429, "not even with the right key"
    assert Browser(site, "192.0.2.8").sign_in().status == 303


@pytest.mark.parametrize(
    ("onward", "to"),
    [
        ("/handoffs/ho_1", "/handoffs/ho_1"),
        ("/?state=resolved&agent=x", "/?state=resolved&agent=x"),
        ("/p/ho_1", "/p/ho_1"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\\evil", "/"),
        ("\\\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.example", "/"),
        ("/\n/evil.example", "/"),
        ("/ /evil.example", "/"),
        ("evil.example", "/"),
        ("/é", "/"),
        ("/" + "x" * 600, "/"),
    ],
)
def test_one_is_led_on_to_pages_of_ours_only(site: Site, onward: str, to: str) -> None:
    browser = Browser(site)
    assert browser.sign_in(next=onward).response.headers["Location"] == to
    again = browser.get("/sign-in", query_string={"next": onward})
    assert (again.status, again.response.headers["Location"]) == (303, to), (
        "who is signed in goes straight on"
    )


def test_under_a_path_prefix_the_cookie_and_every_address_keep_to_it(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_PUBLIC_URL="https://handoff.example.com/tools/handoff")
    browser = Browser(site)
    nonce = Browser(site).get("/tools/handoff/sign-in").nonce
    answer = browser.post("/tools/handoff/sign-in", nonce, key=OPERATOR_KEY, next="/handoffs/ho_1")
    assert answer.response.headers["Location"] == "/tools/handoff/handoffs/ho_1"
    assert "Path=/tools/handoff;" in answer.response.headers["Set-Cookie"] + ";"
    handoff = site.agent.opened()
    for path in ("/tools/handoff/", f"/tools/handoff/handoffs/{handoff}"):
        page = browser.get(path)
        assert page.status == 200
        for tag, has in page.tags:
            for name in ("href", "src", "action", "data-news", "data-again"):
                target = has.get(name) or "#"
                assert target.startswith(("/tools/handoff/", "#")), (tag, has)


def test_a_prefix_that_is_called_like_a_page_of_ours_leads_to_that_page_all_the_same(
    make_site: MakeSite,
) -> None:
    site = make_site(HANDOFF_PUBLIC_URL="https://handoff.example.com/handoffs")
    nonce = Browser(site).get("/handoffs/sign-in").nonce
    answer = Browser(site).post("/handoffs/sign-in", nonce, key=OPERATOR_KEY, next="/handoffs/ho_1")
    assert answer.response.headers["Location"] == "/handoffs/handoffs/ho_1"


def test_what_was_typed_is_shown_when_the_session_ran_out(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which plan?")
    page = Browser(site).post(f"/handoffs/{handoff}/resolution", "x", answer="the small one <b>")
    assert (page.status, "the small one <b>" in page.words) == (401, True)


def test_where_the_list_is_open_nobody_needs_to_sign_in(make_site: MakeSite) -> None:
    site = make_site(**OPEN)
    handoff = site.agent.opened()
    browser = Browser(site, base_url="http://127.0.0.1:8000")
    assert rows(browser.get("/")) == [handoff]
    assert browser.press(f"/handoffs/{handoff}", "resolution").status == 303
    settled = site.record(handoff).settlement
    assert settled is not None
    assert (settled.by.kind, settled.by.id, settled.by.name) == ("operator", "console", "demo operator")
    assert (settled.channel, settled.proof) == ("console", "console")


def test_an_open_list_still_wants_its_own_forms(make_site: MakeSite) -> None:
    site = make_site(**OPEN)
    handoff = site.agent.opened()
    browser = Browser(site, base_url="http://127.0.0.1:8000")
    assert browser.post(f"/handoffs/{handoff}/resolution", None).status == 403
    assert site.record(handoff).state == "escalating"


def test_an_open_list_is_closed_to_pages_from_elsewhere_that_were_made_to_lead_here(
    make_site: MakeSite,
) -> None:
    """DNS rebinding: the browser of somebody at this machine asks us under another name."""
    site = make_site(**OPEN)
    handoff = site.agent.opened()
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.0.2.1"):
        browser = Browser(site, base_url=f"http://{host}")
        assert "phone rings" in browser.get("/").words
        assert browser.get(f"/handoffs/{handoff}").status == 303
    for host in ("127.0.0.1:1234", "localhost:8000", "[::1]:8000"):
        assert rows(Browser(site, base_url=f"http://{host}").get("/")) == [handoff]
