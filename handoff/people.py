"""Phone numbers, and the people of a set-up that names them in its environment. The file is people_file.py.

Nobody is ever called but them, the contacts of that file, and those whom an operator enrolled (promise 8).
What a policy does is policy.py's business.
"""

from __future__ import annotations

import hmac
import re

import phonenumbers

from handoff import pins
from handoff.policy import DEFAULT_POLICY, Contact, EscalationPolicy, People, Step


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
        people.append(Contact(id=slug, name=name or f"contact {number}", numbers=(parsed,)))
    if not people:
        raise BadNumber("names nobody to call; write it like Ada=+12125550123,Ben=+12125550124")
    return tuple(people)


def with_pins(people: tuple[Contact, ...], text: str, server_key: str) -> tuple[Contact, ...]:
    """The same people with the PINs of `ada=482913, ben=719204` as pins.py keeps them, by contact id; those
    not named have none. The same in every process that has this key of the server.

    Raises ValueError naming the entry that is wrong, never the PIN.
    """
    found: dict[str, str] = {}
    for number, part in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
        who, _, pin = (word.strip() for word in part.partition("="))
        if who not in {person.id for person in people}:
            known = ", ".join(person.id for person in people)
            raise ValueError(f"entry {number} names nobody in HANDOFF_TO_NUMBER (it has: {known})")
        if who in found:
            raise ValueError(f"entry {number} gives {who} a second PIN")
        if not pins.PIN.fullmatch(pin):
            raise ValueError(f"entry {number} needs a PIN of 6 to 12 digits")
        salt = hmac.digest(server_key.encode(), f"pin|{who}|{pin}".encode(), "sha256")[:16]
        found[who] = pins.kept(pin, salt)
    return tuple(person.model_copy(update={"pin": found.get(person.id)}) for person in people)


def parse_phone(text: str) -> str:
    """E.164 from what an operator wrote: spaces, dashes and brackets are fine, the plus is needed.

    Nothing is guessed, neither a country nor a zero that is one too many. Raises BadNumber.
    """
    if text.strip().lower().startswith("tel:"):
        raise BadNumber("must be the number alone, without tel:")
    cleaned = re.sub(r"[\s().\u2010-\u2015-]", "", text)
    if re.fullmatch(r"\+[0-9]+(?:x|ext|;ext=|#|,|;)+[0-9]*", cleaned, re.IGNORECASE):
        raise BadNumber("has an extension, which can't be dialled; give the number alone")
    if not re.fullmatch(r"\+[1-9][0-9]*", cleaned):
        raise BadNumber("must start with + and the country code, like +12125550123")
    if not 7 <= len(cleaned) - 1 <= 15:  # https://www.itu.int/rec/T-REC-E.164
        raise BadNumber("has too many or too few digits; write it like +12125550123")
    try:
        number = phonenumbers.parse(cleaned)
    except phonenumbers.NumberParseException:
        raise BadNumber("has a country code that does not exist") from None
    if phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) != cleaned:
        raise BadNumber("has a zero after its country code that has to be left out")
    if not phonenumbers.is_possible_number(number):
        raise BadNumber("has too many or too few digits for its country")
    return cleaned


def is_assigned(number: str) -> bool:
    """Whether an E.164 number lies in a range that its country has given out, as far as phonenumbers knows:
    ranges that are new may be missing."""
    return phonenumbers.is_valid_number(phonenumbers.parse(number))


def is_premium(number: str) -> bool:
    """Whether a call to an E.164 number costs its caller extra, and earns whoever has it money."""
    found = phonenumbers.number_type(phonenumbers.parse(number))
    return bool(found == phonenumbers.PhoneNumberType.PREMIUM_RATE)


def mask(number: str) -> str:
    """A number as logs and pages may show it: its last four digits."""
    return "…" + number[-4:]


def spaced(number: str) -> str:
    """A number as people write it, such as +1 212 555 0100."""
    parsed = phonenumbers.parse(number)
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return re.sub(r"[^0-9+]+", " ", written).strip()


def of_environment(contacts: tuple[Contact, ...], ring_s: int, rounds: int) -> People:
    """An environment-only set-up: one policy, everybody in turn."""
    steps = tuple(Step(contacts=(contact,), ring_s=ring_s) for contact in contacts)
    policy = EscalationPolicy(name=DEFAULT_POLICY, steps=steps, rounds=rounds)
    return People(contacts=contacts, policies=(policy,))
