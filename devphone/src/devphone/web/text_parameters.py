"""Reads and checks the form of a text's create or update, in Twilio's words and with its codes.

Pure: a form and a date in, a request value or a TwilioError out. The order of the checks is not published;
this one is to, from, the body, then the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from devphone.digits import whole
from devphone.engine.text_records import LONGEST_VALIDITY_S, TextRequest
from devphone.numbers import MAGIC_SENDER, MAGIC_TEXT_FROM, MAGIC_TEXT_TO, is_e164
from devphone.segments import MAX_BODY, units
from devphone.urls import is_web_url

from .errors import TwilioError
from .forms import Form, refuse_magic, shown, url_field

TEXT_PARAMETERS = frozenset(
    "To StatusCallback ApplicationSid MaxPrice ProvideFeedback Attempt ValidityPeriod ForceDelivery "
    "ContentRetention AddressRetention SmartEncoded PersistentAction TrafficType ShortenUrls ScheduleType "
    "SendAt SendAsMms ContentVariables RiskCheck From FallbackFrom MessagingServiceSid Body MediaUrl "
    "ContentSid".split()
)
TEXT_CHANGE_PARAMETERS = frozenset({"Body", "Status"})
NOT_ACTED_ON = frozenset({"ApplicationSid", "ShortenUrls", "ContentSid"})
"""Parameters that Twilio acts on and the dev phone does not: noted in the debugger, never passed over.

The other accepted ones change nothing that can be seen here: prices, retention, feedback, traffic class.
"""
MAX_MEDIA = 10
SOONEST_S, LATEST_S = 300, 35 * 24 * 3600
"""When a text may be scheduled for, seconds from now; https://www.twilio.com/docs/api/errors/35114."""


def text_request(form: Form, own_numbers: tuple[str, ...], now_date: float) -> TextRequest:
    """A text that may be sent; `now_date` is Unix seconds. Raises TwilioError."""
    to, from_, service = form.get("To", ""), form.get("From", ""), form.get("MessagingServiceSid", "")
    _check_addresses(to, from_, service, own_numbers)
    body, media = form.get("Body", ""), tuple(form.getlist("MediaUrl"))
    if not body and not media and not form.get("ContentSid"):
        raise TwilioError(21602, "Message body is required.")
    if units(body) > MAX_BODY:
        raise TwilioError(21617, f"The body is longer than {MAX_BODY} characters")
    if len(media) > MAX_MEDIA:
        raise TwilioError(21623, f"A message can have {MAX_MEDIA} media URLs, not {len(media)}")
    if bad := [url for url in media if not is_web_url(url)]:
        raise TwilioError(21620, f"Invalid media URL: {bad[0]}")
    return TextRequest(
        to=to,
        body="" if form.get("ContentSid") else body,
        from_=from_,
        service_sid=service,
        media=media,
        status_callback=url_field(form, "StatusCallback", 21609),
        send_at=_send_at(form, now_date) if service else None,
        validity_s=_validity_s(form),
        smart_encoded=form.get("SmartEncoded", "").lower() == "true",
        as_mms=form.get("SendAsMms", "").lower() == "true",
    )


def not_obeyed(form: Form) -> Iterator[tuple[int, str]]:
    """Scheduling that Twilio passes over without refusing the text: a code and a sentence each.

    https://www.twilio.com/docs/api/errors/35111 says that without a service the text counts as not scheduled.
    """
    if form.get("ScheduleType") and not form.get("MessagingServiceSid"):
        yield 35118, "only a text with a MessagingServiceSid can be scheduled; this one is sent at once"
    if form.get("SendAt") and not form.get("ScheduleType"):
        yield 20001, "SendAt without ScheduleType=fixed; this text is sent at once"


def changes_status(form: Form) -> bool:
    """Whether an update cancels the text (True) or erases its body (False). Raises TwilioError 30400.

    https://www.twilio.com/docs/api/errors/30400
    """
    status, body = form.get("Status"), form.get("Body")
    if status is None and body is None:
        raise TwilioError(30400, "Body or Status is required")
    if status is not None and body is not None:
        raise TwilioError(30400, "Canceling a message and erasing its body exclude each other")
    if status not in (None, "canceled"):
        raise TwilioError(30400, f"Status can't be set to {status}")
    if body:
        raise TwilioError(30400, "Body can only be set to an empty text")
    return status is not None


def _check_addresses(to: str, from_: str, service: str, own_numbers: tuple[str, ...]) -> None:
    if not to:
        raise TwilioError(21604, "A 'To' phone number is required.")
    if not from_ and not service:
        raise TwilioError(21603, "A 'From' phone number or a 'MessagingServiceSid' is required.")
    if service and not (service.startswith("MG") and len(service) == 34):
        raise TwilioError(21705, "The Messaging Service Sid is invalid.")
    refuse_magic(to, MAGIC_TEXT_TO, "To")
    refuse_magic(from_, MAGIC_TEXT_FROM, "From")
    if not is_e164(to):
        raise TwilioError(21211, f"Invalid 'To' Phone Number: {to}")
    if from_ and not is_e164(from_):
        raise TwilioError(21212, f"Invalid 'From' Phone Number: {from_}")
    if from_ and from_ not in own_numbers and from_ != MAGIC_SENDER:
        raise TwilioError(21606, f"{from_} is not a message-capable number of this account")
    if to == from_:
        raise TwilioError(21266, "'To' and 'From' numbers cannot be the same")


def _send_at(form: Form, now_date: float) -> float | None:
    """When the text is scheduled for, in Unix seconds; None for at once."""
    kind, value = form.get("ScheduleType"), form.get("SendAt", "")
    if not kind:
        return None
    if kind != "fixed":
        raise TwilioError(35126, f"ScheduleType must be fixed, not {kind}")
    if not value:
        raise TwilioError(35111, "SendAt is required when ScheduleType is fixed")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise TwilioError(35114, f"SendAt is no ISO 8601 date: {value}") from error
    at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not SOONEST_S <= at - now_date <= LATEST_S:
        raise TwilioError(35114, f"SendAt must be from {SOONEST_S} seconds to 35 days ahead, not {value}")
    return at


def _validity_s(form: Form) -> int:
    """https://www.twilio.com/docs/api/errors/90007"""
    value = form.get("ValidityPeriod", str(LONGEST_VALIDITY_S))
    seconds = whole(value)
    if seconds is None or not 1 <= seconds <= LONGEST_VALIDITY_S:
        raise TwilioError(
            90007, f"ValidityPeriod must be from 1 to {LONGEST_VALIDITY_S} seconds, not {shown(value)}"
        )
    return seconds
