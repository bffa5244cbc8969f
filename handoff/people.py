"""Who can be reached, and in which order. Today from one setting; a file of people comes on this seam.

Only the numbers named here can ever be called (promise 8). What a policy does is policy.py's business.
"""

from __future__ import annotations

import re

import phonenumbers

from handoff.policy import Contact, EscalationPolicy, Step


class BadNumber(ValueError):
    """A number that can't be called. The message names what is wrong, not the whole number."""


def parse_people(text: str) -> tuple[Contact, ...]:
    """`Ada=+12125550123, Ben=+12125550124`, names optional; the order is the order of ringing.

    Raises BadNumber naming the entry that is wrong.
    """
    people: list[Contact] = []
    for number, part in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
        name, _, phone = part.rpartition("=")
        name = name.strip()
        if name and (len(name) > 40 or not name.isprintable()):
            raise BadNumber(f"entry {number}: a name is at most 40 printable characters")
        try:
            parsed = parse_phone(phone)
        except BadNumber as error:
            raise BadNumber(f"entry {number} {error}") from None
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or f"contact-{number}"
        while slug in {person.id for person in people}:
            slug = f"{slug}-{number}"
        if parsed in {person.number for person in people}:
            raise BadNumber(f"entry {number} has the same number as an earlier entry")
        people.append(Contact(id=slug, name=name or f"contact {number}", number=parsed))
    if not people:
        raise BadNumber("names nobody to call; write it like Ada=+12125550123,Ben=+12125550124")
    return tuple(people)


def with_pins(people: tuple[Contact, ...], text: str) -> tuple[Contact, ...]:
    """The same people with the PINs of `ada=482913, ben=719204`, by contact id; those not named have none.

    Raises ValueError naming the entry that is wrong, never the PIN.
    """
    pins: dict[str, str] = {}
    for number, part in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
        who, _, pin = (word.strip() for word in part.partition("="))
        if who not in {person.id for person in people}:
            known = ", ".join(person.id for person in people)
            raise ValueError(f"entry {number} names nobody in HANDOFF_TO_NUMBER (it has: {known})")
        if who in pins:
            raise ValueError(f"entry {number} gives {who} a second PIN")
        if not re.fullmatch(r"[0-9]{6,12}", pin):
            raise ValueError(f"entry {number} needs a PIN of 6 to 12 digits")
        pins[who] = pin
    return tuple(person.model_copy(update={"pin": pins.get(person.id)}) for person in people)


def parse_phone(text: str) -> str:
    """E.164 from what an operator wrote: spaces, dashes and brackets are fine, the plus is needed."""
    cleaned = re.sub(r"[\s().\u2010-\u2015-]", "", text)
    if not re.fullmatch(r"\+[1-9][0-9]{6,14}", cleaned):
        raise BadNumber("must be a full number with its plus and country code, like +12125550123")
    try:
        number = phonenumbers.parse(cleaned)
    except phonenumbers.NumberParseException:
        raise BadNumber("has a country code that does not exist") from None
    if not phonenumbers.is_possible_number(number):
        raise BadNumber("has too many or too few digits for its country")
    return cleaned


def mask(number: str) -> str:
    """A number as logs and pages may show it: its last four digits."""
    return "…" + number[-4:]


def policy_of(people: tuple[Contact, ...], ring_s: int, rounds: int) -> EscalationPolicy:
    """The one policy of an environment-only set-up: everybody in turn, one after the other."""
    steps = tuple(Step(contacts=(contact,), ring_s=ring_s) for contact in people)
    return EscalationPolicy(name="default", steps=steps, rounds=rounds)
