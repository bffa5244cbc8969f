"""What is on record of a call or a text that a limit holds: why and until when, for as long as it waits."""

from __future__ import annotations

import pytest

from handoff import attempts, lifecycle
from handoff.effects import EffectKind
from handoff.limits import Held
from handoff.models import Actor, ActorKind, EventType, Handoff
from handoff.moments import SECOND
from handoff.states import CloseReason, Disposition

from .lives import NOW, RULES, after, attempt, calls_of, opened, text_of

UNTIL = NOW + 60 * SECOND
ADMIN = Actor(kind=ActorKind.OPERATOR, id="ak_2", name="ops")


def held(handoff: Handoff, which: str, why: Held = Held.RATE, until: int = UNTIL) -> Handoff:
    change = attempts.hold(handoff, which, why, until, NOW)
    assert change is not None
    return change.handoff


def test_only_a_new_reason_is_a_line_and_the_moment_is_brought_up_to_date() -> None:
    handoff = opened()
    [call] = calls_of(handoff)
    first = held(handoff, call.id)
    later = attempts.hold(first, call.id, Held.RATE, UNTIL + 1, NOW)
    assert later is not None and later.events == ()
    assert attempt(later.handoff, call.id).held_until == UNTIL + 1
    assert attempts.hold(later.handoff, call.id, Held.RATE, UNTIL + 1, NOW) is None, "it says so already"
    other = attempts.hold(later.handoff, call.id, Held.SHARE, UNTIL + 1, NOW)
    assert other is not None and [event.type for event in other.events] == [EventType.CALL_HELD]


@pytest.mark.parametrize("said", [EventType.CALL_PLACED, EventType.CALL_UNKNOWN, EventType.CALL_RINGING])
def test_a_call_that_the_provider_has_waits_for_no_limit_any_more(said: EventType) -> None:
    handoff = opened()
    [call] = calls_of(handoff)
    change = attempts.call_moved(held(handoff, call.id), call.id, said, NOW, contact="ada")
    moved = attempt(change.handoff, call.id)
    assert (moved.held, moved.held_until) == (None, None)
    assert [event.type for event in change.events] == [said]


def test_what_ended_waits_for_no_limit_any_more() -> None:
    handoff = opened()
    for one in (calls_of(handoff)[0], text_of(handoff)):
        change = attempts.end_attempt(held(handoff, one.id), one.id, Disposition.WITHDRAWN, RULES, NOW)
        assert change is not None and attempt(change.handoff, one.id).held is None


def test_a_text_that_is_held_says_so_until_the_provider_is_asked() -> None:
    handoff = opened()
    text = text_of(handoff)
    change = attempts.hold(handoff, text.id, Held.TEXTS, UNTIL, NOW)
    assert change is not None and [event.type for event in change.events] == [EventType.TEXT_HELD]
    asked = attempts.text_asked(change.handoff, text.id, "run", NOW, number="+12125550123")
    assert asked is not None and attempt(asked.handoff, text.id).held is None


def test_a_text_whose_handoff_closed_a_moment_ago_is_not_asked_for() -> None:
    handoff = opened()
    text = text_of(handoff)
    closed = after(lifecycle.cancel(handoff, ADMIN, CloseReason.OPERATOR, RULES, NOW))
    change = attempts.text_asked(closed, text.id, "run", NOW, number="+12125550123")
    assert change is not None
    left = attempt(change.handoff, text.id)
    assert (left.asked_run, left.disposition) == (None, Disposition.WITHDRAWN)


def test_closing_has_a_held_text_withdrawn_at_once_and_leaves_one_that_was_sent_alone() -> None:
    handoff = opened()
    text = text_of(handoff)
    for before, rows in ((held(handoff, text.id, Held.TEXTS), [text.id]), (handoff, [])):
        decided = lifecycle.cancel(before, ADMIN, CloseReason.OPERATOR, RULES, NOW)
        assert after(decided).closed and decided.change is not None
        sent = [one for one in decided.change.effects if one.kind is EffectKind.SEND_TEXT]
        assert [one.attempt for one in sent] == rows and all(one.due == NOW for one in sent)
