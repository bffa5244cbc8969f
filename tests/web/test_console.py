"""The operator's list and one handoff's story: what they show, to whom, and that reading changes nothing."""

from __future__ import annotations

import re

import pytest

from handoff import attempts, effects
from handoff.models import Actor, ActorKind, AskResult, Attempt, Channel, Decision, EventType, Proof
from handoff.moments import SECOND
from handoff.states import Disposition, State
from handoff.web.console import PER_PAGE

from .browser import Page
from .operators_browser import Browser, hrefs, rows, signed_in
from .site import REASON, Site
from .test_nasty import HEADERS, QUERIES

XSS = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}</textarea></title>"
VERBS = ("acknowledgement", "resolution", "refusal", "cancellation", "ring")


def call_of(site: Site, handoff: str) -> Attempt:
    """The newest call to anybody."""
    return [one for one in site.record(handoff).attempts if one.channel is Channel.CALL][-1]


def ring(site: Site, handoff: str, provider_id: str = "CA77") -> Attempt:
    """The call is placed and rings, 2 s later."""
    attempt = call_of(site, handoff)
    assert attempt.call
    calls = site.services.calls
    site.services.claims.claim(attempt.call, effects.place_call(attempt.call, site.now), "run")
    calls.placed(attempt.call, provider_id)
    site.now += 2 * SECOND
    calls.ringing(attempt.call, None)
    return attempt


def decision(
    site: Site, who: str, channel: Channel = Channel.CALL, proof: Proof = Proof.KEYPRESS
) -> Decision:
    by = Actor(kind=ActorKind.CONTACT, id=who, name=who.title())
    return Decision(by=by, channel=channel, proof=proof, at=site.now)


def test_the_list_says_what_stopped_the_run_and_how_it_went(site: Site) -> None:
    handoff = site.agent.opened(reason="A checkbox is in the way", label="Order 1009")
    site.now += 200 * SECOND
    site.services.handoffs.resolve(handoff, decision(site, "ada"), "c1")
    page = signed_in(site).get("/")
    for told in ("Resolved", "A checkbox is in the way", "shopper", "Order 1009", "3 min 20 s"):
        assert told in page.words
    assert "Ada, key on the phone" in page.words


def test_what_is_open_says_who_has_it_or_who_is_called_and_counts_on(site: Site) -> None:
    first = site.agent.opened()
    site.now += 1
    second = site.agent.opened()
    site.services.handoffs.acknowledge(second, decision(site, "ben"), "c1")
    site.now += 5 * SECOND
    page = signed_in(site).get("/")
    assert rows(page) == [second, first]
    assert "Ben has it" in page.words and "Calling Ada" in page.words and page.words.count("5 s so far") == 2
    assert len([1 for _, has in page.tags if has.get("data-since")]) == 2


@pytest.mark.parametrize("state", list(State))
def test_a_state_is_a_word_and_a_shape_and_never_only_a_colour(site: Site, state: State) -> None:
    browser = signed_in(site)
    end = {State.RESOLVED: "resolution", State.DECLINED: "refusal", State.CANCELLED: "cancellation"}
    handoff = site.agent.opened(notify="none" if state is State.PENDING else "policy")
    if state is State.ACKNOWLEDGED:
        site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    elif state is State.EXPIRED:
        site.expire(handoff)
    elif state in end:
        site.operator.post(f"/v1/handoffs/{handoff}/{end[state]}")
    for path in ("/", f"/handoffs/{handoff}"):
        page = browser.get(path)
        assert state.value.capitalize() in page.words
        assert [1 for tag, has in page.tags if tag == "use" and has.get("href") == f"#s-{state}"]
        assert [1 for tag, has in page.tags if tag == "symbol" and has.get("id") == f"s-{state}"]


def test_a_long_reason_is_shortened_in_the_list_and_whole_in_its_story_with_what_was_asked(
    site: Site,
) -> None:
    reason = "word " * 100 + "the end"
    handoff = site.agent.opened(reason=reason, urgency="high", proof="code")
    browser = signed_in(site)
    assert "the end" not in browser.get("/").words and "…" in browser.get("/").words
    story = browser.get(f"/handoffs/{handoff}").words
    assert "the end" in story and "policy default, high, needs a code read out" in story


def test_pages_follow_each_other_without_gaps_or_doubles(site: Site) -> None:
    opened = []
    for _ in range(2 * PER_PAGE + 3):
        site.now += 1
        opened.append(site.agent.opened())
    browser, seen, path = signed_in(site), [], "/"
    while path:
        page = browser.get(path)
        seen += rows(page)
        path = next((str(has["href"]) for _, has in page.tags if has.get("rel") == "next"), "")
    assert seen == opened[::-1]
    assert "/?" in hrefs(page), "the last page leads back to the newest"


def test_the_list_is_narrowed_by_state_and_agent_with_a_form_that_needs_no_script(site: Site) -> None:
    mine = site.agent.opened()
    site.now += 1
    theirs = site.other.opened()
    site.operator.post(f"/v1/handoffs/{mine}/refusal")
    browser = signed_in(site)
    assert rows(browser.get("/?state=&agent=")) == [theirs, mine]
    assert rows(browser.get("/?state=declined&agent=")) == [mine]
    assert rows(browser.get("/?state=&agent=other")) == [theirs]
    page = browser.get("/?state=declined&agent=other")
    assert not rows(page) and "No handoff is like that" in page.words and "/" in hrefs(page)
    chosen = [has.get("value") for tag, has in page.tags if tag == "option" and "selected" in has]
    assert chosen == ["declined", None] and [has for tag, has in page.tags if tag == "label"]
    options = {has.get("value") for tag, has in page.tags if tag == "option"}
    assert {state.value for state in State} <= options


def test_filters_go_on_to_the_next_page(site: Site) -> None:
    for _ in range(PER_PAGE + 1):
        site.agent.opened()
    page = signed_in(site).get("/?agent=shopper&state=escalating")
    [following] = [str(has["href"]) for _, has in page.tags if has.get("rel") == "next"]
    assert "agent=shopper" in following and "state=escalating" in following
    assert len(rows(signed_in(site).get(following))) == 1


@pytest.mark.parametrize(
    "query", ["state=gone", "agent=A%20b", "agent=" + "x" * 65, "cursor=1", "cursor=%00"]
)
def test_a_filter_that_is_none_is_said_to_be_none(site: Site, query: str) -> None:
    page = signed_in(site).get(f"/?{query}")
    assert page.status == 422 and "makes no sense" in page.words and "/" in hrefs(page)


def test_an_empty_list_says_what_will_come(site: Site) -> None:
    page = signed_in(site).get("/")
    assert page.status == 200 and "No handoff so far" in page.words and not rows(page)


def test_there_is_one_link_to_the_last_handoff(site: Site) -> None:
    browser = signed_in(site)
    assert "/last" in hrefs(browser.get("/"))
    assert browser.get("/last").response.headers["Location"] == "/"
    site.agent.opened()
    site.now += 1
    newest = site.other.opened()
    answer = browser.get("/last")
    assert (answer.status, answer.response.headers["Location"]) == (303, f"/handoffs/{newest}")


def test_who_was_reached_and_what_they_pressed_is_on_the_first_screen(site: Site) -> None:
    handoff = site.agent.opened(reason=REASON)
    attempt = ring(site, handoff)
    assert attempt.call
    site.now += 8 * SECOND
    site.services.calls.answered(attempt.call, None)
    site.now += 4 * SECOND
    site.services.handoffs.resolve(handoff, decision(site, "ada"), "c1", attempt=attempt.id)
    site.services.calls.pressed(attempt.call, "1", 1)
    site.services.calls.end(attempt.call, Disposition.HUNG_UP)
    page = signed_in(site).get(f"/handoffs/{handoff}")
    story = page.words
    assert "Ada call …0123" in story and "4 s on the line" in story and "CA77" in story
    assert [tag for tag, _ in page.tags].count("kbd") == 1
    at = [story.index(one) for one in ("phone rang.", "picked up.", "Ada pressed 1: it’s done.")]
    assert at == sorted(at)
    assert re.search(r"\d\d:\d\d:\d\d Ada’s phone rang", story)
    assert "+12125550123" not in page.html


def test_the_whole_story_is_told(site: Site) -> None:
    """Texts, refusals, late answers, callbacks: all that is on record has its line."""
    handoff = site.agent.opened(kind="ask", reason="Which address?", metadata={"order": 1009})
    do = site.services.handoffs
    text = next(one for one in site.record(handoff).attempts if one.channel is Channel.TEXT)
    do.change(
        handoff,
        lambda one, now: attempts.text_moved(
            one, text.id, now, rank=4, disposition=Disposition.BLOCKED, detail="Twilio error 30034"
        ),
    )
    attempt = ring(site, handoff)
    assert attempt.call
    site.services.calls.end(attempt.call, Disposition.VOICEMAIL)
    by_link = decision(site, "ben", Channel.LINK, Proof.LINK)
    do.resolve(handoff, by_link, "c1", result=AskResult(answer="1 Ada Street"))
    do.resolve(handoff, decision(site, "ada", Channel.LINK, Proof.LINK), "c2", result=AskResult(answer="2"))
    do.note(handoff, EventType.RESUME_FAILED, detail="answered 503", tries=1, given_up=False)
    page = signed_in(site).get(f"/handoffs/{handoff}")
    for told in (
        "shopper asked a question",
        "blocked: our account or number may not send it. Twilio error 30034",
        "Call to Ada: a machine took the call.",
        "Step 2: it is Ben’s turn.",
        "Ben answered (link in the text):",
        "1 Ada Street",
        "Too late: Ada (link in the text): it’s done. It was resolved already",
        "The callback to shopper failed. It is tried again. answered 503",
        "1009",
    ):
        assert told in page.words, told
    lines = [has for tag, has in page.tags if tag == "li"]
    assert len(lines) == len(site.events(handoff))


def test_a_story_of_several_days_says_where_each_begins(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=5 * 86_400)
    browser = signed_in(site)
    assert not [1 for _, has in browser.get(f"/handoffs/{handoff}").tags if has.get("class") == "day"]
    site.now += 86_400 * SECOND
    site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    site.now += 86_400 * SECOND
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    browser.sign_in()
    page = browser.get(f"/handoffs/{handoff}")
    assert len([1 for _, has in page.tags if has.get("class") == "day"]) == 2


def test_strange_queries_and_headers_have_an_answer_for_operators_too(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    for path in ("/", "/last", "/console/news", f"/handoffs/{handoff}", f"/handoffs/{handoff}/news"):
        for query in QUERIES:
            assert browser.get(f"{path}?{query}").status in (200, 303, 422), (path, query)
        for headers in HEADERS:
            assert browser.get(path, headers=headers).status < 500, (path, headers)


def test_reading_changes_nothing(site: Site) -> None:
    handoff = site.agent.opened(live_view_url="https://view.example/1")
    browser = signed_in(site)
    before = site.dump()
    paths = ["/", "/?state=escalating", "/?fragment=1", "/last", "/sign-in", f"/handoffs/{handoff}"]
    paths += [f"/handoffs/{handoff}/{verb}" for verb in VERBS]
    for path in paths:
        for method in ("GET", "HEAD", "OPTIONS"):
            assert browser(method, path).status in (200, 303)
    assert site.dump() == before


@pytest.mark.parametrize("path", ["/last", "/handoffs/{}", "/handoffs/{}/ring", "/handoffs/ho_x"])
def test_who_is_not_signed_in_is_led_to_the_form_and_learns_nothing(site: Site, path: str) -> None:
    handoff = site.agent.opened()
    answer = Browser(site).get(path.format(handoff))
    assert answer.status == 303 and answer.response.headers["Location"].startswith("/sign-in?next=%2F")
    assert "checkbox" not in answer.html
    for news in ("/console/news?seen=x", f"/handoffs/{handoff}/news?seen=0"):
        told = Browser(site).get(news)
        assert (told.status, told.html) == (401, "")


@pytest.mark.parametrize("handoff", ["ho_" + "0" * 22, "ho_x", "x", "ak_" + "0" * 22, "%00", "é"])
def test_a_handoff_that_is_not_there_is_a_page_that_says_so(site: Site, handoff: str) -> None:
    page = signed_in(site).get(f"/handoffs/{handoff}")
    assert page.status == 404 and "no such handoff" in page.words and "/" in hrefs(page)


def own(page: Page) -> None:
    """Nothing inline, nothing from elsewhere, and of scripts only our own file."""
    for tag, has in page.tags:
        assert tag not in ("style", "iframe", "object", "embed", "base", "img"), tag
        assert tag != "script" or has.get("src") == "/static/console.js" and "defer" in has
        assert "style" not in has and not any(name.startswith("on") for name in has), has
        for name in ("src", "href", "action", "formaction", "poster", "srcset"):
            target = has.get(name) or "/"
            assert target.startswith(("/", "#", "?")) or has.get("rel") == "noopener noreferrer", has
            assert not target.startswith("//")


def test_what_agents_and_people_wrote_is_text_and_never_markup(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason=XSS, label=XSS[:200], metadata={XSS: XSS})
    browser = signed_in(site)
    own(browser.get("/"))
    own(browser.get(f"/handoffs/{handoff}"))
    tried = browser.press(f"/handoffs/{handoff}", "resolution", answer=" ", comment=XSS)
    assert tried.status == 422
    own(tried)
    assert browser.press(f"/handoffs/{handoff}", "resolution", answer=XSS, comment=XSS).status == 303
    page = browser.get(f"/handoffs/{handoff}")
    own(page)
    assert "49" not in re.sub(r'="[^"]*"|\d{2}(:\d{2})+|ho_\w+', "", page.html), "nothing is evaluated"
    refused = site.agent.opened(reason="x")
    browser.press(f"/handoffs/{refused}", "refusal", comment=XSS)
    own(browser.get(f"/handoffs/{refused}"))


def test_what_hides_in_a_text_is_shown_and_said(site: Site) -> None:
    handoff = site.agent.opened(reason="Pay \u202e001 to Ada\u200b")
    browser = signed_in(site)
    page = browser.get(f"/handoffs/{handoff}")
    assert "\\u202e001" in page.words and "hidden characters" in page.words
    assert "\u202e" not in page.html and "\u202e" not in browser.get("/").html


def test_the_live_view_is_offered_to_the_operator_who_has_it(site: Site) -> None:
    url = "https://view.example/?a=1&b=%22%3E"
    handoff = site.agent.opened(live_view_url=url)
    browser = signed_in(site)
    assert url not in hrefs(browser.get(f"/handoffs/{handoff}"))
    browser.press(f"/handoffs/{handoff}", "acknowledgement")
    page = browser.get(f"/handoffs/{handoff}")
    [link] = [has for tag, has in page.tags if tag == "a" and has.get("href") == url]
    assert (link["rel"], link["target"]) == ("noopener noreferrer", "_blank")


def test_pages_have_landmarks_headings_captions_and_a_way_past_the_header(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    for path in ("/", f"/handoffs/{handoff}", "/sign-in", "/handoffs/x"):
        page = browser.get(path) if path != "/sign-in" else Browser(site).get(path)
        tags = [tag for tag, _ in page.tags]
        assert tags.count("h1") == 1 and tags.count("main") == 1 and "header" in tags and "nav" in tags
        assert hrefs(page)[0] == "#main" and [1 for _, has in page.tags if has.get("id") == "main"]
        assert tags.count("table") == tags.count("caption")
        assert all(has.get("scope") for tag, has in page.tags if tag == "th")
        ids = [str(has["id"]) for _, has in page.tags if has.get("id")]
        assert len(ids) == len(set(ids))
        labelled = {has.get("for") for tag, has in page.tags if tag == "label"}
        for tag, has in page.tags:
            if tag in ("input", "select", "textarea") and has.get("type") != "hidden":
                assert has["id"] in labelled


def test_a_page_of_the_list_asks_the_store_as_often_with_many_as_with_few(site: Site) -> None:
    browser = signed_in(site)

    def commands() -> int:
        before = site.raw.info("stats")["total_commands_processed"]
        assert browser.get("/").status == 200
        return int(site.raw.info("stats")["total_commands_processed"]) - before

    for _ in range(PER_PAGE):
        site.agent.opened()
    few = commands()
    for _ in range(100):
        site.agent.opened()
    assert commands() <= few + 2
