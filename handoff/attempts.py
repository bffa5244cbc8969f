"""What becomes of an attempt: a call that ended, a text on its way. Pure functions, as in lifecycle.py.

They answer with the change to commit, or None when there is nothing to change: reports may come twice,
late and out of order. What Twilio's words mean is voice/dispositions.py's business.
"""

from __future__ import annotations

from typing import Any

from handoff import calling_back
from handoff.changes import Change, Decided, Draft, Rules, open_calls, update_attempt
from handoff.giving_up import give_up
from handoff.ladder import NOT_THERE, advance, anybody_rang, let_sleep, try_next_number
from handoff.limits import Held
from handoff.models import SERVICE, Attempt, Channel, EventType, Handoff
from handoff.moments import rfc3339
from handoff.notices import Notices, Trouble
from handoff.opt_outs import troubled
from handoff.outcomes import lost
from handoff.states import Disposition, State, Trigger


def end_attempt(
    handoff: Handoff,
    attempt_id: str,
    disposition: Disposition,
    rules: Rules,
    now: int,
    *,
    detail: str | None = None,
    other_number: bool = True,
    was_answered: bool = False,
    trouble: Trouble | None = None,
) -> Change | None:
    """An attempt has ended: put down what it told us, and go on with the ladder when nothing rings.

    What a person pressed in it stays what it was. None when the attempt had ended before. Without
    `other_number` their next number is not tried: they are on the phone with us. `was_answered`: a call that
    was picked up, and that nobody asked us to end, so that one which was cut off is placed again first.
    `trouble` is what the operator must be told. A step in which everybody asked us to stop ends at once, as
    nobody was rung.
    """
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None:
        return None
    draft = Draft(handoff, now)
    if trouble is not None:
        draft.notices.append(troubled(attempt, trouble, now))
    _end(draft, attempt, disposition, rules, detail, other_number=other_number, was_answered=was_answered)
    return draft.change()


def machine_took_it(
    handoff: Handoff, attempt_id: str, rules: Rules, now: int, *, detail: str
) -> Change | None:
    """A machine has the call: nobody is reached by it, and the ladder goes on, although the line is still
    taken. None when the attempt had ended, or somebody had pressed a key in it."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None or attempt.disposition is not None:
        return None
    draft = Draft(handoff, now)
    draft.note(EventType.MACHINE_HEARD, SERVICE, attempt=attempt_id, contact=attempt.contact, detail=detail)
    _end(draft, attempt, Disposition.VOICEMAIL, rules, detail)
    return draft.change()


def _end(
    draft: Draft,
    attempt: Attempt,
    disposition: Disposition,
    rules: Rules,
    detail: str | None,
    *,
    other_number: bool = True,
    was_answered: bool = False,
) -> None:
    goes_on = _ended(draft, attempt, disposition, detail)
    if goes_on and was_answered and disposition in calling_back.CUT_OFF:
        goes_on = not calling_back.after_a_drop(draft, attempt, rules)
    absent = other_number and disposition in NOT_THERE
    if goes_on and not (absent and try_next_number(draft, rules, attempt)):
        if not open_calls(draft.handoff):
            stopped = disposition is Disposition.OPTED_OUT
            advance(draft, rules, at_once=stopped and not anybody_rang(draft.handoff))
    give_up(draft, rules)


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
    give_up(draft, rules)
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
        held=None,
        held_until=None,
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
    """A call or a text is held by a limit until then. None when that is on the record already. Only a new
    reason is a line on the timeline; a later moment is put down and not told."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None or (attempt.held, attempt.held_until) == (why, until):
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, held=why, held_until=until)
    if attempt.held != why:
        draft.note(
            EventType.CALL_HELD if attempt.channel is Channel.CALL else EventType.TEXT_HELD,
            SERVICE,
            attempt=attempt_id,
            contact=attempt.contact,
            why=why,
            until=rfc3339(until),
        )
    return draft.change()


def call_moved(
    handoff: Handoff, attempt_id: str, type_: EventType, now: int, notices: Notices | None = None, **data: Any
) -> Change:
    """The provider has the call, or may have it: a line on the timeline, and no limit holds it any more.
    `notices` are kept with it."""
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, held=None, held_until=None)
    draft.note(type_, SERVICE, attempt=attempt_id, **data)
    if notices is not None:
        draft.notices.append(notices)
    return draft.change()


def pin_refused(handoff: Handoff, attempt: Attempt, asked: Trigger, now: int) -> Decided:
    """Somebody on the line gave a PIN that is not their contact's: nothing is decided."""
    if handoff.closed:
        return Decided(lost(asked, handoff))
    draft = Draft(handoff, now)
    draft.note(EventType.PIN_REFUSED, SERVICE, attempt=attempt.id, contact=attempt.contact)
    return Decided(lost(asked, handoff), draft.change())


def text_asked(handoff: Handoff, attempt_id: str, run: str, now: int, *, number: str) -> Change | None:
    """The provider is about to be asked for this text to this number, by this run. None when it was asked
    before: never twice. One whose handoff was closed since this run began is withdrawn instead."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.asked_at is not None or attempt.ended_at is not None:
        return None
    draft = Draft(handoff, now)
    if handoff.closed:
        _ended(draft, attempt, Disposition.WITHDRAWN, None)
        return draft.change()
    update_attempt(draft, attempt_id, asked_at=now, asked_run=run, number=number, held=None, held_until=None)
    return draft.change()


def text_not_processed(handoff: Handoff, attempt_id: str, now: int) -> Change | None:
    """The provider provably did not process the text: it may be asked again, unless it was heard of."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.text_rank > 0:
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, asked_at=None, asked_run=None)
    return draft.change()


def text_accepted(
    handoff: Handoff, attempt_id: str, provider_id: str, now: int, *, proven: Notices | None = None
) -> Change | None:
    """The provider took it; a callback may have said more already, and that stays. `proven`: what is no
    trouble any more."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.provider_id is not None:
        return None
    draft = Draft(handoff, now)
    update_attempt(draft, attempt_id, provider_id=provider_id)
    if proven is not None:
        draft.notices.append(proven)
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
    trouble: Trouble | None = None,
    proven: Notices | None = None,
) -> Change | None:
    """A text has come as far as `rank`. A late or repeated report of no more than that changes nothing.

    `trouble` is what the operator must be told, `proven` what is no trouble any more.
    """
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
    if trouble is not None:
        draft.notices.append(troubled(attempt, trouble, now))
    if proven is not None:
        draft.notices.append(proven)
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


def note(handoff: Handoff, type_: EventType, now: int, proven: Notices | None = None, **data: Any) -> Change:
    """Put a line on the timeline that changes no state: a call rang, a callback was delivered. `proven`: what
    is no trouble any more."""
    draft = Draft(handoff, now)
    if proven is not None:
        draft.notices.append(proven)
    draft.note(type_, SERVICE, **data)
    return draft.change()
