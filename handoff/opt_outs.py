"""Who wants no more calls or texts, and what that changes. Pure functions, as in lifecycle.py.

An opt-out is about a number, not a person: it is kept whoever the number belongs to, and a person's other
numbers are still called for what comes later. Where it is kept is store/opt_outs.py's business.
"""

from __future__ import annotations

from handoff import effects
from handoff.changes import Change, Draft, Rules, mark, open_calls, update_attempt
from handoff.effects import EffectKind
from handoff.giving_up import give_up
from handoff.ladder import advance
from handoff.models import Actor, Attempt, Call, Channel, EventType, Handoff, Proof
from handoff.notices import (
    Concern,
    Notices,
    OptOut,
    Seen,
    Stopped,
    Trouble,
    Warned,
    opt_out_key,
    proven_by_receipt,
    proven_by_taking,
    warning_key,
)
from handoff.people import mask
from handoff.states import Disposition, State


def no_more_calls(
    handoff: Handoff, call: Call, attempt_id: str, by: Actor, rules: Rules, now: int
) -> Change | None:
    """The person on this call pressed 8 twice: their number is called no more. None when that was done.

    It is no refusal: the ladder goes on at once, to the next person, since somebody who has just asked us
    to stop is not rung on another number for the same thing. Whoever has the handoff keeps it; one that is
    closed stays as it is; the opt-out counts all the same.
    """
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.opted_out:
        return None
    draft = Draft(handoff, now)
    undecided = attempt.disposition is None
    if undecided:
        mark(draft, attempt_id, Disposition.OPTED_OUT)
    update_attempt(draft, attempt_id, opted_out=True)
    draft.note(EventType.OPTED_OUT, by, Proof.KEYPRESS, attempt=attempt_id, contact=attempt.contact)
    opt_out = OptOut(
        key=opt_out_key(Channel.CALL, call.number),
        channel=Channel.CALL,
        contact=call.contact,
        contact_name=call.contact_name,
        number=mask(call.number),
        how=Stopped.KEY,
        seen=Seen.CALL,
        at=now,
    )
    draft.notices.append(kept(opt_out, call.number))
    draft.effects.append(effects.timer(EffectKind.STOP_CALLS, call.id, now))
    goes_on = handoff.state is State.ESCALATING and not handoff.exhausted and now < handoff.deadline
    if undecided and goes_on and handoff.next_step_at is None and not open_calls(draft.handoff):
        advance(draft, rules, at_once=True)
    give_up(draft, rules)
    return draft.change()


def kept(opt_out: OptOut, number: str, code: int | None = None) -> Notices:
    """An opt-out and the warning that goes with it."""
    kind = Concern.OPTED_OUT if opt_out.channel is Channel.CALL else Concern.NO_TEXTS
    warned = Warned(
        key=warning_key(kind, opt_out.seen, number),
        kind=kind,
        seen=opt_out.seen,
        contact=opt_out.contact,
        contact_name=opt_out.contact_name,
        number=opt_out.number,
        sender=opt_out.sender,
        code=code,
        opt_out=opt_out.key,
    )
    return Notices(opt_outs=(opt_out,), warned=(warned,))


def no_more_texts(
    contact: str,
    name: str,
    number: str,
    sender: str,
    how: Stopped,
    now: int,
    *,
    seen: Seen = Seen.TEXT,
    code: int | None = None,
) -> Notices:
    """Texts from this sender to this number are off: said by a STOP, or seen at the provider."""
    opt_out = OptOut(
        key=opt_out_key(Channel.TEXT, number, sender),
        channel=Channel.TEXT,
        contact=contact,
        contact_name=name,
        number=mask(number),
        sender=sender,
        how=how,
        seen=seen,
        at=now,
    )
    return kept(opt_out, number, code)


def texts_again(number: str, sender: str) -> Notices:
    """They texted START, or the provider took a text: texts from this sender are on again."""
    return Notices(
        lifted=(opt_out_key(Channel.TEXT, number, sender),),
        cleared=tuple(warning_key(Concern.NO_TEXTS, seen, number) for seen in (Seen.TEXT, Seen.RECEIPT)),
    )


def troubled(attempt: Attempt, trouble: Trouble, now: int) -> Notices:
    """What a refusal leaves for the operator. A STOP that we were not told of counts as one, without alarm:
    the next handoff tries again, and the provider knows when it is over."""
    about = trouble.sender if trouble.ours else attempt.number
    if about is None:
        return Notices()
    if trouble.kind is Concern.NO_TEXTS:
        who, name, how = attempt.contact, attempt.contact_name, Stopped.PROVIDER
        sender, seen = trouble.sender or "", trouble.seen
        return no_more_texts(who, name, about, sender, how, now, seen=seen, code=trouble.code)
    warned = Warned(
        key=warning_key(trouble.kind, trouble.seen, about),
        kind=trouble.kind,
        seen=trouble.seen,
        contact=None if trouble.ours else attempt.contact,
        contact_name=None if trouble.ours else attempt.contact_name,
        number=None if trouble.ours else mask(about),
        sender=trouble.sender,
        code=trouble.code,
        why=trouble.why,
    )
    return Notices(warned=(warned,))


def taken(number: str, sender: str, known: OptOut | None) -> Notices:
    """The provider took a text: what it refused texts for is over. `known`: the opt-out, if there is one; a
    STOP that shows on the receipt only is not disproven yet."""
    again = known is not None and known.tried_again and known.seen is Seen.TEXT
    return _over(number, sender, proven_by_taking(number, sender), again)


def arrived(number: str, sender: str, known: OptOut | None) -> Notices:
    """A text arrived. It may have been sent before their STOP, which therefore stands."""
    again = known is not None and known.tried_again
    return _over(number, sender, proven_by_receipt(number, sender), again)


def _over(number: str, sender: str, proven: tuple[str, ...], again: bool) -> Notices:
    back = texts_again(number, sender) if again else Notices()
    return Notices(lifted=back.lifted, cleared=(*back.cleared, *proven))
