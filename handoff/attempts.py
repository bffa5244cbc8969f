"""What becomes of an attempt: a call that ended, a text on its way. Pure functions, as in lifecycle.py.

They answer with the change to commit, or None when there is nothing to change: reports may come twice,
late and out of order. What Twilio's words mean is voice/dispositions.py's business.
"""

from __future__ import annotations

from typing import Any

from handoff.changes import Change, Draft, Rules, open_calls, update_attempt
from handoff.ladder import NOT_THERE, advance, let_sleep, try_next_number
from handoff.limits import Held
from handoff.models import SERVICE, Attempt, Channel, EventType, Handoff
from handoff.moments import rfc3339
from handoff.states import Disposition, State


def end_attempt(
    handoff: Handoff,
    attempt_id: str,
    disposition: Disposition,
    rules: Rules,
    now: int,
    *,
    detail: str | None = None,
    other_number: bool = True,
) -> Change | None:
    """An attempt has ended: put down what it told us, and go on with the ladder when nothing rings.

    What a person pressed in it stays what it was. None when the attempt had ended before. Without
    `other_number` their next number is not tried: they are on the phone with us.
    """
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None:
        return None
    draft = Draft(handoff, now)
    goes_on = _ended(draft, attempt, disposition, detail)
    absent = other_number and disposition in NOT_THERE
    if goes_on and not (absent and try_next_number(draft, rules, attempt)):
        if not open_calls(draft.handoff):
            advance(draft, rules)
    return draft.change()


def put_to_bed(
    handoff: Handoff, attempt_id: str, rules: Rules, now: int, *, detail: str = "quiet hours"
) -> Change | None:
    """A call that was due ends without being placed, since its contact must not be rung on this number any
    more: by now they have quiet hours, or an edit took the number out. None when it had ended before.

    Whoever has another number and may be rung is rung there; else it goes on as the policy's `quiet` says.
    """
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None:
        return None
    draft = Draft(handoff, now)
    goes_on = _ended(draft, attempt, Disposition.WITHDRAWN, detail)
    if goes_on and not try_next_number(draft, rules, attempt):
        let_sleep(draft, rules)
    return draft.change()


def _ended(draft: Draft, attempt: Attempt, disposition: Disposition, detail: str | None) -> bool:
    """Puts down what the attempt told us. Whether the ladder goes on from here: it was a call of ours that
    brought no decision, nobody has the handoff, and no wait is on, which has its own end."""
    update_attempt(
        draft,
        attempt.id,
        ended_at=draft.now,
        disposition=attempt.disposition or disposition,
        detail=detail or attempt.detail,
    )
    if attempt.disposition is not None:
        return False
    draft.note(
        EventType.ATTEMPT_ENDED,
        SERVICE,
        attempt=attempt.id,
        contact=attempt.contact,
        channel=attempt.channel,
        disposition=disposition,
        detail=detail,
    )
    handoff = draft.handoff
    idle = handoff.exhausted or handoff.next_step_at is not None or draft.now >= handoff.deadline
    rang = attempt.channel is Channel.CALL and not attempt.inbound
    return handoff.state is State.ESCALATING and not idle and rang


def hold(handoff: Handoff, attempt_id: str, why: Held, until: int, now: int) -> Change | None:
    """A call is held by a limit until then. None when that is on the record already."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None or attempt.held == why:
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, held=why, held_until=until)
    draft.note(
        EventType.CALL_HELD,
        SERVICE,
        attempt=attempt_id,
        contact=attempt.contact,
        why=why,
        until=rfc3339(until),
    )
    return draft.change()


def text_asked(handoff: Handoff, attempt_id: str, run: str, now: int) -> Change | None:
    """The provider is about to be asked for this text, by this run. None when it was asked before: never
    twice."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.asked_at is not None:
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, asked_at=now, asked_run=run)
    return draft.change()


def text_not_processed(handoff: Handoff, attempt_id: str, now: int) -> Change | None:
    """The provider provably did not process the text: it may be asked again, unless it was heard of."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.text_rank > 0:
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, asked_at=None, asked_run=None)
    return draft.change()


def text_accepted(handoff: Handoff, attempt_id: str, provider_id: str, now: int) -> Change | None:
    """The provider took it; a callback may have said more already, and that stays."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.provider_id is not None:
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, provider_id=provider_id)
    draft.note(EventType.TEXT_SENT, SERVICE, attempt=attempt_id, contact=attempt.contact)
    return draft.change()


def text_moved(
    handoff: Handoff,
    attempt_id: str,
    now: int,
    *,
    rank: int,
    disposition: Disposition | None,
    detail: str | None = None,
) -> Change | None:
    """A text has come as far as `rank`. A late or repeated report of no more than that changes nothing."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or rank <= attempt.text_rank:
        return None
    draft = Draft(handoff, now)
    final = disposition is not None and disposition is not Disposition.SENT
    update_attempt(
        draft,
        attempt_id,
        text_rank=rank,
        disposition=disposition or attempt.disposition,
        detail=detail or attempt.detail,
        ended_at=attempt.ended_at or (now if final else None),
    )
    if disposition is not None and disposition is not attempt.disposition:
        draft.note(
            EventType.TEXT_MOVED,
            SERVICE,
            attempt=attempt_id,
            contact=attempt.contact,
            disposition=disposition,
            detail=detail,
        )
    return draft.change()


def note(handoff: Handoff, type_: EventType, now: int, **data: Any) -> Change:
    """Put a line on the timeline that changes no state: a call rang, a callback was delivered."""
    draft = Draft(handoff, now)
    draft.note(type_, SERVICE, **data)
    return draft.change()
