"""What Twilio's REST API and the way to it can answer, in our words: permanent, retryable or unknown.

One table of error codes and one reading of a broken connection. Who asks is twilio_gateway.py.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import urllib3.exceptions
from requests.exceptions import RequestException
from twilio.base.exceptions import TwilioException, TwilioRestException, TwilioServiceException

from handoff.states import Disposition
from voice.gateway import GatewayError, Permanent, Retryable, Unknown

ENDED = 21220


class _Row(NamedTuple):
    kind: type[Permanent] | type[Retryable] | type[Unknown]
    disposition: Disposition
    meaning: str


_BLOCKED, _BAD_NUMBER = Disposition.BLOCKED, Disposition.INVALID_NUMBER
_UNREACHABLE, _ERROR = Disposition.UNREACHABLE, Disposition.PROVIDER_ERROR

#: What a REST error code means for us; https://www.twilio.com/docs/api/errors/CODE explains each.
CODES: Mapping[int, _Row] = {
    10004: _Row(Retryable, _ERROR, "too many calls at once"),
    20003: _Row(Permanent, _BLOCKED, "the account SID or the auth token is wrong"),
    20005: _Row(Permanent, _BLOCKED, "the account is suspended or out of funds"),
    20006: _Row(Permanent, _BLOCKED, "access is denied"),
    20008: _Row(Permanent, _BLOCKED, "test credentials can't do this"),
    20404: _Row(Permanent, _ERROR, "there is no such record in this account"),
    20429: _Row(Retryable, _ERROR, "too many requests at once"),
    20500: _Row(Unknown, Disposition.UNKNOWN, "an internal error; it may have been done"),
    20503: _Row(Unknown, Disposition.UNKNOWN, "the service is unavailable; it may have been done"),
    21201: _Row(Permanent, _ERROR, "the number to call is missing"),
    21205: _Row(Permanent, _BLOCKED, "our public URL can't be reached from outside"),
    21206: _Row(Permanent, _ERROR, "the digits to send are invalid"),
    21208: _Row(Permanent, _ERROR, "the ring time is invalid"),
    21209: _Row(Permanent, _ERROR, "a callback's method is invalid"),
    21210: _Row(Permanent, _BLOCKED, "our own number is not verified for calls"),
    21211: _Row(Permanent, _BAD_NUMBER, "the number is invalid"),
    21212: _Row(Permanent, _BLOCKED, "our own number is invalid"),
    21213: _Row(Permanent, _ERROR, "our own number is missing"),
    21214: _Row(Permanent, _UNREACHABLE, "the number can't be reached"),
    21215: _Row(Permanent, _BLOCKED, "calls to that country are not enabled"),
    21216: _Row(Permanent, _BAD_NUMBER, "the number is on Twilio's block list"),
    21217: _Row(Permanent, _BAD_NUMBER, "the number does not look valid"),
    21218: _Row(Permanent, _BLOCKED, "the application SID is invalid"),
    21219: _Row(Permanent, _BLOCKED, "a trial account calls verified numbers only"),
    ENDED: _Row(Permanent, _ERROR, "the call is in no state to be changed"),
    21408: _Row(Permanent, _BLOCKED, "texts to that country are not enabled"),
    21601: _Row(Permanent, _BLOCKED, "our own number can't send texts"),
    21602: _Row(Permanent, _ERROR, "the text is empty"),
    21603: _Row(Permanent, _ERROR, "our own number is missing"),
    21604: _Row(Permanent, _ERROR, "the number to text is missing"),
    21606: _Row(Permanent, _BLOCKED, "our own number can't send texts to this one"),
    21608: _Row(Permanent, _BLOCKED, "a trial account texts verified numbers only"),
    21609: _Row(Permanent, _BLOCKED, "our status callback URL can't be reached from outside"),
    21610: _Row(Permanent, Disposition.OPTED_OUT, "the person sent STOP; only their START lifts it"),
    21611: _Row(Retryable, _ERROR, "our own number has too many texts waiting"),
    21612: _Row(Permanent, _UNREACHABLE, "texts can't reach the number"),
    21614: _Row(Permanent, _UNREACHABLE, "the number takes no texts"),  # calls may still work
    21617: _Row(Permanent, _ERROR, "the text is longer than 1,600 characters"),
    21620: _Row(Permanent, _ERROR, "a media URL is invalid"),
    21701: _Row(Permanent, _BLOCKED, "the messaging service does not exist"),
    21703: _Row(Permanent, _BLOCKED, "the messaging service has no sender"),
    21705: _Row(Permanent, _BLOCKED, "the messaging service is invalid"),
}


@contextmanager
def in_our_words() -> Iterator[None]:
    """Turns whatever the library raises into a GatewayError.

    `from None`: the originals carry Twilio's sentences and URLs, which name whole phone numbers.
    """
    try:
        yield
    except (TwilioRestException, TwilioServiceException) as error:
        raise _refused(error.code, error.status) from None
    except (OSError, urllib3.exceptions.HTTPError) as error:  # requests' own errors are OSErrors
        raise _lost(error) from None
    except (TwilioException, ValueError, TypeError, AttributeError):
        # A success that is not the JSON it should be: the library trips over it in all of these ways.
        raise unreadable() from None


def _refused(code: object, status: object) -> GatewayError:
    """An answer that is no success. Without a code of its own the library puts the HTTP status there."""
    known = code if isinstance(code, int) and code >= 10_000 else None
    http_status = status if isinstance(status, int) else None
    row = CODES.get(known) if known is not None else None
    if http_status is None or http_status >= 500:
        row = _Row(Unknown, Disposition.UNKNOWN, row.meaning if row else "it may have been done")
    elif row is None and http_status in (401, 403):
        row = _Row(Permanent, _BLOCKED, "access is denied")
    elif row is None and http_status in (408, 429):  # perhaps a proxy's word; only 20429 proves "not done"
        row = _Row(Unknown, Disposition.UNKNOWN, "it may have been done")
    elif row is None:
        row = _Row(Permanent, _ERROR, "the request was refused")
    head = f"Twilio error {known}" if known is not None else f"Twilio answered HTTP {http_status}"
    return row.kind(
        f"{head}: {row.meaning}", code=known, http_status=http_status, disposition=row.disposition
    )


def _lost(error: Exception) -> GatewayError:
    """A connection that failed: harmless before the request was sent, unknown from then on."""
    name = type(error).__name__
    if _never_sent(error):
        return Retryable(f"Twilio could not be connected to ({name})", disposition=_ERROR)
    return Unknown(f"the answer was lost ({name}); it may have been done", disposition=Disposition.UNKNOWN)


def _never_sent(error: Exception) -> bool:
    """Whether no byte of the request can have left, by what urllib3 says inside requests' error.

    A failed TLS handshake counts only if it was the certificate: other TLS errors also come while reading.
    """
    cause = error.args[0] if isinstance(error, RequestException) and error.args else error
    reason = getattr(cause, "reason", None)
    if isinstance(reason, urllib3.exceptions.ProxyError):
        reason = reason.original_error
    if isinstance(reason, urllib3.exceptions.SSLError):
        return bool(reason.args) and isinstance(reason.args[0], ssl.SSLCertVerificationError)
    return isinstance(reason, urllib3.exceptions.ConnectTimeoutError)  # NewConnectionError is one


def unreadable() -> Unknown:
    """A success that is not what it should be."""
    return Unknown("the answer can't be read; it may have been done", disposition=Disposition.UNKNOWN)


def page_refused(error: TwilioException) -> GatewayError:
    """A listing that was refused: the library says so without the code, but leaves the answer beside it."""
    answer = error.args[1] if len(error.args) > 1 else None
    status = getattr(answer, "status_code", None)
    try:
        code = json.loads(getattr(answer, "text", ""))["code"]
    except (ValueError, TypeError, KeyError):
        code = None
    return _refused(code, status) if isinstance(status, int) and status >= 400 else unreadable()
