"""Contacts over HTTP: the shapes of requests and answers. The rules that they share with the people file are
contact_form.py's.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from handoff import pins
from handoff.contact_form import ContactForm, ContactId
from handoff.enrolment import Enrolment
from handoff.messages import Message
from handoff.moments import Timestamp
from handoff.people import mask
from handoff.policy import Contact, Standing


def _pin(value: Any) -> str:
    if not isinstance(value, str) or not pins.PIN.fullmatch(value):
        raise ValueError("must be a text of 6 to 12 digits")
    return value


class EnrolRequest(ContactForm):
    """Enrols a contact. They are called and asked first."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: ContactId = Field(description="How requests name them: lower-case letters, digits, `-` and `_`.")
    pin: Annotated[str, BeforeValidator(_pin)] | None = Field(
        None, repr=False, description="6 to 12 digits. Kept as a hash, and never shown."
    )


class ContactsQuery(Message):
    """Where the list goes on, and how much of it."""

    cursor: str | None = Field(None, pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=40)
    limit: int = Field(100, ge=1, le=500)


class ConsentView(Message):
    """That somebody may be called, or may not. For a contact whom the operator gave: the operator's words.
    Else what they pressed in the call that asked, on which number, and the words that they had heard."""

    words: str
    key: str | None = None
    number: str | None = None
    at: Timestamp | None = None
    handoff: str | None = None


class ContactView(Message):
    """A contact. Of each number only the last digits are shown."""

    id: str
    name: str
    state: Standing
    numbers: tuple[str, ...]
    channels: tuple[str, ...]
    language: str
    caller_word: str | None
    time_zone: str
    quiet_hours: tuple[str, ...]
    screen: bool
    screens_calls: bool
    has_pin: bool
    consent: tuple[ConsentView, ...]
    verification: str | None = Field(description="The newest handoff that asks them.")

    @classmethod
    def of(cls, contact: Contact) -> ContactView:
        """One of the people file or the environment."""
        consent = (ConsentView(words=contact.consent),) if contact.consent else ()
        return _view(contact, Standing.GIVEN, contact.pin is not None, consent, None)

    @classmethod
    def enrolled(cls, record: Enrolment) -> ContactView:
        """One who was enrolled."""
        consent = tuple(
            ConsentView(words=one.words, key=one.key, number=mask(one.number), at=one.at, handoff=one.handoff)
            for one in record.consents
        )
        return _view(record.contact, record.standing, record.pin is not None, consent, record.handoff)


class ContactList(Message):
    """By id. `next_cursor` asks for the page after this one; null on the last."""

    contacts: tuple[ContactView, ...]
    next_cursor: str | None


def _view(
    contact: Contact,
    state: Standing,
    has_pin: bool,
    consent: tuple[ConsentView, ...],
    verification: str | None,
) -> ContactView:
    plain = ("id", "name", "channels", "language", "caller_word", "time_zone", "screen", "screens_calls")
    return ContactView.model_construct(
        **{name: getattr(contact, name) for name in plain},
        state=state,
        numbers=tuple(map(mask, contact.numbers)),
        quiet_hours=tuple(map(str, contact.quiet_hours)),
        has_pin=has_pin,
        consent=consent,
        verification=verification,
    )
