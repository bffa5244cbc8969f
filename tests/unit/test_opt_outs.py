"""Who wants no more calls or texts, and what an operator is told: the rules, without a phone."""

from __future__ import annotations

import pytest

from handoff import attempts, lifecycle, notices, opt_outs
from handoff.changes import Change, Rules
from handoff.effects import EffectKind
from handoff.models import Actor, ActorKind, Attempt, Call, Channel, EventType, Handoff
from handoff.moments import SECOND
from handoff.notices import Concern, OptOut, Seen, Stopped, Trouble, Warned, sentence
from handoff.policy import Step
from handoff.states import CloseReason, Disposition, State
from voice import scripts_stop, troubles
from voice.gateway import Permanent
from voice.inbound_texts import said

from .lives import ADA, BEN, NOW, RULES, after, attempt, calls_of, check, opened, rules, text_of, word
from .spoken import AGAIN_URL, KEY_URL, gather_in, heard, verbs

OURS = "+12125550100"
BY_ADA = Actor(kind=ActorKind.CONTACT, id="ada", name="Ada")


def stopped(handoff: Handoff, now: int = NOW) -> Change | None:
    """Ada presses 8 twice in her first call."""
    first = calls_of(handoff)[0]
    call = Call.model_validate(
        {"id": first.call, "contact": "ada", "contact_name": "Ada", "number": ADA.number}
        | {"entries": [], "ring_s": 25, "created_at": NOW}
    )
    return opt_outs.no_more_calls(handoff, call, first.id, BY_ADA, RULES, now)


def test_the_opt_out_is_kept_with_the_change_and_the_next_person_is_rung() -> None:
    handoff = opened()
    change = stopped(handoff)
    assert change is not None
    check(handoff, change)
    [left] = change.notices
    [kept], [told] = left.opt_outs, left.warned
    assert (kept.channel, kept.number, told.kind) == (Channel.CALL, "…0123", Concern.OPTED_OUT)
    assert ADA.number not in kept.model_dump_json() + told.model_dump_json()
    assert [one.contact for one in change.calls] == ["ben"]
    assert EffectKind.STOP_CALLS in [one.kind for one in change.effects]
    assert change.events[0].type is EventType.OPTED_OUT
    assert calls_of(change.handoff)[0].disposition is Disposition.OPTED_OUT
    assert stopped(change.handoff) is None, "told again, it acts once"


def test_whoever_has_it_keeps_it_and_what_is_closed_stays_closed() -> None:
    handoff = opened()
    mine = lifecycle.acknowledge(handoff, word(), RULES, NOW, attempt=calls_of(handoff)[0].id)
    over = lifecycle.expire(handoff, RULES, handoff.deadline)
    for before in (after(mine), after(over)):
        change = stopped(before, NOW + SECOND)
        assert change is not None and change.notices and not change.calls
        assert (change.handoff.state, change.handoff.acknowledged) == (before.state, before.acknowledged)


def test_a_call_that_is_not_placed_for_that_goes_to_their_other_number() -> None:
    two = ADA.model_copy(update={"numbers": (ADA.number, "+12125550133")})
    change = _not_placed(opened(by=rules((two,), (BEN,))), by=rules((two,), (BEN,)))
    assert [one.number for one in change.calls] == ["+12125550133"]


def test_a_step_in_which_nobody_was_rung_does_not_wait_and_fails_at_once_where_asked_to() -> None:
    patient = rules((ADA,))
    [policy] = patient.people.policies
    policy = policy.model_copy(update={"steps": (Step(contacts=(ADA,), ring_s=25, wait_s=600),)})
    patient = patient.model_copy(update={"people": patient.people.model_copy(update={"policies": (policy,)})})
    change = _not_placed(opened(by=patient, on_exhausted="fail"), by=patient)
    assert (change.handoff.state, change.handoff.close_reason) == (State.EXPIRED, CloseReason.UNREACHABLE)


def _not_placed(handoff: Handoff, by: Rules) -> Change:
    first = calls_of(handoff)[0].id
    change = attempts.end_attempt(handoff, first, Disposition.OPTED_OUT, by, NOW)
    assert change is not None
    return change


def test_a_receipt_lifts_what_we_guessed_and_never_what_they_said() -> None:
    def known(how: Stopped, seen: Seen) -> OptOut:
        return opt_outs.no_more_texts("ada", "Ada", ADA.number, OURS, how, NOW, seen=seen).opt_outs[0]

    for lifts, how, seen, rule in [
        (True, Stopped.PROVIDER, Seen.TEXT, opt_outs.taken),
        (False, Stopped.PROVIDER, Seen.RECEIPT, opt_outs.taken),
        (True, Stopped.PROVIDER, Seen.RECEIPT, opt_outs.arrived),
        (False, Stopped.TEXT, Seen.TEXT, opt_outs.arrived),
    ]:
        opt_out = known(how, seen)
        assert rule(ADA.number, OURS, opt_out).lifted == ((opt_out.key,) if lifts else ())
    assert opt_outs.arrived(ADA.number, OURS, None).lifted == ()


def test_each_warning_goes_by_the_proof_of_its_opposite() -> None:
    handoff = opened()
    call = calls_of(handoff)[0]
    text = text_of(handoff).model_copy(update={"number": ADA.number})

    def key(which: Attempt, kind: Concern, seen: Seen, ours: bool = False) -> str:
        trouble = Trouble(kind, seen, 1, "why", sender=OURS, ours=ours)
        return opt_outs.troubled(which, trouble, NOW).warned[0].key

    assert key(call, Concern.BAD_NUMBER, Seen.CALL) in notices.proven_by_answer(ADA.number)
    placing = notices.proven_by_placing(ADA.number, OURS)
    assert key(call, Concern.FORBIDDEN, Seen.CALL) in placing
    assert key(call, Concern.FORBIDDEN, Seen.CALL, ours=True) in placing
    assert key(call, Concern.BAD_NUMBER, Seen.CALL) not in placing, "only an answer proves a number"
    taken = opt_outs.taken(ADA.number, OURS, None).cleared
    arrived = opt_outs.arrived(ADA.number, OURS, None).cleared
    for kind, ours in ((Concern.BAD_NUMBER, False), (Concern.FORBIDDEN, False), (Concern.FORBIDDEN, True)):
        assert key(text, kind, Seen.TEXT, ours) in taken
        assert key(text, kind, Seen.RECEIPT, ours) in arrived
        assert key(text, kind, Seen.RECEIPT, ours) not in taken


@pytest.mark.parametrize(
    ("body", "word_of_it"),
    [
        *(
            (word, "STOP")
            for word in ("STOP", "stop", " Stop.\n", "STOP 🙏", "“unsubscribe”", "Cancel!", "ＳＴＯＰ")
        ),
        *((word, "START") for word in ("START", "unstop", "Start!")),
        ("yes", "YES"),
        ("Help?", "HELP"),
        *((word, None) for word in ("stop it", "don't stop", "STOP STOP", "", "🙏", "1", "ok", "s.top")),
    ],
)
def test_only_a_whole_text_is_a_word_of_twilios(body: str, word_of_it: str | None) -> None:
    assert said(body) == word_of_it


def test_what_twilio_made_of_it_counts_more_than_the_word() -> None:
    assert [said("basta", "STOP"), said("STOP", "HELP"), said("STOP", "ODD")] == ["STOP", "HELP", "STOP"]


def test_refusals_are_told_as_what_is_to_be_mended() -> None:
    def told(disposition: Disposition, code: int | None) -> Trouble | None:
        return troubles.of_refusal(Permanent("no", code=code, disposition=disposition), Seen.CALL, OURS)

    bad, country = told(Disposition.INVALID_NUMBER, 21217), told(Disposition.BLOCKED, 21215)
    broke, denied = told(Disposition.BLOCKED, 20005), told(Disposition.BLOCKED, None)
    assert bad and bad.kind is Concern.BAD_NUMBER
    assert country and not country.ours and country.why == "calls to that country are not enabled"
    assert broke and broke.ours and denied and denied.why == "Twilio denies us access"
    assert told(Disposition.PROVIDER_ERROR, 21205) is None
    stop = troubles.of_end(Disposition.OPTED_OUT, 30004, OURS)
    assert stop and (stop.kind, stop.seen) == (Concern.NO_TEXTS, Seen.RECEIPT)
    assert troubles.of_end(Disposition.DELIVERED, None, OURS) is None
    assert troubles.of_end(Disposition.UNREACHABLE, 30003, OURS) is None, "a phone that is off mends itself"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"kind": "opted_out", "seen": "call"},
            "Ada pressed 8 twice: …0123 is not called any more. Lift it only if they ask for it.",
        ),
        (
            {"kind": "no_texts", "seen": "text", "sender": "MG" + "0" * 32, "code": 21610},
            "Ada must text START to the number that our texts come from before …0123 can be texted again "
            "(Twilio error 21610).",
        ),
        (
            {"kind": "bad_number", "seen": "receipt", "code": 30005},
            "Ada’s number …0123 is not a good one for texts (Twilio error 30005): correct it where it is "
            "configured.",
        ),
        (
            {"kind": "forbidden", "seen": "call", "contact": None, "code": 20005, "why": "no funds"},
            "Calls to anybody fail: no funds (Twilio error 20005).",
        ),
    ],
)
def test_an_operator_reads_what_is_wrong_and_what_to_do(fields: dict[str, object], words: str) -> None:
    about = {"key": "k", "contact": "ada", "contact_name": "Ada", "number": "…0123"}
    assert sentence(Warned.model_validate(about | fields)) == words


def test_the_question_takes_a_key_at_any_moment_and_leads_back_to_the_menu() -> None:
    asked = scripts_stop.ask(key_url=KEY_URL, again_url=AGAIN_URL)
    assert [one.tag for one in verbs(asked)] == ["Gather", "Redirect"]
    assert gather_in(asked).get("action") == KEY_URL and verbs(asked)[1].text == AGAIN_URL
    assert heard(asked) == "To stop all calls to this number, press 8 again. Or press star to go back."
    assert [one.tag for one in verbs(scripts_stop.stopped())] == ["Say", "Hangup"]


def test_an_attempt_that_was_stopped_is_read_back() -> None:
    change = stopped(opened())
    assert change is not None
    again = Handoff.model_validate_json(change.handoff.model_dump_json(exclude_none=True))
    assert attempt(again, calls_of(again)[0].id).opted_out
