"""A verdict of machine detection, and the person who was there all the same."""

from __future__ import annotations

from handoff import lifecycle
from handoff.attempts import machine_took_it
from handoff.effects import EffectKind

from .lives import NOW, RULES, after, attempt, calls_of, opened, word


def test_who_was_taken_for_a_machine_and_took_it_hears_who_settles_it() -> None:
    handoff = opened()
    call = calls_of(handoff)[0]
    heard = machine_took_it(handoff, call.id, RULES, NOW, detail="found by machine detection")
    assert heard is not None and attempt(heard.handoff, call.id).ended_at is not None
    held = after(lifecycle.acknowledge(heard.handoff, word(), RULES, NOW, attempt=call.id))
    assert attempt(held, call.id).ended_at is None, "they are on the line"
    settled = lifecycle.resolve(held, word("ben"), RULES, NOW)
    assert settled.change is not None
    ended = [one.subject for one in settled.change.effects if one.kind is EffectKind.HANG_UP]
    assert call.call in ended
