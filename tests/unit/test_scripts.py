"""What a person hears, read back from the documents that are sent."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from handoff import outcomes
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.moments import MINUTE
from handoff.states import CLOSE_REASONS, CloseReason, Kind, State, Trigger
from voice import scripts
from voice.keypad import keys_for

NOW = 100 * MINUTE
KEY_URL = "https://pub.example/voice/key?call=ca_1&turn=1"
AGAIN_URL = "https://pub.example/voice/call?call=ca_1&turn=2"


def shared(name: str) -> Any:
    """A file of facts kept beside the repository. Missing: a skip on a laptop, a failure where CI is set."""
    path = Path(os.environ.get("HANDOFF_SHARED") or Path(__file__).parents[3] / "shared") / "twilio" / name
    if path.exists():
        return json.loads(path.read_text())
    if os.environ.get("CI"):
        pytest.fail(f"{path} is missing")
    pytest.skip(f"{path} is missing")


def decision(name: str | None = "Ben", minutes_ago: int = 2, kind: ActorKind = ActorKind.CONTACT) -> Decision:
    """A word that counted, by keypress."""
    by = Actor(kind=kind, id=(name or "someone").lower(), name=name)
    return Decision(by=by, channel=Channel.CALL, proof=Proof.KEYPRESS, at=NOW - minutes_ago * MINUTE)


def handoff(kind: Kind = Kind.CLEAR, **changed: Any) -> Handoff:
    """An escalating handoff of the agent "shopper"."""
    fields: dict[str, Any] = {
        "id": "ho_1",
        "kind": kind,
        "state": State.ESCALATING,
        "reason": "A checkbox is blocking checkout",
        "agent": "shopper",
        "api_key": "ak_1",
        "timeout_s": 600,
        "policy": "default",
        "created_at": 0,
        "deadline": NOW + MINUTE,
    }
    return Handoff.model_validate(fields | changed)


def closed(state: State, reason: CloseReason, by: Decision | None = None, kind: Kind = Kind.CLEAR) -> Handoff:
    """A handoff that was closed two minutes ago."""
    return handoff(kind, state=state, close_reason=reason, closed_at=NOW - 2 * MINUTE, settlement=by)


def held(by: str = "Ada", kind: Kind = Kind.CLEAR) -> Handoff:
    """A handoff that somebody took two minutes ago, for five more minutes."""
    return handoff(
        kind, state=State.ACKNOWLEDGED, acknowledged=decision(by), acknowledged_until=NOW + 5 * MINUTE
    )


def greet(about: Handoff, turn: int = 1, text_sent: bool = True, has_next: bool = True, **urls: str) -> str:
    """The document of this turn."""
    keys = keys_for(about, has_next=has_next)
    urls = {"key_url": KEY_URL, "again_url": AGAIN_URL} | urls
    return scripts.greeting(about, keys, turn=turn, text_sent=text_sent, **urls)


def reply(outcome: outcomes.Outcome, about: Handoff, contact: str = "ada", text_sent: bool = True) -> str:
    """What the voice answers to the contact after a key."""
    keys = keys_for(about, has_next=True)
    urls = {"key_url": KEY_URL, "again_url": AGAIN_URL}
    return scripts.after(outcome, about, keys, now=NOW, contact=contact, text_sent=text_sent, **urls)


def verbs(document: str) -> list[ET.Element]:
    """The document's verbs; fails when it is no TwiML."""
    root = ET.fromstring(document.encode())
    assert root.tag == "Response"
    return list(root)


def heard(document: str) -> str:
    """Everything that is said, in order."""
    return " ".join("".join(say.itertext()) for say in ET.fromstring(document.encode()).iter("Say"))


def gather_in(document: str) -> ET.Element:
    """The document's one Gather."""
    (gather,) = ET.fromstring(document.encode()).iter("Gather")
    return gather


def every_document() -> list[str]:
    """One of each document that this module can make."""
    documents = [scripts.nobody_home(), scripts.apology(), scripts.goodbye_no_input(text_sent=True)]
    documents += [scripts.one_moment(AGAIN_URL, turn) for turn in (1, 2, 3, 4)]
    for kind in Kind:
        about = handoff(kind)
        keys = keys_for(about, has_next=True)
        urls = {"key_url": KEY_URL, "again_url": AGAIN_URL}
        documents += [greet(about, turn, sent) for turn in range(5) for sent in (True, False)]
        documents += [scripts.unknown_key(about, keys, turn=2, text_sent=True, **urls)]
        documents += [scripts.holding(about, keys, **urls)]
        standing = [about, held("Ada", kind), held("Ben", kind)]
        standing += [
            closed(state, reason, by, kind)
            for state, reasons in CLOSE_REASONS.items()
            for reason in reasons
            for by in (decision("Ben"), decision("Ada"), decision(None, kind=ActorKind.OPERATOR), None)
        ]
        for one in standing:
            documents.append(scripts.settled(one, now=NOW, contact="ada"))
            documents.append(scripts.taken(one, now=NOW, contact="ada"))
            for asked in Trigger:
                documents.append(reply(outcomes.won(asked, one, next_name="Ben"), one))
                documents.append(reply(outcomes.lost(asked, one), one, text_sent=False))
    return documents


def test_every_document_is_what_twilio_can_read() -> None:
    # Telephony cases 40 and 43: text, one declaration, at byte 0.
    facts = shared("twiml-verbs.json")
    for document in every_document():
        assert isinstance(document, str)
        assert document.startswith("<?xml ")
        assert document.count("<?xml") == 1
        assert len(document.encode()) < 65_536
        for element in ET.fromstring(document.encode()).iter():
            if element.tag != "Response":
                assert set(element.attrib) <= set(facts["verbs"][element.tag]["attributes"]), document


def test_no_call_ever_ends_because_nothing_follows() -> None:
    # Telephony case 30: each document ends with another request or with a hang-up that was meant.
    for document in every_document():
        assert verbs(document)[-1].tag in ("Redirect", "Hangup"), document
        assert [verb.tag for verb in verbs(document)[:-1]].count("Gather") <= 1


def test_a_key_counts_from_the_first_word_on() -> None:
    # Telephony case 29: whatever is spoken with a menu is spoken inside the Gather.
    for document in every_document():
        if any(
            "Press" in (say.text or "") or "press" in (say.text or "")
            for say in ET.fromstring(document).iter("Say")
        ):
            assert verbs(document)[0].tag == "Gather", document
            assert not [verb for verb in verbs(document) if verb.tag == "Say"]


def test_star_and_pound_are_keys_like_any_other() -> None:
    gather = gather_in(greet(handoff()))
    assert (gather.get("numDigits"), gather.get("finishOnKey"), gather.get("input")) == ("1", "", "dtmf")


def test_an_address_with_two_parameters_arrives_unchanged() -> None:
    # Telephony case 28.
    document = greet(handoff())
    assert gather_in(document).get("action") == KEY_URL
    assert verbs(document)[-1].text == AGAIN_URL


@pytest.mark.parametrize(
    "reason",
    ["Tom & Jerry <b> \"x\" 'y' ]]>.", "caf\u00e9 t\u00fc.", "Ada\u2019s cart \U0001f6d2."],
)
def test_the_reason_is_spoken_as_it_was_written(reason: str) -> None:
    # Telephony cases 36, 37 and 38.
    assert heard(greet(handoff(reason=reason))).startswith(f"Handoff for shopper. {reason} ")


def test_an_agent_can_not_write_markup() -> None:
    document = greet(handoff(reason='</Say><Hangup/><Say voice="x">&#65;&amp;', agent="<Pause/>"))
    assert {element.tag for element in ET.fromstring(document).iter()} == {
        "Response",
        "Gather",
        "Say",
        "Redirect",
    }


@pytest.mark.parametrize(
    "reason", ["checkout " * 11_000, "\U0001f6d2" * 100_000, "&" * 100_000, "\x00\ud800\uffff" * 9]
)
def test_a_reason_of_any_size_and_content_makes_a_document_that_can_be_spoken(reason: str) -> None:
    # Telephony case 41; the record itself is not shortened by reading it out.
    about = handoff(reason=reason, agent=reason[:5_000] or "x")
    document = greet(about)
    assert about.reason == reason
    assert len(document.encode()) < 65_536
    for say in ET.fromstring(document.encode()).iter("Say"):
        assert say.text
        assert len(say.text) < 3_000
        assert len(quote(say.text)) < 4_500


def test_a_cut_reason_says_where_the_rest_is() -> None:
    assert "The link shows the rest." in heard(greet(handoff(reason="checkout " * 200)))


def test_who_calls_and_why_is_over_in_five_seconds() -> None:
    # Some 14 characters a second; the reason of the first example in the docs.
    opening = gather_in(greet(handoff(reason="A verification checkbox blocks checkout")))[0].text or ""
    assert opening == "Handoff for shopper. A verification checkbox blocks checkout."
    assert len(opening) <= 5 * 14


def test_the_menu_that_is_read_is_the_menu_that_acts() -> None:
    for kind in Kind:
        for has_next in (True, False):
            about = handoff(kind)
            said = heard(greet(about, has_next=has_next))
            keys = keys_for(about, has_next=has_next)
            assert said.count("Press ") == len(keys)
            for key in keys:
                assert f"Press {key.spoken} {key.words}." in said


def test_a_question_is_asked_as_one_and_sends_people_to_the_link() -> None:
    about = handoff(Kind.ASK, reason="Which address should I ship to?")
    opening = "Handoff for shopper. It asks: Which address should I ship to? "
    assert heard(greet(about)).startswith(f"{opening}Answer by the link in the text. Press 3")
    assert heard(greet(about, text_sent=False)).startswith(
        f"{opening}It is answered by link, and no text went out"
    )


def test_a_text_that_was_not_sent_is_never_mentioned_as_sent() -> None:
    for kind in Kind:
        about = held("Ada", kind)
        documents = [greet(handoff(kind), turn, text_sent=False) for turn in (1, 2, 3, 4)]
        documents.append(reply(outcomes.won(Trigger.ACKNOWLEDGE, about), about, text_sent=False))
        for document in documents:
            assert "the text" not in heard(document).lower().replace("no text", "")


def test_silence_is_asked_about_twice_and_then_decides_nothing() -> None:
    # Telephony case 30.
    second, third = heard(greet(handoff(), turn=2)), heard(greet(handoff(), turn=3))
    assert second == third
    assert second.startswith("I did not hear a key. This is for shopper. Press 1 when it is done.")
    assert len(second) < len(heard(greet(handoff(), turn=1)))
    last = greet(handoff(), turn=4)
    assert last == scripts.goodbye_no_input(text_sent=True)
    assert heard(last) == "Nothing is decided. The link in the text still works. Goodbye."
    assert verbs(last)[-1].tag == "Hangup"


def test_a_wrong_key_is_named_as_such_and_the_menu_read_again_but_not_for_ever() -> None:
    # Telephony case 33.
    about = handoff()
    keys = keys_for(about, has_next=True)
    urls = {"key_url": KEY_URL, "again_url": AGAIN_URL}
    said = heard(scripts.unknown_key(about, keys, turn=2, text_sent=True, **urls))
    assert said.startswith("That key does nothing here.")
    assert "Press 1 when it is done." in said
    end = scripts.unknown_key(about, keys, turn=4, text_sent=True, **urls)
    assert end == scripts.goodbye_no_input(text_sent=True)


def test_a_cleared_wall_is_thanked_for() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ada", 0))
    document = reply(outcomes.won(Trigger.RESOLVE, about), about)
    assert heard(document) == "Thank you. It is handed back to shopper. Goodbye."
    assert verbs(document)[-1].tag == "Hangup"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.CLEAR, "that it can't be done"),
        (Kind.ASK, "that there is no answer"),
        (Kind.APPROVE, "gets a no"),
    ],
)
def test_a_no_is_repeated_as_what_the_agent_gets(kind: Kind, words: str) -> None:
    about = closed(State.DECLINED, CloseReason.PERSON, decision("Ada", 0), kind)
    assert words in heard(reply(outcomes.won(Trigger.DECLINE, about), about))


def test_a_vote_that_does_not_settle_is_not_called_done() -> None:
    about = handoff(Kind.APPROVE)
    said = heard(reply(outcomes.won(Trigger.RESOLVE, about), about))
    assert said == "Thank you. Your word counts. shopper still needs other people. Goodbye."


def test_who_takes_it_hears_for_how_long_and_may_stay_on_the_line() -> None:
    about = held("Ada")
    document = reply(outcomes.won(Trigger.ACKNOWLEDGE, about), about)
    assert heard(document) == (
        "You have it for five minutes. The text has the link. "
        "Stay on the line and press 1 when it is done, or hang up and use the link."
    )
    assert int(gather_in(document).get("timeout") or 0) > int(gather_in(greet(handoff())).get("timeout") or 0)
    assert verbs(document)[-1].text == AGAIN_URL


def test_who_takes_a_question_is_sent_to_the_link() -> None:
    about = held("Ada", Kind.ASK)
    said = heard(reply(outcomes.won(Trigger.ACKNOWLEDGE, about), about))
    assert said == "You have it for five minutes. Hang up and answer by the link in the text."


def test_passing_it_on_names_who_is_next() -> None:
    about = handoff()
    passed = outcomes.won(Trigger.LAPSE, about, next_name="Ben and Cy")
    assert heard(reply(passed, about)) == "Ben and Cy is next. You can hang up. Goodbye."
    nobody = outcomes.won(Trigger.LAPSE, about)
    assert heard(reply(nobody, about)).startswith("Nobody else is left to call.")


def test_the_loser_of_a_race_hears_who_won_and_when() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ben"))
    said = heard(reply(outcomes.lost(Trigger.RESOLVE, about), about))
    assert said == "Ben did it two minutes ago. Nothing is left to do. Goodbye."


def test_the_outcome_is_believed_over_an_older_record() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ben"))
    assert "Ben did it" in heard(reply(outcomes.lost(Trigger.RESOLVE, about), handoff()))


def test_who_already_did_it_is_told_so() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ada"))
    assert heard(reply(outcomes.lost(Trigger.RESOLVE, about), about)).startswith(
        "You did it two minutes ago."
    )


def test_a_second_person_hears_that_somebody_has_it() -> None:
    about = held("Ben")
    document = reply(outcomes.lost(Trigger.ACKNOWLEDGE, about), about)
    assert heard(document) == "Ben took it two minutes ago. You can hang up. Goodbye."
    assert verbs(document)[-1].tag == "Hangup"


def test_who_is_on_the_line_when_somebody_else_takes_it_hears_who() -> None:
    said = heard(scripts.taken(held("Ben"), now=NOW, contact="ada"))
    assert said == "Ben took it two minutes ago. You can hang up. Goodbye."
    said = heard(scripts.taken(handoff(), now=NOW, contact="ada"))
    assert said == "This call is not needed any more. Goodbye."


def test_a_key_that_led_to_nothing_is_asked_for_again() -> None:
    about = handoff()
    said = heard(reply(outcomes.lost(Trigger.RESOLVE, about), about))
    assert said.startswith("That did not work. Please try again. Press 1")


def test_a_key_after_the_end_of_what_it_won_hears_the_end() -> None:
    won = outcomes.won(Trigger.ACKNOWLEDGE, held("Ada"))
    about = closed(State.CANCELLED, CloseReason.AGENT)
    assert heard(reply(won, about)).startswith("shopper withdrew it two minutes ago.")


OPERATOR = decision(None, kind=ActorKind.OPERATOR)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (closed(State.RESOLVED, CloseReason.PERSON, decision(), Kind.ASK), "Ben answered two minutes ago."),
        (
            closed(State.RESOLVED, CloseReason.PERSON, decision(), Kind.APPROVE),
            "Ben approved it two minutes ago.",
        ),
        (closed(State.RESOLVED, CloseReason.OBSERVED), "shopper saw two minutes ago that it is gone."),
        (
            closed(State.RESOLVED, CloseReason.DEFAULT),
            "Nobody answered in time. shopper took its default answer",
        ),
        (closed(State.DECLINED, CloseReason.PERSON, decision()), "Ben said no two minutes ago."),
        (closed(State.DECLINED, CloseReason.POLICY), "because nobody answered."),
        (closed(State.EXPIRED, CloseReason.NOBODY), "Time ran out two minutes ago."),
        (closed(State.EXPIRED, CloseReason.UNREACHABLE), "Nobody was reached."),
        (closed(State.CANCELLED, CloseReason.AGENT), "shopper withdrew it two minutes ago."),
        (closed(State.CANCELLED, CloseReason.OPERATOR, OPERATOR), "An operator withdrew it two minutes ago."),
        (closed(State.CANCELLED, CloseReason.AGENT_GONE), "shopper is gone, so it was withdrawn"),
    ],
)
def test_an_end_says_what_happened_and_that_nothing_is_left_to_do(about: Handoff, words: str) -> None:
    said = heard(scripts.settled(about, now=NOW))
    assert words in said
    assert said.endswith("Nothing is left to do. Goodbye.")


def test_policy_and_silence_never_sound_like_a_person() -> None:
    # Promise 3, even when a record wrongly names one.
    for state, reasons in CLOSE_REASONS.items():
        for reason in reasons - {CloseReason.PERSON, CloseReason.OPERATOR}:
            assert "Ben" not in heard(scripts.settled(closed(state, reason, decision("Ben")), now=NOW))


def test_a_failure_on_our_side_is_a_constant_that_can_be_spoken() -> None:
    document = scripts.apology()
    assert heard(document).startswith("Sorry, something went wrong here. The link in the text still works.")
    assert verbs(document)[-1].tag == "Hangup"


def test_a_slow_store_is_waited_for_three_times_and_then_apologised_for() -> None:
    for turn in (1, 2, 3):
        document = scripts.one_moment(AGAIN_URL, turn)
        assert [verb.tag for verb in verbs(document)] == ["Say", "Pause", "Redirect"]
        assert verbs(document)[-1].text == AGAIN_URL
    assert scripts.one_moment(AGAIN_URL, 4) == scripts.apology()


def test_an_unknown_call_hears_a_sentence_and_not_an_error() -> None:
    assert heard(scripts.nobody_home()) == "This call is about something that is over. Goodbye."


def test_a_menu_without_keys_is_a_mistake_that_can_not_be_sent() -> None:
    makers: list[Callable[[], str]] = [
        lambda: greet(closed(State.EXPIRED, CloseReason.NOBODY)),
        lambda: scripts.holding(handoff(), (), key_url=KEY_URL, again_url=AGAIN_URL),
    ]
    for make in makers:
        with pytest.raises(AssertionError, match="a menu without keys"):
            make()


def test_the_voice_can_be_chosen() -> None:
    about = handoff()
    keys = keys_for(about, has_next=True)
    voice = scripts.Voice("de-DE", "Polly.Vicki-Neural")
    document = scripts.greeting(
        about, keys, key_url=KEY_URL, again_url=AGAIN_URL, turn=1, text_sent=True, voice=voice
    )
    for say in ET.fromstring(document).iter("Say"):
        assert (say.get("language"), say.get("voice")) == ("de-DE", "Polly.Vicki-Neural")
