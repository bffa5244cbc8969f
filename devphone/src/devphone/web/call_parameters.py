"""Reads and checks the form of a call's create or update, in Twilio's words and with its codes.

Pure: a form in, a request value or a TwilioError out. The order of the checks is not published; this one
is to, from, the document, then the rest.
"""

from __future__ import annotations

from devphone.engine.records import CallChange, CallRequest
from devphone.numbers import MAGIC_CALL_FROM, MAGIC_CALL_TO, MAGIC_SENDER, is_e164

from .errors import TwilioError
from .forms import Form, check_url, method_field, refuse_magic, seconds_field, url_field

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
NOT_ACTED_ON = frozenset({"SendDigits", "Record", "MachineDetection", "AsyncAmd", "ApplicationSid", "Byoc"})
"""Parameters that Twilio acts on and the dev phone does not yet: noted in the debugger, never passed over."""
EVENTS = ("initiated", "ringing", "answered", "completed")
MAX_TWIML = 4000


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
    refuse_magic(to, MAGIC_CALL_TO, "To")
    refuse_magic(from_, MAGIC_CALL_FROM, "From")
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
        check_url(url, 21205, "Url")
    elif len(twiml) > MAX_TWIML:
        raise TwilioError(21205, f"Twiml is longer than {MAX_TWIML} characters")
    events = tuple(event for event in form.getlist("StatusCallbackEvent") if event in EVENTS)
    return CallRequest(
        to=to,
        from_=from_,
        url=url,
        method=method_field(form, "Method"),
        twiml="" if url else twiml,
        fallback_url=url_field(form, "FallbackUrl", 21205),
        fallback_method=method_field(form, "FallbackMethod"),
        status_callback=url_field(form, "StatusCallback", 21609),
        status_callback_method=method_field(form, "StatusCallbackMethod"),
        events=events if "StatusCallbackEvent" in form else ("completed",),
        timeout_s=min(seconds_field(form, "Timeout", 60, 21208), 600),
        time_limit_s=seconds_field(form, "TimeLimit", 14400, 21208),
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
        check_url(url, 21205, "Url")
    if twiml is not None and len(twiml) > MAX_TWIML:
        raise TwilioError(21205, f"Twiml is longer than {MAX_TWIML} characters")
    return CallChange(
        status="canceled" if status == "canceled" else "completed" if status == "completed" else None,
        redirect_url=url,
        redirect_method=method_field(form, "Method"),
        twiml=twiml,
        fallback_url=url_field(form, "FallbackUrl", 21205) if "FallbackUrl" in form else None,
        fallback_method=method_field(form, "FallbackMethod") if "FallbackMethod" in form else None,
        status_callback=url_field(form, "StatusCallback", 21609) if "StatusCallback" in form else None,
        status_callback_method=(
            method_field(form, "StatusCallbackMethod") if "StatusCallbackMethod" in form else None
        ),
        time_limit_s=seconds_field(form, "TimeLimit", 14400, 21208) if "TimeLimit" in form else None,
    )
