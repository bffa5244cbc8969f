"""The message app on a phone looks at the links of a text before the person does."""

from __future__ import annotations

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Answer, Application


def fetched(phone: DevPhone) -> list[tuple[str, str, int | None]]:
    """Method, URL and status of every visit so far."""
    events = phone.send("GET", "/events")["events"]
    data = [event["data"] for event in events if event["type"] == "preview.fetched"]
    return [(visit["method"], visit["url"], visit["status"]) for visit in data]


def test_every_link_of_a_text_is_visited_before_the_person_taps_it(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("rings", previews=True)
    links = [application.answers(f"/h/{name}", Answer("<h1>Handle it</h1>")) for name in ("one", "two")]
    client.messages.create(to=ADA, from_=OURS, body=f"See {links[0]}, or {links[1]}.")
    phone.device(ADA).expect_text("See")
    phone.settle()
    for path in ("/h/one", "/h/two"):
        hooks = application.at(path)
        assert [hook.method for hook in hooks] == ["HEAD", "GET", "GET"]
        agents = [hook.headers["user-agent"] for hook in hooks]
        assert "facebookexternalhit" in agents[0]
        assert agents[1] != agents[2] == "WhatsApp/2"
        assert not any("x-twilio-signature" in hook.headers for hook in hooks)
    assert fetched(phone) == [(method, link, 200) for link in links for method in ("HEAD", "GET", "GET")]


def test_redirects_are_followed(phone: DevPhone, client: Client, application: Application) -> None:
    phone.device(ADA).behaves("rings", previews=True)
    link = application.answers("/short", Answer(status=302, headers={"Location": "/long"}))
    client.messages.create(to=ADA, from_=OURS, body=f"See {link}")
    phone.device(ADA).expect_text("See")
    phone.settle()
    assert [hook.method for hook in application.at("/long")] == ["HEAD", "GET", "GET"]


def test_a_redirect_for_ever_and_a_dead_link_come_to_an_end(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("rings", previews=True)
    loop = application.answers("/loop", Answer(status=302, headers={"Location": "/loop"}))
    dead = "http://127.0.0.1:9/nobody"
    client.messages.create(to=ADA, from_=OURS, body=f"{loop} {dead}")
    phone.device(ADA).expect_text("loop")
    phone.settle()
    assert len(application.at("/loop")) == 33
    assert [visit for visit in fetched(phone) if visit[1] == dead] == [
        (method, dead, None) for method in ("HEAD", "GET", "GET")
    ]


@pytest.mark.parametrize("body", ["ftp://h.test/file and javascript:alert(1)", "No link at all", "http://"])
def test_other_things_are_not_visited(phone: DevPhone, client: Client, body: str) -> None:
    phone.device(ADA).behaves("rings", previews=True)
    client.messages.create(to=ADA, from_=OURS, body=body)
    phone.device(ADA).expect_text(body)
    phone.settle()
    assert fetched(phone) == []


def test_only_a_phone_with_previews_does_it_and_only_when_the_text_arrives(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(BEN).behaves("rings", previews=True, texts="undelivered")
    for person in (ADA, BEN):
        client.messages.create(to=person, from_=OURS, body=f"See {application.url}/h")
    phone.device(ADA).expect_text("See")
    phone.settle()
    (lost,) = phone.state(BEN)["messages"]
    phone.expect(lost["sid"])
    assert application.webhooks == []


def test_after_a_reset_nothing_is_told_of_earlier_visits(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("rings", previews=True)
    link = application.answers("/h", Answer("<h1>Handle it</h1>", hold=True))
    client.messages.create(to=ADA, from_=OURS, body=f"See {link}")
    application.waits_for("/h")
    phone.reset()
    application.release()
    phone.settle()
    assert len(application.at("/h")) == 3
    assert fetched(phone) == []


def test_previews_are_on_or_off(phone: DevPhone) -> None:
    with pytest.raises(AssertionError, match="previews must be true or false"):
        phone.device(ADA).behaves("rings", previews="yes")
