"""Reads and checks the form of a text's create or update, in Twilio's words and with its codes.

Pure: a form in, a request value or a TwilioError out. The order of the checks is not published; this one
is to, from, the body, then the rest.
"""

from __future__ import annotations

from devphone.engine.text_records import TextRequest
from devphone.numbers import MAGIC_SENDER, MAGIC_TEXT_FROM, MAGIC_TEXT_TO, is_e164

from .errors import TwilioError
from .forms import Form, refuse_magic, url_field

TEXT_PARAMETERS = frozenset(
    "To StatusCallback ApplicationSid MaxPrice ProvideFeedback Attempt ValidityPeriod ForceDelivery "
    "ContentRetention AddressRetention SmartEncoded PersistentAction TrafficType ShortenUrls ScheduleType "
    "SendAt SendAsMms ContentVariables RiskCheck From FallbackFrom MessagingServiceSid Body MediaUrl "
    "ContentSid".split()
)
TEXT_CHANGE_PARAMETERS = frozenset({"Body", "Status"})
NOT_ACTED_ON = frozenset({"ApplicationSid", "ScheduleType", "SendAt", "ContentSid"})
"""Parameters that Twilio acts on and the dev phone does not yet: noted in the debugger, never passed over."""
MAX_BODY = 1600


def text_request(form: Form, own_numbers: tuple[str, ...]) -> TextRequest:
    """A text that may be sent. Raises TwilioError."""
    to, from_, service = form.get("To", ""), form.get("From", ""), form.get("MessagingServiceSid", "")
    body, media = form.get("Body", ""), tuple(form.getlist("MediaUrl"))
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
    if not body and not media and not form.get("ContentSid"):
        raise TwilioError(21602, "Message body is required.")
    if len(body.encode("utf-16-le")) // 2 > MAX_BODY:
        raise TwilioError(21617, f"The body is longer than {MAX_BODY} characters")
    return TextRequest(
        to=to,
        body=body,
        from_=from_,
        service_sid=service,
        media=media,
        status_callback=url_field(form, "StatusCallback", 21609),
    )
