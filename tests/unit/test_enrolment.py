"""What makes an enrolled contact reachable: their own key, on that number, in the call that asked."""

from __future__ import annotations

from typing import Any

import pytest

from handoff import attempts, enrolment, ids, lifecycle
from handoff.changes import Rules
from handoff.effects import Effect, EffectKind
from handoff.enrolment import Consent, Enrolment, answered, question
from handoff.errors import Forbidden, Invalid
from handoff.messages import OpenRequest
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.policy import Contact, Standing
from handoff.rights import Rights
from handoff.states import Disposition, State

from .lives import ADA, AGENT, NOW, RULES, after, opened, word

ONE, TWO = "+12125550126", "+12125550127"
DORA = Contact(id="dora", name="Dora", numbers=(ONE, TWO))
OPS = Actor(kind=ActorKind.OPERATOR, id="ak_2", name="ops")
RECORD = Enrolment(contact=DORA, pin="kept", agent="ops", created_at=NOW)
YES = Consent(number=ONE, key="1", words="words", at=NOW, handoff="ho_0", attempt="at_0")
NO = YES.model_copy(update={"key": "2"})


def with_(*consents: Consent, contact: Contact = DORA) -> Enrolment:
    return RECORD.model_copy(update={"consents": consents, "contact": contact})


def people(record: Enrolment) -> Rules:
    enrolled = {record.contact.id: record.enrolled}
    return RULES.model_copy(update={"people": RULES.people.with_enrolled(enrolled)})


def asked(record: Enrolment = RECORD) -> tuple[Enrolment, Handoff]:
    record, change = enrolment.ask(record, OPS, RULES, NOW)
    return record, change.handoff


def closed(
    decision: Decision | None = None, *, no: bool = False
) -> tuple[Enrolment, Handoff, str, tuple[Effect, ...]]:
    record, handoff = asked()
    attempt = handoff.attempts[0].id
    do = lifecycle.decline if no else lifecycle.resolve
    decided = do(handoff, decision or word("dora"), people(record), NOW, attempt=attempt)
    assert decided.change is not None
    return record, after(decided), attempt, decided.change.effects


def test_who_was_not_asked_yet_is_nobody_but_for_the_call_that_asks() -> None:
    rules = people(RECORD)
    _, handoff = asked()
    assert RECORD.standing is Standing.UNVERIFIED and rules.people.contact("dora") is None
    assert [one.number for one in handoff.attempts] == [ONE], "a call, and no text: a link proves no phone"
    assert handoff.reason == question("ops") and handoff.urgency == "normal"
    [step] = rules.policy_for(handoff).steps
    assert [one.id for one in step.contacts] == ["dora"] and rules.policy_for(handoff).rounds == 1
    assert rules.people.contact_for(handoff, "ada") is None
    assert rules.policy_for(opened(contact="ada")).steps[0].contacts == (ADA,)


def test_a_call_that_asks_goes_on_to_the_next_number_and_to_nobody_else() -> None:
    record, handoff = asked()
    first = handoff.attempts[0].id
    change = attempts.end_attempt(handoff, first, Disposition.BUSY, people(record), NOW)
    assert change is not None
    assert [one.number for one in change.handoff.attempts] == [ONE, TWO]
    second = change.handoff.attempts[1].id
    change = attempts.end_attempt(change.handoff, second, Disposition.BUSY, people(record), NOW)
    assert change is not None and change.handoff.state is State.EXPIRED
    assert len(change.handoff.attempts) == 2


@pytest.mark.parametrize(
    "no, standing, key", [(False, Standing.VERIFIED, "1"), (True, Standing.REFUSED, "2")]
)
def test_a_key_is_kept_with_number_words_and_moment_and_twice_is_once(
    no: bool, standing: Standing, key: str
) -> None:
    record, handoff, attempt, left = closed(no=no)
    assert [one.kind for one in left].count(EffectKind.ENROL) == 1
    found = answered(record, handoff, attempt)
    assert found is not None and found.standing is standing
    [consent] = found.consents
    assert (consent.key, consent.number, consent.at) == (key, ONE, NOW)
    assert consent.words == question("ops")
    assert answered(found, handoff, attempt) is None


def test_a_yes_is_for_the_number_it_was_said_on() -> None:
    enrolled = with_(YES).enrolled
    assert enrolled.contact is not None and enrolled.asked is not None
    assert (enrolled.contact.numbers, enrolled.asked.numbers) == ((ONE,), (TWO,))
    assert enrolled.contact.pin == "kept" and "pressed 1" in (enrolled.contact.consent or "")
    assert enrolled.asked.channels == (Channel.CALL,)
    assert with_(YES, YES.model_copy(update={"number": TWO})).enrolled.asked is None


@pytest.mark.parametrize(
    "change",
    [
        {"by": OPS},
        {"by": Actor(kind=ActorKind.CONTACT, id="ada")},
        {"proof": Proof.LINK},
        {"proof": Proof.SPEECH},
        {"channel": Channel.TEXT},
    ],
    ids=str,
)
def test_no_other_word_counts_as_theirs(change: dict[str, Any]) -> None:
    record, handoff, attempt, _ = closed()
    said = word("dora").model_copy(update=change)
    assert answered(record, handoff.model_copy(update={"settlement": said}), attempt) is None


def test_neither_does_a_call_that_they_placed_nor_another_handoff_nor_a_number_they_had_before() -> None:
    record, handoff, attempt, _ = closed()
    inbound = handoff.model_copy(
        update={"attempts": tuple(one.model_copy(update={"inbound": True}) for one in handoff.attempts)}
    )
    assert answered(record, inbound, attempt) is None
    assert answered(record, handoff.model_copy(update={"enrols": False}), attempt) is None
    moved = with_(contact=DORA.model_copy(update={"numbers": (TWO,)}))
    assert answered(moved, handoff, attempt) is None
    assert answered(record, handoff, ids.new_id(ids.ATTEMPT)) is None


@pytest.mark.parametrize("channel", [Channel.CONSOLE, Channel.LINK, Channel.API])
def test_nobody_can_say_yes_for_them(channel: Channel) -> None:
    record, handoff = asked()
    said = word("dora").model_copy(update={"channel": channel})
    with pytest.raises(Invalid, match="Only the person"):
        lifecycle.resolve(handoff, said, people(record), NOW)


def test_silence_leaves_nothing_on_the_record() -> None:
    record, handoff = asked()
    expired = lifecycle.expire(handoff, people(record), handoff.deadline)
    assert expired.change is not None
    assert EffectKind.ENROL not in {one.kind for one in expired.change.effects}


@pytest.mark.parametrize(
    "record, words", [(RECORD, "Dora is not verified yet"), (with_(NO), "Dora said no when we asked")]
)
def test_a_request_that_names_them_too_early_hears_why_if_its_key_may_know(
    record: Enrolment, words: str
) -> None:
    request = OpenRequest(kind="clear", reason="A wall", contact="dora")

    def opening(rights: Rights) -> None:
        lifecycle.open_handoff(
            request, agent="a", api_key="ak_1", rules=people(record), now=NOW, rights=rights
        )

    with pytest.raises(Invalid, match=words):
        opening(Rights())
    with pytest.raises(Forbidden, match="may not ask for 'dora'"):
        opening(Rights(contacts=("ada",)))


def test_who_said_yes_is_reached_by_name_within_the_rights_of_the_key() -> None:
    request = OpenRequest(kind="clear", reason="A wall", contact="dora")
    rules = people(with_(YES))
    change = lifecycle.open_handoff(request, agent="a", api_key="ak_1", rules=rules, now=NOW)
    assert [(one.channel, one.number) for one in change.handoff.attempts][0] == (Channel.CALL, ONE)
    with pytest.raises(Forbidden):
        lifecycle.open_handoff(
            request, agent="a", api_key="ak_1", rules=rules, now=NOW, rights=Rights(contacts=("ada",))
        )


def test_the_operators_word_counts_more_than_an_enrolment_of_the_same_id() -> None:
    record = with_(YES, contact=DORA.model_copy(update={"id": "ada"}))
    assert people(record).people.contact("ada") is ADA


def test_a_handoff_that_names_somebody_unknown_is_not_decided_before_a_look() -> None:
    handoff = opened(contact="ada")
    assert RULES.people.knows(handoff) and RULES.people.knows(opened())
    assert not RULES.people.knows(handoff.model_copy(update={"contact": "dora"}))
    assert not RULES.people.knows(opened().model_copy(update={"policy": "payments"}))


def test_the_first_yes_offers_the_card_to_who_can_see_it() -> None:
    assert [one.kind for one in enrolment.leaves(with_(YES), YES)] == [EffectKind.SEND_CARD]
    assert enrolment.leaves(with_(NO), NO) == []
    second = YES.model_copy(update={"number": TWO, "handoff": "ho_1"})
    assert enrolment.leaves(with_(YES, second), second) == []
    for change in ({"screen": False}, {"channels": (Channel.CALL,)}):
        assert enrolment.leaves(with_(YES, contact=DORA.model_copy(update=change)), YES) == []


def test_the_requester_can_not_say_it_either() -> None:
    record, handoff = asked()
    said = Decision(by=AGENT, channel=Channel.CALL, proof=Proof.KEYPRESS, at=NOW)
    with pytest.raises(Forbidden):
        lifecycle.resolve(handoff, said, people(record), NOW)


def test_whose_number_it_is_takes_in_who_was_enrolled_and_agreed_to_it() -> None:
    known = people(with_(YES)).people
    [agreed] = filter(None, [known.whose(ONE)])
    assert (agreed.id, agreed.pin) == ("dora", "kept")
    assert known.whose(TWO) is None, "they were not asked on that one"
    assert [known.anybody_at(one) is not None for one in (ONE, TWO, ADA.number)] == [True] * 3
    assert people(RECORD).people.whose(ONE) is None
    taken = with_(YES, contact=DORA.model_copy(update={"numbers": (ADA.number,)}))
    assert people(taken).people.whose(ADA.number) == ADA, "the operator's word counts more"
