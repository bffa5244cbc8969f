"""What may be said about a contact, in the people file (people_file.py) or by the API: the same rules, in the
same words.

Which contacts may stand beside each other is the business of whoever reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from handoff.messages import NAME
from handoff.models import Channel
from handoff.people import BadNumber, parse_phone
from handoff.policy import Contact
from handoff.quiet import parse_hours, parse_zone

#: How the voice may pronounce its English; https://www.twilio.com/docs/voice/twiml/say/text-speech
LANGUAGES = ("en-US", "en-GB", "en-AU", "en-CA", "en-IN")


def one_line(text: str) -> str:
    """The text without white space around it. Raises ValueError unless it is one line that shows."""
    if not text.isprintable() or not text.strip():
        raise ValueError("must be one line of printable characters")
    return text.strip()


def _number(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text that starts with + and the country code, like '+12125550123'")
    try:
        return parse_phone(value)
    except BadNumber as error:
        raise ValueError(str(error)) from None


def _hours(text: str) -> str:
    parse_hours(text)
    return text


def _language(text: str) -> str:
    if text not in LANGUAGES:
        raise ValueError(f"must be one of {', '.join(LANGUAGES)}: the voice speaks English")
    return text


ContactId = Annotated[str, Field(pattern=NAME, max_length=40)]
Line = Annotated[str, AfterValidator(one_line)]


class ContactForm(BaseModel):
    """A contact but for their id and PIN. Strict about types, and about fields it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Line = Field(max_length=40, description="What the voice, the pages and the timeline say.")
    numbers: Annotated[list[Annotated[str, BeforeValidator(_number)]], Field(min_length=1, max_length=5)] = (
        Field(
            description="One to five, with plus and country code, in the order in which they are tried. "
            "Texts go to the first."
        )
    )
    channels: Annotated[list[Literal["call", "text"]], Field(min_length=1, max_length=2)] = ["call", "text"]
    language: Annotated[str, AfterValidator(_language)] = Field(
        "en-US", description=f"How the voice pronounces its English: {', '.join(LANGUAGES)}."
    )
    caller_word: Line | None = Field(
        None, max_length=40, description="Said before anything else, so that they know who calls."
    )
    time_zone: Annotated[str, AfterValidator(parse_zone)] = Field(
        "UTC", description="Where they live, such as `Europe/Berlin`."
    )
    quiet_hours: Annotated[list[Annotated[str, AfterValidator(_hours)]], Field(max_length=10)] = Field(
        [], description="Spans like `22:00-07:00` of their own day, in which only what is critical rings."
    )
    screen: bool = Field(True, description="False: they can't see one, so that texts to them have no link.")
    screens_calls: bool = Field(False, description="Their phone asks callers who they are.")

    def contact(self, contact_id: str, *, pin: str | None = None, consent: str | None = None) -> Contact:
        """The contact, as everybody else knows one; `pin` as pins.py keeps it."""
        return Contact(
            id=contact_id,
            name=self.name,
            numbers=tuple(self.numbers),
            channels=tuple(Channel(channel) for channel in self.channels),
            language=self.language,
            caller_word=self.caller_word,
            time_zone=self.time_zone,
            quiet_hours=tuple(parse_hours(span) for span in self.quiet_hours),
            pin=pin,
            screen=self.screen,
            screens_calls=self.screens_calls,
            consent=consent,
        )


def twice(numbers: Sequence[str]) -> bool:
    """Whether a number is named more than once."""
    return len(set(numbers)) != len(numbers)
