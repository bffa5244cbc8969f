"""Enrolling contacts at run time: read, decide, commit. What is decided is enrolment.py's; a change and what
it leaves to be done are one commit, so that no kill loses an answer or asks twice.

Contacts of the people file and the environment are the operator's word, and nothing here changes them.
"""

from __future__ import annotations

from handoff import effects, enrolment, pins
from handoff.commands import Handoffs
from handoff.effects import Effect
from handoff.enrolment import Enrolment
from handoff.errors import Conflict, Invalid, NotFound, TooManyRequests, Unavailable
from handoff.loop import MAX_ROUNDS
from handoff.models import Actor, Channel
from handoff.moments import DAY, SECOND
from handoff.people import is_assigned, is_premium, mask
from handoff.policy import Contact
from handoff.states import CloseReason
from handoff.store import Done, EnrolledContacts, EnrolmentChange, Plan

#: How often one contact may be asked again in a day, and be texted our card.
TIMES_A_DAY = 3


class Enrolments:
    """Commands on enrolled contacts. Every method answers only after its change was committed."""

    def __init__(self, handoffs: Handoffs, contacts: EnrolledContacts, our_number: str, text_sender: str):
        """`our_number` (E.164) is the one that calls are placed from; `text_sender` is what texts come from,
        that number or a Messaging Service."""
        self.handoffs, self.contacts = handoffs, contacts
        self._our_number, self._text_sender = our_number, text_sender

    def enrol(self, contact: Contact, pin: str | None, by: Actor) -> tuple[Enrolment, bool]:
        """Enrols a contact and has them asked by a call; the record, and whether it is new. The same once
        more finds the same record and rings nobody. `pin` is as they type it.

        Raises Invalid for a number that can't be theirs, Conflict for an id or a number that is taken.
        """
        for place, number in enumerate(contact.numbers):
            if number == self._our_number:
                raise Invalid.field(f"numbers.{place}", "is the number that we call from")
            if not is_assigned(number):
                raise Invalid.field(f"numbers.{place}", "is in no range of numbers that its country has")
            if is_premium(number):
                raise Invalid.field(f"numbers.{place}", "is a premium-rate number, and nobody's telephone")
        kept = pins.kept(pin) if pin else None
        for _ in range(MAX_ROUNDS):
            found = self.contacts.read(contact.id)
            if found is not None:
                if found.contact == contact and _same_pin(pin, found.pin):
                    return found, False
                raise Conflict(
                    f"There is a contact {contact.id!r} already, and other things are said of them."
                )
            self._check_free(contact)
            now = self.handoffs.clock()
            record = Enrolment(contact=contact, pin=kept, agent=by.name or by.id, created_at=now)
            if asked := self._ask(record, None, by, now):
                return asked, True
        raise Unavailable("Too much is going on with this contact. Please try again.")

    def ask_again(self, contact_id: str, by: Actor) -> Enrolment:
        """Has them asked by one more call; while one is under way, that one is the answer.

        Raises NotFound, Conflict when there is nothing to ask, TooManyRequests.
        """
        counted = False
        for _ in range(MAX_ROUNDS):
            found = self._enrolled(contact_id)
            if found.enrolled.asked is None:
                raise Conflict(f"{found.contact.name} has said yes already.")
            handoff = self.handoffs.store.read(found.handoff) if found.handoff else None
            if handoff is not None and not handoff.closed:
                return found
            if handoff is not None and (attempt := enrolment.said_in(found, handoff)):
                self.settle(handoff.id, attempt)  # nobody is asked what they have just said
                continue
            if not counted and self.handoffs.store.over_rate(
                f"asked:{contact_id}", TIMES_A_DAY, DAY // SECOND
            ):
                raise TooManyRequests(
                    f"{found.contact.name} was asked {TIMES_A_DAY} times today.", retry_after_s=3_600
                )
            counted = True
            if asked := self._ask(found, found, by, self.handoffs.clock()):
                return asked
        raise Unavailable("Too much is going on with this contact. Please try again.")

    def settle(self, handoff_id: str, attempt_id: str) -> None:
        """Puts what they pressed in this attempt on their record; twice is once. A first yes also leaves the
        text that offers our card."""
        for _ in range(MAX_ROUNDS):
            handoff = self.handoffs.store.read(handoff_id)
            before = self.contacts.read(handoff.contact) if handoff and handoff.contact else None
            after = enrolment.answered(before, handoff, attempt_id) if handoff and before else None
            if before is None or after is None:
                return
            now = self.handoffs.clock()
            left = enrolment.leaves(after, after.consents[-1])
            plan = Plan(enrolment=EnrolmentChange(before, after), effects=left)
            if isinstance(self.handoffs.store.commit(plan, now), Done):
                self.handoffs.hand_out(plan)
                return
        raise Unavailable("Too much is going on with this contact.")

    def remove(self, contact_id: str, by: Actor) -> None:
        """Takes an enrolled contact out; a call that asks them is withdrawn. Raises NotFound, and Conflict
        for one of the people file or the environment."""
        found = self._enrolled(contact_id)
        for _ in range(MAX_ROUNDS):
            plan = Plan(enrolment=EnrolmentChange(found, None), drop=[effects.send_card(contact_id, 0).id])
            done = isinstance(self.handoffs.store.commit(plan, self.handoffs.clock()), Done)
            fresh = None if done else self.contacts.read(contact_id)
            if fresh is None:  # gone; perhaps it was only the reply that was lost
                if found.handoff:
                    self._withdraw(found.handoff, by)
                return
            found = fresh
        raise Unavailable("Too much is going on with this contact. Please try again.")

    def offer_card(self, contact_id: str) -> Contact:
        """Has this contact texted where our contact card is. Raises NotFound, Invalid for one who gets no
        such texts, TooManyRequests."""
        contact = self.handoffs.contact(contact_id)
        if contact is None:
            enrolled = self.contacts.read(contact_id)
            if enrolled is None:
                raise NotFound(f"There is no contact {contact_id!r}.")
            raise Conflict(f"{enrolled.contact.name} has not agreed to be reached by us (yet).")
        if not enrolment.takes_cards(contact):
            why = "can't see a screen" if not contact.screen else "takes no texts"
            raise Conflict(f"{contact.name} {why}, and the card is behind a link in a text.")
        if self.stopped(contact.number):
            raise Conflict(f"{contact.name} has texted STOP, and gets no texts before they text START.")
        store, now = self.handoffs.store, self.handoffs.clock()
        if store.over_rate(f"card:{contact_id}", TIMES_A_DAY, DAY // SECOND):
            raise TooManyRequests(
                f"{contact.name} was sent it {TIMES_A_DAY} times today.", retry_after_s=3_600
            )
        plan = Plan(effects=[effects.send_card(contact_id, now)])
        store.commit(plan, now)
        self.handoffs.hand_out(plan)
        return contact

    def claim_card(self, effect: Effect) -> Contact | None:
        """Takes the text that offers the card, for sending: from here on it is never sent again, whatever
        becomes of this process. None when somebody else took it, or the contact gets no such texts now, as
        after a STOP."""
        store = self.handoffs.store
        if not isinstance(store.commit(Plan(finish=effect), self.handoffs.clock()), Done):
            return None
        contact = self.handoffs.contact(effect.subject)
        if contact is None or not enrolment.takes_cards(contact) or self.stopped(contact.number):
            return None
        return contact

    def stopped(self, number: str) -> bool:
        """Whether no texts are wanted on this number (E.164): by what we were told, not by what the provider
        let us guess."""
        found = self.handoffs.opt_outs.of(Channel.TEXT, number, self._text_sender)
        return found is not None and not found.tried_again

    def _ask(self, record: Enrolment, before: Enrolment | None, by: Actor, now: int) -> Enrolment | None:
        """The record with a new handoff that asks, once committed; None when somebody was quicker."""
        asked, change = enrolment.ask(record, by, self.handoffs.rules(), now)
        plan = Plan(changes=[change], enrolment=EnrolmentChange(before, asked))
        if isinstance(self.handoffs.store.commit(plan, now), Done):
            self.handoffs.hand_out(plan)
            return asked
        found = self.contacts.read(record.contact.id)
        if found is not None and found.handoff == change.handoff.id:  # only the reply was lost
            self.handoffs.enqueue([one.id for one in change.effects if one.due <= now])
            return found
        return None

    def _check_free(self, contact: Contact) -> None:
        """Raises Conflict for an id or a number that somebody else has, as of now."""
        people = self.handoffs.rules(fresh=True).people
        if people.given(contact.id):
            raise Conflict(
                f"There is a contact {contact.id!r} already, in the people file or the environment."
            )
        for number in contact.numbers:
            owner = people.owners.get(number) or self.contacts.owner(number)
            if owner is not None:
                raise Conflict(f"{mask(number)} is the number of the contact {owner!r}.")

    def _enrolled(self, contact_id: str) -> Enrolment:
        found = self.contacts.read(contact_id)
        if found is not None:
            return found
        if self.handoffs.contact(contact_id):
            raise Conflict(
                f"The contact {contact_id!r} is in the people file or the environment, where the operator "
                "vouches for them; change it there."
            )
        raise NotFound(f"There is no contact {contact_id!r}.")

    def _withdraw(self, handoff_id: str, by: Actor) -> None:
        handoff = self.handoffs.store.read(handoff_id)
        if handoff is not None and not handoff.closed:
            self.handoffs.cancel(handoff_id, by, CloseReason.OPERATOR, f"removed-{handoff_id}")


def _same_pin(given: str | None, kept: str | None) -> bool:
    return given == kept if given is None or kept is None else pins.matches(given, kept)
