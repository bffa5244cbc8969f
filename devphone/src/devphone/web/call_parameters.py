"""Reads and checks the form of a call's create or update, in Twilio's words and with its codes.

Pure: a form in, a request value or a TwilioError out. The order of the checks is not published; this one
is to, from, the document, then the rest.
"""

from __future__ import annotations

import re

from devphone.digits import whole
from devphone.engine.amd import Detection
from devphone.engine.records import CallChange, CallRequest
from devphone.numbers import MAGIC_CALL_FROM, MAGIC_CALL_TO, MAGIC_SENDER, is_e164

from .errors import TwilioError
from .forms import Form, check_url, method_field, refuse_magic, seconds_field, shown, url_field

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
NOT_ACTED_ON = frozenset({"Record", "Byoc"})
"""Parameters that Twilio acts on and the dev phone does not yet: noted in the debugger, never passed over."""
EVENTS = ("initiated", "ringing", "answered", "completed")
MAX_TWIML = 4000
DETECTION_RANGES: dict[str, tuple[str, int, int, int]] = {
    "timeout": ("MachineDetectionTimeout", 3, 59, 30),
    "speech": ("MachineDetectionSpeechThreshold", 1000, 6000, 2400),
    "speech_end": ("MachineDetectionSpeechEndThreshold", 500, 5000, 1200),
    "silence": ("MachineDetectionSilenceTimeout", 2000, 10000, 5000),
}
"""Name, least, most and default: seconds, then milliseconds.

https://www.twilio.com/docs/voice/answering-machine-detection#optional-api-tuning-parameters
"""


def call_request(form: Form, own_numbers: tuple[str, ...]) -> CallRequest:
    """A call that may be placed. Raises TwilioError.

    A StatusCallbackEvent that Twilio does not know is passed over (and warned about, see `warnings`), so
    `initiated ringing` in one field subscribes to nothing.
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
    if form.get("ApplicationSid"):
        raise TwilioError(21218, "Invalid ApplicationSid: this account has no applications")
    if not url and not twiml:
        raise TwilioError(21205, "Url parameter is required.")
    if url:
        check_url(url, 21205, "Url")
    else:
        _check_twiml(twiml)
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
        send_digits=_send_digits(form),
        detection=_detection(form),
    )


def warnings(form: Form) -> list[tuple[int, str]]:
    """What Twilio's debugger would say about a create that it accepted.

    https://www.twilio.com/docs/api/errors/32019, https://www.twilio.com/docs/errors/21626
    """
    found = []
    if form.get("Url") and form.get("Twiml"):
        found.append((32019, "Twiml and Url are both set; Url is used"))
    if wrong := [event for event in form.getlist("StatusCallbackEvent") if event not in EVENTS]:
        names = ", ".join(repr(shown(event)) for event in wrong)
        found.append((21626, f"invalid StatusCallbackEvent: {names}; each event is a field of its own"))
    return found


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
    if twiml == "":
        raise TwilioError(21205, "Twiml is empty: there is nothing to go on with")
    if twiml is not None:
        _check_twiml(twiml)
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


def _check_twiml(twiml: str) -> None:
    """https://www.twilio.com/docs/api/errors/32018"""
    if len(twiml) > MAX_TWIML:
        raise TwilioError(32018, f"Twiml is longer than {MAX_TWIML} characters")


def _send_digits(form: Form) -> str:
    """https://www.twilio.com/docs/api/errors/21206"""
    digits = form.get("SendDigits", "")
    if not re.fullmatch(r"[0-9A-D#*wW]{0,32}", digits):
        raise TwilioError(21206, f"SendDigits must be at most 32 of 0-9 A-D # * w W: {digits}")
    return digits


def _detection(form: Form) -> Detection | None:
    """Machine detection as asked for, None without it. Bad values are refused either way."""
    background = form.get("AsyncAmd", "false")
    if background not in ("true", "false"):
        raise TwilioError(21234, f"AsyncAmd must be true or false: {background}")
    tuned = {field: _within(form, name, *range_) for field, (name, *range_) in DETECTION_RANGES.items()}
    callback = url_field(form, "AsyncAmdStatusCallback", 21609)
    callback_method = method_field(form, "AsyncAmdStatusCallbackMethod")
    mode = form.get("MachineDetection", "")
    if not mode:
        return None
    if mode not in ("Enable", "DetectMessageEnd"):
        raise TwilioError(21234, f"MachineDetection must be Enable or DetectMessageEnd: {mode}")
    return Detection(
        mode="Enable" if mode == "Enable" else "DetectMessageEnd",
        in_background=background == "true",
        callback=callback,
        callback_method=callback_method,
        timeout_s=float(tuned["timeout"]),
        speech_s=tuned["speech"] / 1000,
        speech_end_s=tuned["speech_end"] / 1000,
        silence_s=tuned["silence"] / 1000,
    )


def _within(form: Form, name: str, least: int, most: int, default: int) -> int:
    """https://www.twilio.com/docs/api/errors/21234"""
    value = form.get(name, str(default))
    number = whole(value)
    if number is None or not least <= number <= most:
        raise TwilioError(21234, f"{name} must be a number from {least} to {most}: {shown(value)}")
    return number
