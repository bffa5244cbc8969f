"""The page behind a link: what it shows, what reading it never does, and that an agent's words are text."""

from __future__ import annotations

import re

import pytest

from handoff import links

from .browser import Page, load, press
from .conftest import MakeSite
from .site import Site

BOTS = [
    "WhatsApp/2.23.20.0",
    "Twitterbot/1.0",
    "SkypeUriPreview Preview/0.5",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Slackbot-LinkExpanding 1.0",
    "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36",
    "",
]
VERBS = ("acknowledgement", "extension", "resolution", "refusal")
XSS = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}</textarea></title>"


def test_the_page_says_who_asks_and_what_is_blocking_and_until_when(site: Site) -> None:
    handoff = site.agent.opened(reason="A checkbox is in the way", label="Order 1009", timeout_s=600)
    page = load(site, site.link(handoff))
    assert page.status == 200
    for words in ("shopper", "Order 1009", "A checkbox is in the way", "Until"):
        assert words in page.words
    verbs = ["resolution", "acknowledgement", "extension", "refusal"]
    assert [form.rpartition("/")[2] for form in page.forms] == verbs


def test_reading_it_changes_nothing_whoever_reads(site: Site) -> None:
    handoff = site.agent.opened(live_view_url="https://view.example/1")
    link = site.link(handoff)
    before = site.dump()
    paths = [f"/h/{link}", *(f"/h/{link}/{verb}" for verb in VERBS)]
    for agent in BOTS:
        for method in ("GET", "HEAD", "OPTIONS"):
            for path in paths:
                for query in ("", "?nonce=x&answer=yes", "?utm_source=chat"):
                    headers = {"User-Agent": agent, "Purpose": "prefetch"}
                    assert site.anybody(method, path + query, headers=headers).status_code == 200
    assert site.dump() == before
    assert site.types(handoff) == ["opened", "step_started"]


def test_everybody_who_reads_it_is_shown_the_same_page(site: Site) -> None:
    link = site.link(site.agent.opened())
    pages = [load(site, link, headers={"User-Agent": agent}) for agent in BOTS]
    assert len({page.html.replace(page.nonce, "") for page in pages}) == 1


@pytest.mark.parametrize("glued", [".", ",", ")", "]", "%3E", ";", "!", "'", ")."])
def test_a_link_with_the_end_of_a_sentence_glued_to_it_still_works(site: Site, glued: str) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    page = load(site, link + glued)
    assert page.status == 200 and "checkbox" in page.words
    assert all(form.startswith(f"/h/{link}/") for form in page.forms)
    done = press(site, link + glued, "resolution", page.nonce)
    assert done.status == 303 and site.record(handoff).state == "resolved"


@pytest.mark.parametrize(
    "link",
    [
        "0" * 22,
        "x",
        "0" * 21,
        "0" * 23,
        "a/b",
        "..%2f..",
        "%00",
        "%ff",
        "é" * 22,
        "0" * 22 + "/view",
        "a" * 9_000,
    ],
)
def test_an_unknown_link_is_a_page_that_says_so(site: Site, link: str) -> None:
    page = load(site, link)
    assert page.status == 404 and page.response.mimetype == "text/html"
    assert "nothing behind this link" in page.words and not page.forms
    for verb in VERBS:
        answer = site.anybody("POST", f"/h/{link}/{verb}", data={"nonce": "x"})
        assert answer.status_code == (404 if "/" not in link.replace("%2f", "/") else 405)


def test_a_link_that_could_be_made_but_never_was_opens_nothing(site: Site) -> None:
    """Only what was put into a text is good, and another server's key makes other links."""
    handoff = site.agent.opened()
    site.link(handoff, "ada")
    assert load(site, links.make("another server's key " * 2, handoff, "ada")).status == 404
    assert load(site, links.make("0123456789abcdef" * 4, handoff, "ben")).status == 404


def test_the_headers_keep_the_page_out_of_caches_frames_indexes_and_other_sites(site: Site) -> None:
    link = site.link(site.agent.opened())
    for path in (f"/h/{link}", "/h/unknown", f"/h/{link}/refusal"):
        headers = site.anybody.get(path).headers
        assert headers["Cache-Control"] == "no-store"
        assert "noindex" in headers["X-Robots-Tag"]
        policy = headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in policy and "base-uri 'none'" in policy
        assert "form-action 'self'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "same-origin", (
            "`no-referrer` would send `Origin: null` with forms"
        )
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    secure = site.anybody.get(f"/h/{link}", base_url="https://handoff.example.com")
    assert "Strict-Transport-Security" in secure.headers


def own(page: Page) -> None:
    """Nothing inline, nothing from elsewhere; what runs is our one script, what is framed our own frame."""
    for tag, has in page.tags:
        assert tag not in ("style", "object", "embed", "base", "img"), tag
        if tag == "script":
            assert has == {"src": "/static/page.js", "defer": None}
        if tag == "iframe":
            assert (has["src"] or "").endswith("/view")
        assert "style" not in has and not any(name.startswith("on") for name in has), has
        for name in ("src", "href", "action", "formaction", "poster", "srcset"):
            assert (has.get(name) or "/").startswith("/") or tag == "a", has
            assert not (has.get(name) or "").startswith("//")


def test_nothing_on_the_page_is_inline_or_loaded_from_elsewhere(site: Site) -> None:
    link = site.link(site.agent.opened(live_view_url="https://view.example/1"))
    own(load(site, link))
    own(load(site, "0" * 22))
    press(site, link, "acknowledgement")
    held = load(site, link)
    own(held)
    press(site, link, "refusal", held.nonce, comment="x")
    own(load(site, link))


def test_the_page_is_small(site: Site) -> None:
    link = site.link(site.agent.opened(reason="x" * 2_000))
    weight = len(load(site, link).html.encode())
    for name, kind in {
        "app.css": "text/css",
        "page.js": "text/javascript",
        "mark.svg": "image/svg+xml",
    }.items():
        part = site.anybody.get(f"/static/{name}")
        assert (part.status_code, part.mimetype) == (200, kind)
        weight += len(part.get_data())
        part.close()
    assert weight < 30_000


def test_what_an_agent_sends_is_text_and_never_markup(site: Site) -> None:
    wall = site.link(site.agent.opened(reason=XSS, label=XSS[:200]))
    asked = site.link(site.agent.opened(kind="ask", reason=XSS))
    for link in (wall, asked):
        page = load(site, link)
        assert XSS in page.html.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace(
            "&#39;", "'"
        )
        own(page)
        assert "49" not in re.sub(r'="[^"]*"|\d{2}:\d{2}', "", page.html), "nothing is evaluated"


def test_what_a_person_sends_comes_back_as_text_and_never_as_markup(site: Site) -> None:
    asked = site.link(site.agent.opened(kind="ask", reason="Which address?"))
    tried = press(site, asked, "resolution", answer=" ", comment=XSS)
    assert tried.status == 422
    own(tried)
    long = press(site, asked, "resolution", tried.nonce, answer=XSS * 200)
    assert long.status == 422
    own(long)
    assert "<script>" not in long.html


@pytest.mark.parametrize("url", ["https://view.example/?a=1&b=%22%3E", "https://view.example/'\"><script>"])
def test_the_live_view_is_offered_to_whoever_took_it_on(site: Site, url: str) -> None:
    handoff = site.agent.opened(live_view_url=url)
    ada, ben = site.link(handoff, "ada"), site.link(handoff, "ben")
    assert not [1 for tag, has in load(site, ada).tags if has.get("href") == url], "showing it takes a tap"
    press(site, ada, "acknowledgement")
    page = load(site, ada)
    [link] = [has for tag, has in page.tags if tag == "a"]
    assert link["href"] == url and link["rel"] == "noopener noreferrer" and link["target"] == "_blank"
    own(page)
    others = load(site, ben)
    assert "Ada is on it" in others.words and not [1 for tag, _ in others.tags if tag == "a"]


def test_a_reason_in_any_script_and_direction_is_shown(site: Site) -> None:
    for reason in ("验证码", "אישור", "a\nb", "🔒" * 50, "\x00\x07x"):
        page = load(site, site.link(site.agent.opened(reason=reason)))
        assert page.status == 200
        assert [1 for tag, has in page.tags if tag == "h1" and has.get("dir") == "auto"]


def test_a_forms_address_without_its_form_is_the_page_and_not_a_dead_end(site: Site) -> None:
    """A phone that restores a tab asks for the address of the form with GET."""
    link = site.link(site.agent.opened())
    for verb in VERBS:
        assert "checkbox" in Page(site.anybody.get(f"/h/{link}/{verb}")).words


def test_under_a_path_prefix_every_address_on_the_page_has_it(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_PUBLIC_URL="https://example.com/tools/handoff")
    handoff = site.agent.opened()
    link = site.link(handoff)
    for asked in (f"/tools/handoff/h/{link}", f"/h/{link}"):  # a proxy may have cut the prefix off
        page = Page(site.anybody.get(asked))
        assert all(action.startswith(f"/tools/handoff/h/{link}/") for action in page.forms)
        loaded = [has.get("href") or has["src"] for tag, has in page.tags if tag in ("link", "script")]
        assert loaded == [f"/tools/handoff/static/{name}" for name in ("mark.svg", "app.css", "page.js")]
    done = site.anybody("POST", page.forms[0], data={"nonce": page.nonce})
    assert (done.status_code, done.headers["Location"]) == (303, f"/tools/handoff/h/{link}")
    css = site.anybody.get("/tools/handoff/static/app.css")
    assert css.status_code == 200
    css.close()
    assert site.record(handoff).state == "resolved"
