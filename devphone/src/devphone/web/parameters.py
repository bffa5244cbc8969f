"""Reads and checks the form of a create or update, in Twilio's words and with its codes.

Pure: a form in, a request value or a TwilioError out. The order of the checks is not published; this one
is to, from, the document or body, then the rest.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from werkzeug.datastructures import MultiDict

from devphone.engine.records import CallChange, CallRequest, TextRequest
from devphone.numbers import (
    MAGIC_CALL_FROM,
    MAGIC_CALL_TO,
    MAGIC_SENDER,
    MAGIC_TEXT_FROM,
    MAGIC_TEXT_TO,
    is_e164,
)
from devphone.urls import is_web_url

from .errors import TwilioError

Form = MultiDict[str, str]

CALL_PARAMETERS = frozenset(
    "To From Method FallbackUrl FallbackMethod StatusCallback StatusCallbackEvent StatusCallbackMethod "
    "SendDigits Timeout Record RecordingChannels RecordingStatusCallback RecordingStatusCallbackMethod "
    "SipAuthUsername SipAuthPassword MachineDetection MachineDetectionTimeout RecordingStatusCallbackEvent "
    "Trim CallerId MachineDetectionSpeechThreshold MachineDetectionSpeechEndThreshold "
    "MachineDetectionSilenceTimeout AsyncAmd AsyncAmdStatusCallback AsyncAmdStatusCallbackMethod Byoc "
    "CallReason CallToken RecordingTrack TimeLimit ClientNotificationUrl Url Twiml ApplicationSid".split()
)
CHANGE_PARAMETERS = frozenset(
    "Url Method Status FallbackUrl FallbackMethod StatusCallback StatusCallbackMethod Twiml TimeLimit".split()
)
TEXT_PARAMETERS = frozenset(
    "To StatusCallback ApplicationSid MaxPrice ProvideFeedback Attempt ValidityPeriod ForceDelivery "
    "ContentRetention AddressRetention SmartEncoded PersistentAction TrafficType ShortenUrls ScheduleType "
    "SendAt SendAsMms ContentVariables RiskCheck From FallbackFrom MessagingServiceSid Body MediaUrl "
    "ContentSid".split()
)
TEXT_CHANGE_PARAMETERS = frozenset({"Body", "Status"})
NOT_ACTED_ON = frozenset(
    "SendDigits Record MachineDetection AsyncAmd ApplicationSid Byoc ScheduleType SendAt ContentSid".split()
)
"""Parameters that Twilio acts on and the dev phone does not yet: noted in the debugger, never passed over."""
EVENTS = ("initiated", "ringing", "answered", "completed")
MAX_TWIML = 4000
MAX_BODY = 1600


def call_request(form: Form, own_numbers: tuple[str, ...]) -> CallRequest:
    """A call that may be placed. Raises TwilioError.

    A StatusCallbackEvent that Twilio does not know is passed over, so `initiated ringing` in one field
    subscribes to nothing.
    """
    to, from_ = form.get("To", ""), form.get("From", "")
    if not to:
        raise TwilioError(21201, "No 'To' number is specified")
    if not from_:
        raise TwilioError(21213, "No 'From' number is specified")
    _refuse_magic(to, MAGIC_CALL_TO, "To")
    _refuse_magic(from_, MAGIC_CALL_FROM, "From")
    if not is_e164(to):
        raise TwilioError(21211, f"Invalid 'To' Phone Number: {to}")
    if not is_e164(from_):
        raise TwilioError(21212, f"Invalid 'From' Phone Number: {from_}")
    if from_ not in own_numbers and from_ != MAGIC_SENDER:
        raise TwilioError(21210, f"The source phone number provided, {from_}, is not yet verified")
    url, twiml = form.get("Url", ""), form.get("Twiml", "")
    if not url and not twiml:
        raise TwilioError(21205, "Url parameter is required.")
    if url:
        _check_url(url, 21205, "Url")
    elif len(twiml) > MAX_TWIML:
        raise TwilioError(21205, f"Twiml is longer than {MAX_TWIML} characters")
    events = tuple(event for event in form.getlist("StatusCallbackEvent") if event in EVENTS)
    return CallRequest(
        to=to,
        from_=from_,
        url=url,
        method=_method(form, "Method"),
        twiml="" if url else twiml,
        fallback_url=_url(form, "FallbackUrl", 21205),
        fallback_method=_method(form, "FallbackMethod"),
        status_callback=_url(form, "StatusCallback", 21609),
        status_callback_method=_method(form, "StatusCallbackMethod"),
        events=events if "StatusCallbackEvent" in form else ("completed",),
        timeout_s=min(_seconds(form, "Timeout", 60, 21208), 600),
        time_limit_s=_seconds(form, "TimeLimit", 14400, 21208),
    )


def call_change(form: Form) -> CallChange:
    """An update of a call. Raises TwilioError."""
    status = form.get("Status")
    url, twiml = form.get("Url"), form.get("Twiml")
    if status not in (None, "canceled", "completed"):
        raise TwilioError(20001, f"Status can't be set to {status}")
    if url is not None and twiml is not None:
        raise TwilioError(20001, "Url and Twiml exclude each other")
    if url is not None:
        _check_url(url, 21205, "Url")
    if twiml is not None and len(twiml) > MAX_TWIML:
        raise TwilioError(21205, f"Twiml is longer than {MAX_TWIML} characters")
    return CallChange(
        status="canceled" if status == "canceled" else "completed" if status == "completed" else None,
        redirect_url=url,
        redirect_method=_method(form, "Method"),
        twiml=twiml,
        fallback_url=_url(form, "FallbackUrl", 21205) if "FallbackUrl" in form else None,
        fallback_method=_method(form, "FallbackMethod") if "FallbackMethod" in form else None,
        status_callback=_url(form, "StatusCallback", 21609) if "StatusCallback" in form else None,
        status_callback_method=(
            _method(form, "StatusCallbackMethod") if "StatusCallbackMethod" in form else None
        ),
        time_limit_s=_seconds(form, "TimeLimit", 14400, 21208) if "TimeLimit" in form else None,
    )


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
    _refuse_magic(to, MAGIC_TEXT_TO, "To")
    _refuse_magic(from_, MAGIC_TEXT_FROM, "From")
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
        status_callback=_url(form, "StatusCallback", 21609),
    )


def _refuse_magic(number: str, table: dict[str, int], name: str) -> None:
    if number in table:
        text = f"The '{name}' number {number} is a test number that always fails"
        raise TwilioError(table[number], text, 429 if table[number] == 21611 else 400)


def _check_url(url: str, code: int, name: str) -> None:
    """Absolute http or https; a StatusCallback's host has no underscore.

    https://www.twilio.com/docs/voice/api/call-resource#statuscallback
    """
    if not is_web_url(url) or (code == 21609 and "_" in (urlsplit(url).hostname or "")):
        raise TwilioError(code, f"{name} is not a valid URL: {url}")


def _url(form: Form, name: str, code: int) -> str:
    url = form.get(name, "")
    if url:
        _check_url(url, code, name)
    return url


def _method(form: Form, name: str) -> str:
    method = form.get(name, "POST").upper()
    if method not in ("GET", "POST"):
        raise TwilioError(21209, f"{name} must be GET or POST")
    return method


def _seconds(form: Form, name: str, default: int, code: int) -> int:
    value = form.get(name, str(default))
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise TwilioError(code, f"{name} is not a valid number of seconds: {value}")
    return int(value)
