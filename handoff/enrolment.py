"""Contacts who are enrolled at run time: asked by a call whether they may be called, before any other call.

Pure: what is kept of them, the handoff that asks, and what an answer makes of the record. Only key 1 in that
call, on that number, is a yes; a number is called for nothing else before. Reading and committing is
enrolments.py's business, what the voice says besides the question voice/asking.py's.
"""

from __future__ import annotations

from handoff import effects, ids, ladder
from handoff.changes import Change, Draft, Rules
from handoff.effects import Effect, EffectKind
from handoff.models import Actor, ActorKind, Channel, EventType, Handoff, Proof, Record, StoredRecord
from handoff.moments import MINUTE, SECOND, rfc3339
from handoff.policy import Contact, Enrolled, Standing
from handoff.states import Disposition, Kind, State

#: How long a call that asks may take from the request to the key, ringing and held time included.
ASKED_FOR_S = 15 * MINUTE // SECOND


class Consent(Record):
    """What somebody pressed when they were asked, on which number (E.164), when, and the words they heard."""

    number: str
    key: str  # "1": yes, "2": no
    words: str
    at: int
    handoff: str
    attempt: str

    @property
    def given(self) -> bool:
        return self.key == "1"


class Enrolment(StoredRecord):
    """The record of an enrolled contact. `contact` is as the operator gave it, with every number; `consents`
    has the newest answer of each number that gave one."""

    v: int = 1
    contact: Contact
    pin: str | None = None  # as pins.py keeps it: a contact is kept without
    agent: str  # whose name was said: the API key's
    created_at: int
    handoff: str | None = None  # the newest one that asks
    consents: tuple[Consent, ...] = ()

    @property
    def standing(self) -> Standing:
        """One yes verifies them; each number is called only if it was given on that one."""
        if any(one.given for one in self.consents):
            return Standing.VERIFIED
        return Standing.REFUSED if self.consents else Standing.UNVERIFIED

    @property
    def enrolled(self) -> Enrolled:
        """As the ladder knows them."""
        yes = {one.number: one for one in self.consents if one.given}
        agreed = tuple(number for number in self.contact.numbers if number in yes)
        others = tuple(number for number in self.contact.numbers if number not in yes)
        contact = asked = None
        if agreed:
            said = yes[agreed[0]]
            vouched = f"pressed {said.key} on {rfc3339(said.at)}, after: {said.words}"
            contact = self.contact.model_copy(update={"numbers": agreed, "pin": self.pin, "consent": vouched})
        if others:
            # No text: a link proves no phone. And no other way than a call can ask.
            asked = self.contact.model_copy(update={"numbers": others, "channels": (Channel.CALL,)})
        return Enrolled(self.contact.name, self.standing, contact, asked)


def question(agent: str) -> str:
    """The exact words that they hear and that are kept with their answer."""
    return (
        f"This is Handoff, for {agent}. May we call this number when an agent needs you? "
        "Press 1 for yes. Press 2 for no."
    )


def ask(enrolment: Enrolment, by: Actor, rules: Rules, now: int) -> tuple[Enrolment, Change]:
    """The record, and the new handoff whose call asks this contact, on the numbers that gave no yes.

    `by` is the operator who asks for it. A refusal is forgotten only by an answer to the new call.
    """
    deadline = now + ASKED_FOR_S * SECOND
    contact_id = enrolment.contact.id
    handoff = Handoff(
        id=ids.new_id(ids.HANDOFF),
        kind=Kind.CLEAR,
        state=State.PENDING,
        reason=question(enrolment.agent),
        agent=enrolment.agent,
        api_key=by.id,
        timeout_s=ASKED_FOR_S,
        max_timeout_s=ASKED_FOR_S,
        on_exhausted="fail",
        policy=f"contact:{contact_id}",
        contact=contact_id,
        enrols=True,
        no_default=True,
        created_at=now,
        deadline=deadline,
    )
    enrolment = enrolment.model_copy(update={"handoff": handoff.id})
    people = rules.people.with_enrolled({contact_id: enrolment.enrolled})
    draft = Draft(handoff, now)
    draft.note(EventType.OPENED, by, deadline=rfc3339(deadline))
    draft.effects.append(effects.timer(EffectKind.DEADLINE, handoff.id, deadline))
    ladder.start(draft, rules.model_copy(update={"people": people}))
    return enrolment, draft.change()


def answered(enrolment: Enrolment, handoff: Handoff, attempt_id: str) -> Enrolment | None:
    """The record with what they pressed in this attempt. None when there is nothing new: it is on record, or
    whoever closed the handoff was not they, by a key in the call that we placed."""
    said, attempt = handoff.settlement, handoff.attempt(attempt_id)
    if said is None or attempt is None or attempt.number is None or attempt.inbound:
        return None
    theirs = (said.by.kind, said.by.id) == (ActorKind.CONTACT, enrolment.contact.id)
    if (
        not handoff.enrols
        or not theirs
        or said.channel is not Channel.CALL
        or said.proof is not Proof.KEYPRESS
    ):
        return None
    if attempt.number not in enrolment.contact.numbers:
        return None  # enrolled anew meanwhile, with other numbers
    if any(one.handoff == handoff.id for one in enrolment.consents):
        return None
    consent = Consent(
        number=attempt.number,
        key="1" if handoff.state is State.RESOLVED else "2",
        words=handoff.reason,
        at=said.at,
        handoff=handoff.id,
        attempt=attempt_id,
    )
    others = tuple(one for one in enrolment.consents if one.number != consent.number)
    return enrolment.model_copy(update={"consents": (*others, consent)})


def said_in(enrolment: Enrolment, handoff: Handoff) -> str | None:
    """The attempt in which they pressed a key that is not on record yet, as it is for a moment."""
    decided = (Disposition.RESOLVED, Disposition.DECLINED)
    said = (one.id for one in handoff.attempts if one.disposition in decided)
    return next((one for one in said if answered(enrolment, handoff, one)), None)


def takes_cards(contact: Contact) -> bool:
    """Whether a text with an address is of use to them."""
    return Channel.TEXT in contact.channels and contact.screen


def gets_card(record: Enrolment, handoff: str) -> bool:
    """Whether a yes to this handoff, on record or not yet, is their first one, after which they are texted
    where our contact card is."""
    earlier = any(one.given and one.handoff != handoff for one in record.consents)
    return takes_cards(record.contact) and not earlier


def leaves(after: Enrolment, consent: Consent) -> list[Effect]:
    """What an answer that was put on record leaves to be done."""
    if not consent.given or not gets_card(after, consent.handoff):
        return []
    return [effects.send_card(after.contact.id, consent.at)]
