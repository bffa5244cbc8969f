"""A person texts a number of the account: what the application is told, and what its answer does."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ACCOUNT, ADA, BEN, CY, OURS
from .refusals import refusal
from .stub_application import Answer, Application


def test_the_application_hears_a_text_and_its_reply_arrives(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", "<Message>Thank you, Ada.</Message>"))
    sent = phone.device(ADA).texts(OURS, "Checkout is down")
    reply = phone.device(ADA).expect_text("Thank you")
    (hook,) = application.at("/sms")
    assert (hook.method, hook.signed) == ("POST", True)
    assert hook.fields["MessageSid"] == hook.fields["SmsSid"] == hook.fields["SmsMessageSid"] == sent.sid
    assert {name: hook.fields[name] for name in ("From", "To", "Body", "NumMedia", "NumSegments")} == {
        "From": ADA,
        "To": OURS,
        "Body": "Checkout is down",
        "NumMedia": "0",
        "NumSegments": "1",
    }
    assert (hook.fields["AccountSid"], hook.fields["ApiVersion"]) == (ACCOUNT, "2010-04-01")
    assert (hook.fields["SmsStatus"], hook.fields["FromCountry"]) == ("received", "US")
    assert "OptOutType" not in hook.fields
    received, answered = client.messages(sent.sid).fetch(), client.messages(reply.sid).fetch()
    assert (received.direction, received.status, received.from_) == ("inbound", "received", ADA)
    assert received.date_sent is not None
    assert (answered.direction, answered.from_, answered.to) == ("outbound-reply", OURS, ADA)
    assert [text.sid for text in client.messages.list(to=OURS)] == [sent.sid]
    assert [text.sid for text in client.messages.list(from_=ADA)] == [sent.sid]


def test_without_an_address_the_text_is_kept_and_nobody_is_asked(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sent = phone.device(ADA).texts(OURS, "Anybody there?")
    phone.settle()
    assert client.messages(sent.sid).fetch().body == "Anybody there?"
    assert application.webhooks == []


def test_a_picture_and_the_get_method(phone: DevPhone, client: Client, application: Application) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", ""), method="GET")
    picture = "https://photos.test/receipt.png"
    sent = phone.device(ADA).texts(OURS, "", media=[picture])
    (hook,) = application.waits_for("/sms")
    assert (hook.method, hook.signed) == ("GET", True)
    query = parse_qs(urlsplit(hook.url).query)
    assert (query["NumMedia"], query["MediaUrl0"]) == (["1"], [picture])
    assert query["MediaContentType0"] == ["image/png"]
    assert sent.sid.startswith("MM")
    assert client.messages(sent.sid).fetch().num_media == "1"


@pytest.mark.parametrize(
    ("answer", "replies"),
    [
        (Answer(status=204, body="", content_type=None), []),
        (Answer("<Response/>"), []),
        (Answer("Plain thanks", content_type="text/plain; charset=utf-8"), ["Plain thanks"]),
        (Answer("", content_type="text/plain"), []),
        (
            Answer("<Response><Message><Body>One</Body></Message><Message>Two</Message></Response>"),
            ["One", "Two"],
        ),
    ],
)
def test_what_an_application_may_answer(
    phone: DevPhone, application: Application, answer: Answer, replies: list[str]
) -> None:
    phone.line(OURS).sends_texts_to(application.answers("/sms", answer))
    phone.device(ADA).texts(OURS, "Hello")
    assert [phone.device(ADA).expect_text(words).body for words in replies] == replies


def test_a_reply_may_go_to_somebody_else_with_a_picture_and_tell_its_status(
    phone: DevPhone, application: Application
) -> None:
    picture = f"{application.url}/map.png"
    inside = "<Body>Ada asks.</Body><Media>/map.png</Media>"
    document = f'<Message to="{BEN}" statusCallback="/status">{inside}</Message>'
    phone.line(OURS).sends_texts_to(application.says("/sms", document))
    phone.device(ADA).texts(OURS, "Tell Ben")
    assert phone.device(BEN).expect_text("Ada asks").media == [picture]
    phone.settle()
    assert application.statuses() == ["sending", "sent", "delivered"]


def test_a_redirect_goes_on_elsewhere_and_nothing_behind_it_counts(
    phone: DevPhone, application: Application
) -> None:
    first = '<Message>First</Message><Redirect method="GET">second?x=1</Redirect><Message>Never</Message>'
    phone.line(OURS).sends_texts_to(application.says("/sms/first", first))
    application.says("/sms/second", "<Message>Second</Message>")
    phone.device(ADA).texts(OURS, "Hello")
    phone.device(ADA).expect_text("First")
    phone.device(ADA).expect_text("Second")
    assert application.at("/sms/second")[0].fields["Body"] == "Hello"


def test_an_action_is_told_that_the_reply_is_queued_and_answers_with_more(
    phone: DevPhone, application: Application
) -> None:
    document = '<Message action="/queued">One moment</Message><Message>Never</Message>'
    phone.line(OURS).sends_texts_to(application.says("/sms", document))
    application.says("/queued", "<Message>Here it is</Message>")
    phone.device(ADA).texts(OURS, "Where is it?")
    first = phone.device(ADA).expect_text("One moment")
    phone.device(ADA).expect_text("Here it is")
    (hook,) = application.at("/queued")
    assert (hook.fields["MessageSid"], hook.fields["MessageStatus"]) == (first.sid, "queued")


def test_cookies_last_through_a_conversation_and_not_for_ever(
    phone: DevPhone, application: Application
) -> None:
    url = application.answers("/sms", Answer(headers={"Set-Cookie": "step=2; Path=/"}))
    phone.line(OURS).sends_texts_to(url)
    for person in (ADA, ADA, BEN):
        phone.device(person).texts(OURS, "Hello")
        phone.settle()
    phone.advance(4 * 3600 + 1)
    phone.device(ADA).texts(OURS, "Long time no see")
    cookies = [hook.headers.get("cookie") for hook in application.waits_for("/sms", 4)]
    assert cookies == [None, "step=2", None, None]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer("Oops", status=500), 11200),
        (Answer("{}", content_type="application/json"), 12300),
        (Answer("<Response><Message>", content_type="text/xml"), 12100),
        (Answer("<Reply/>", content_type="text/xml"), 12102),
        (Answer("x" * 70_000, content_type="text/plain"), 11750),
    ],
)
def test_a_broken_answer_goes_to_the_fallback(
    phone: DevPhone, application: Application, answer: Answer, code: int
) -> None:
    url = application.answers("/sms", answer)
    fallback = application.says("/fallback", "<Message>Sorry, later.</Message>")
    phone.line(OURS).sends_texts_to(url, fallback_url=fallback)
    phone.device(ADA).texts(OURS, "Hello")
    phone.device(ADA).expect_text("Sorry")
    phone.expect_debugger(code)
    (hook,) = application.at("/fallback")
    assert (hook.fields["ErrorCode"], hook.fields["ErrorUrl"]) == (str(code), url)
    assert hook.fields["Body"] == "Hello"


def test_a_broken_fallback_ends_it(phone: DevPhone, application: Application) -> None:
    broken = application.answers("/sms", Answer("Oops", status=500))
    phone.line(OURS).sends_texts_to(broken, fallback_url=broken)
    phone.device(ADA).texts(OURS, "Hello")
    phone.settle()
    phone.expect_debugger(11200)
    phone.expect_debugger(11200)
    assert len(application.at("/sms")) == 2


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ('<Message to="nobody">Hello</Message>', 14101),
        (f'<Message from="{CY}">Hello</Message>', 14102),
        ("<Message></Message>", 14103),
        (f"<Message>{'x' * 1601}</Message>", 14103),
        ("<Say>Hello</Say>", 12200),
    ],
)
def test_a_reply_that_can_not_be_sent_is_left_out(
    phone: DevPhone, application: Application, document: str, code: int
) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", document + "<Message>Next</Message>"))
    phone.device(ADA).texts(OURS, "Hello")
    phone.device(ADA).expect_text("Next")
    phone.expect_debugger(code)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ('<Message method="PUT">Hello</Message>', 14104),
        ('<Message statusCallback="ftp://h.test/">Hello</Message>', 14105),
        ('<Message color="red">Hello</Message>', 12200),
        ("<Message>Hello<Say>loud</Say></Message>", 12200),
        ('<Message>Hello</Message><Redirect method="PUT">/none</Redirect>', 13710),
    ],
)
def test_a_reply_with_a_wrong_detail_is_sent_all_the_same(
    phone: DevPhone, application: Application, document: str, code: int
) -> None:
    application.says("/none", "")
    phone.line(OURS).sends_texts_to(application.says("/sms", document))
    phone.device(ADA).texts(OURS, "Hi")
    assert phone.device(ADA).expect_text("Hello").body == "Hello"
    phone.expect_debugger(code)


def test_a_document_that_redirects_to_itself_comes_to_an_end(
    phone: DevPhone, application: Application
) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", "<Redirect/>"))
    phone.device(ADA).texts(OURS, "Hello")
    phone.settle()
    phone.expect_debugger(14106)
    assert len(application.at("/sms")) == 50


def test_ten_replies_are_the_most(phone: DevPhone, application: Application) -> None:
    document = "".join(f"<Message>Reply {number}.</Message>" for number in range(1, 12))
    phone.line(OURS).sends_texts_to(application.says("/sms", document))
    phone.device(ADA).texts(OURS, "Hello")
    for number in range(1, 11):
        phone.device(ADA).expect_text(f"Reply {number}.")
    phone.expect_debugger(14109)


def test_a_trial_account_replies_to_the_sender_but_not_to_strangers(
    phone: DevPhone, application: Application
) -> None:
    phone.account(trial=True)
    document = f'<Message>Thanks</Message><Message to="{BEN}">News</Message>'
    phone.line(OURS).sends_texts_to(application.says("/sms", document))
    phone.device(ADA).texts(OURS, "Hello")
    assert phone.device(ADA).expect_text("Thanks").body.startswith("Sent from a simulated trial account")
    phone.expect_debugger(14111)


def test_a_text_that_was_deleted_still_gets_its_reply(
    phone: DevPhone, client: Client, application: Application
) -> None:
    held = Answer("<Response><Message>Here</Message></Response>", hold=True)
    phone.line(OURS).sends_texts_to(application.answers("/sms", held))
    sent = phone.device(ADA).texts(OURS, "Hello")
    application.waits_for("/sms")
    assert client.messages(sent.sid).delete()
    application.release()
    phone.device(ADA).expect_text("Here")
    assert refusal(lambda: client.messages(sent.sid).fetch()) == (404, 20404)


@pytest.mark.parametrize(
    ("number", "body", "says"),
    [
        ("Ada", {"to": OURS, "body": "Hello"}, "not a number"),
        (ADA, {"to": BEN, "body": "Hello"}, "not a number of this account"),
        (ADA, {"body": "Hello"}, "not a number of this account"),
        (ADA, {"to": OURS}, "body or media"),
        (ADA, {"to": OURS, "body": 1}, "body must be text"),
        (ADA, {"to": OURS, "body": "x" * 1601}, "at most 1600"),
        (ADA, {"to": OURS, "media": ["cat.png"]}, "http or https"),
        (ADA, {"to": OURS, "media": "cat.png"}, "media must be a list"),
        (ADA, {"to": OURS, "body": "Hello", "from": BEN}, "a text has no from"),
        (OURS, {"to": OURS, "body": "Hello"}, "itself"),
    ],
)
def test_a_text_that_makes_no_sense_is_refused(
    phone: DevPhone, number: str, body: dict[str, object], says: str
) -> None:
    with pytest.raises(AssertionError, match=says):
        phone.send("POST", f"/phones/{number}/text", body)
    assert phone.state()["messages"] == []
