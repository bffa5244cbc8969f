"""The rows of the outbox: ids that RQ takes, one row for one thing, and somebody who does each kind."""

from __future__ import annotations

import re

import pytest

from handoff import effects, ids
from handoff.effects import TIMERS, Effect, EffectKind
from handoff.store import Plan
from workers.clock import _TIMERS
from workers.performing import _DO

HANDOFF, CALL, ATTEMPT = (ids.new_id(kind) for kind in (ids.HANDOFF, ids.CALL, ids.ATTEMPT))

ALL = [
    effects.place_call(CALL, 1),
    effects.send_text(HANDOFF, ATTEMPT, 1),
    effects.hang_up(CALL, 1),
    effects.reconcile_call(CALL, 1),
    effects.resume(HANDOFF, "https://agent.example/resume", "{}", 1),
    effects.enrol(HANDOFF, ATTEMPT, 1),
    effects.send_card("dora_b-2", 1),
    *(effects.timer(kind, HANDOFF, 1) for kind in sorted(TIMERS - {EffectKind.ENROL})),
]


def test_the_table_of_this_test_has_every_kind() -> None:
    assert sorted(effect.kind for effect in ALL) == sorted(EffectKind)


@pytest.mark.parametrize("effect", ALL, ids=lambda effect: effect.kind)
def test_an_id_is_one_that_rq_takes_with_the_number_of_its_claim(effect: Effect) -> None:
    """RQ 3: letters, digits, underscores and dashes only."""
    assert re.fullmatch(r"[A-Za-z0-9_-]+", f"{effect.id}-17")


@pytest.mark.parametrize("effect", ALL, ids=lambda effect: effect.kind)
def test_a_row_survives_being_kept_byte_for_byte(effect: Effect) -> None:
    """Finishing compares the whole row, so that it must read back as it was written."""
    kept = effect.model_dump_json()
    assert Effect.model_validate_json(kept) == effect
    assert Effect.model_validate_json(kept).model_dump_json() == kept


def test_no_two_effects_share_a_row() -> None:
    assert len({effect.id for effect in ALL}) == len(ALL)


def test_the_same_effect_written_twice_is_one_row() -> None:
    assert effects.place_call(CALL, 1).id == effects.place_call(CALL, 2).id
    assert effects.timer(EffectKind.LAPSE, HANDOFF, 5, revision=5).id == effects.timer_id(
        EffectKind.LAPSE, HANDOFF
    )


def test_a_handoffs_two_texts_are_two_rows() -> None:
    other = ids.new_id(ids.ATTEMPT)
    assert effects.send_text(HANDOFF, ATTEMPT, 1).id != effects.send_text(HANDOFF, other, 1).id


def test_the_clock_decides_exactly_the_timers_and_the_workers_do_exactly_the_rest() -> None:
    assert set(_TIMERS) == TIMERS
    assert set(_DO) == set(EffectKind) - TIMERS


def test_a_phone_that_rings_for_nothing_stops_before_anything_else_that_waits_is_done() -> None:
    assert Plan(effects=[effects.place_call(CALL, 1), effects.hang_up(CALL, 1)]).urgent == {f"hang_up-{CALL}"}
