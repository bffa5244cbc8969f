"""The gateway to Twilio's REST API: the only place that imports `twilio.rest`.

One request per method (two for a search), never a retry of a create. What went wrong is said in our words
by one table of error codes and one reading of a broken connection.
"""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import urllib3.exceptions
from requests.exceptions import RequestException
from twilio.base.exceptions import TwilioException, TwilioRestException, TwilioServiceException
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from handoff.moments import MINUTE, SECOND
from handoff.states import Disposition
from voice.gateway import CallReport, GatewayError, Permanent, Placed, Retryable, Unknown

CONNECT_S = 5.0  # Twilio itself allows a webhook no more
#: Above the 30 s after which Twilio's own API gives up, so that we do not part in the middle:
#: https://github.com/twilio/twilio-ruby/issues/519
READ_S = 31.0
_EVENTS = ["initiated", "ringing", "answered", "completed"]  # a list, so that each is its own form field
_MAX_VALIDITY_S = 36_000  # https://www.twilio.com/docs/messaging/api/message-resource
#: A clock that is further off is not corrected for; `handoff doctor` tells of it.
_SKEW_LIMIT_MS = 10 * MINUTE
_PAGE = 1_000  # rows of one listing, the most Twilio gives
_ENDED = 21220
_MOVES_HOSTS = ("TWILIO_EDGE", "TWILIO_REGION")

#: twilio-python logs numbers in its requests; this logger has no handler and no parent, so nothing is kept.
_NOWHERE = logging.Logger("voice.twilio_gateway.silent", level=logging.CRITICAL)


class _Row(NamedTuple):
    kind: type[Permanent] | type[Retryable] | type[Unknown]
    disposition: Disposition
    meaning: str


_BLOCKED, _BAD_NUMBER = Disposition.BLOCKED, Disposition.INVALID_NUMBER
_UNREACHABLE, _ERROR = Disposition.UNREACHABLE, Disposition.PROVIDER_ERROR

#: What a REST error code means for us; https://www.twilio.com/docs/api/errors/CODE explains each.
_CODES: Mapping[int, _Row] = {
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
    _ENDED: _Row(Permanent, _ERROR, "the call is in no state to be changed"),
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


class TwilioGateway:
    """`voice.gateway.Gateway` over Twilio, or over anything that speaks its REST protocol at `api_url`."""

    def __init__(
        self,
        account_sid: str,
        auth_token: str,
        from_number: str,
        api_url: str | None = None,
        timeout_s: float = READ_S,
        *,
        connect_s: float = CONNECT_S,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`from_number` is ours, E.164. `timeout_s` bounds the silence of an answer, `connect_s` connecting.

        `environment` may name TWILIO_EDGE and TWILIO_REGION; they rewrite any host, so that together with
        `api_url` they are refused. Raises ValueError with the setting's name.
        """
        if not (account_sid and auth_token and from_number):
            raise ValueError("Twilio needs an account SID, an auth token and a number to call from.")
        moved = {name: environment[name] for name in _MOVES_HOSTS if environment.get(name)}
        if api_url and moved:
            raise ValueError(
                f"{' and '.join(moved)} would change the host of TWILIO_API_URL: unset one of them."
            )
        # No kept connections: one that went stale in between would make a create's fate unknown.
        http = TwilioHttpClient(pool_connections=False, timeout=timeout_s, logger=_NOWHERE)
        http.timeout = (connect_s, timeout_s)  # the constructor takes no pair; requests does
        # An empty mapping would make the library read os.environ after all.
        client = Client(account_sid, auth_token, http_client=http, environment={"_": "", **moved})
        if api_url:
            parts = urlsplit(api_url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("TWILIO_API_URL must begin with https:// or http:// and name a host.")
            client.api.base_url = api_url.rstrip("/")
        self._api = client.api.v2010.account
        self._from = from_number

    def place_call(
        self, number: str, *, voice_url: str, status_url: str, ring_s: int, time_limit_s: int
    ) -> Placed:
        """See Gateway. Recording and machine detection stay off."""
        self._not_to_ourselves(number)
        with _in_our_words():
            call = self._api.calls.create(
                to=number,
                from_=self._from,
                url=voice_url,
                method="POST",
                # A web process that is restarted in mid-call costs a repetition, not the call.
                fallback_url=voice_url,
                fallback_method="POST",
                status_callback=status_url,
                status_callback_event=_EVENTS,
                status_callback_method="POST",
                timeout=ring_s,
                time_limit=time_limit_s,
            )
            return _placed(call)

    def send_text(self, number: str, body: str, *, status_url: str, valid_s: int) -> Placed:
        """See Gateway. `valid_s` is brought into the 1 to 36,000 seconds that Twilio takes."""
        self._not_to_ourselves(number)
        with _in_our_words():
            message = self._api.messages.create(
                to=number,
                from_=self._from,
                body=body,
                status_callback=status_url,
                validity_period=max(1, min(valid_s, _MAX_VALIDITY_S)),
            )
            return _placed(message)

    def hang_up(self, provider_id: str) -> None:
        """See Gateway. Never looks first: what the API says about a ringing call may be stale.

        `completed` ends a call in any state, `canceled` only one that was not answered yet.
        https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource
        """
        try:
            with _in_our_words():
                self._api.calls(provider_id).update(status="completed")
        except Permanent as error:
            if error.code != _ENDED:
                raise

    def redirect(self, provider_id: str, url: str) -> None:
        """See Gateway. A call that has ended is Permanent with code 21220."""
        with _in_our_words():
            self._api.calls(provider_id).update(url=url, method="POST")

    def look_up(self, provider_id: str) -> CallReport:
        """See Gateway. Twilio's record of a call has no SIP code."""
        with _in_our_words():
            return _report(self._api.calls(provider_id).fetch())

    def find_call(self, number: str, *, since_ms: int, now_ms: int) -> CallReport | None:
        """See Gateway. Counts by whole seconds, as Twilio dates its records, and by Twilio's clock: a call
        that it dated before we asked, because ours is ahead, is found all the same.

        StartTime filters by whole days only, and a call still in the queue has none, so that one is asked
        for by its status. No order of the rows is promised, so all of that day's are read.
        """
        day = datetime.fromtimestamp((since_ms - _SKEW_LIMIT_MS) / 1000, UTC).date().isoformat()
        ours: dict[str, Any] = {"to": number, "from_": self._from, "limit": _PAGE, "page_size": _PAGE}
        with _in_our_words():
            calls, told = self._listed(start_time_after=day, **ours)
            ahead_ms = 0 if told is None else max(0, now_ms - told)  # by a second too much at most
            since_s = (since_ms - min(ahead_ms, _SKEW_LIMIT_MS)) // SECOND
            found = _newest(calls, since_s)
            found = found or _newest(self._listed(status="queued", **ours)[0], since_s)
            return None if found is None else _report(found)

    def check(self) -> int | None:
        """See Gateway. Lists one call: the cheapest request that any set of credentials may make."""
        with _in_our_words():
            return self._listed(limit=1, page_size=1)[1]

    def _listed(self, **filters: Any) -> tuple[list[Any], int | None]:
        """Calls, and the time that Twilio told with them, in ms and to the second."""
        try:
            answer = self._api.calls.list_with_http_info(**filters)
        except (TwilioRestException, TwilioServiceException):
            raise
        except TwilioException as error:
            raise _page_refused(error) from None
        return answer.data, _told_time(answer.headers or {})

    def _not_to_ourselves(self, number: str) -> None:
        if number == self._from:
            raise Permanent("the contact's number is the one we call from", disposition=_BLOCKED)


@contextmanager
def _in_our_words() -> Iterator[None]:
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
        raise _unreadable() from None


def _refused(code: object, status: object) -> GatewayError:
    """An answer that is no success. Without a code of its own the library puts the HTTP status there."""
    known = code if isinstance(code, int) and code >= 10_000 else None
    http_status = status if isinstance(status, int) else None
    row = _CODES.get(known) if known is not None else None
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


def _unreadable() -> Unknown:
    return Unknown("the answer can't be read; it may have been done", disposition=Disposition.UNKNOWN)


def _page_refused(error: TwilioException) -> GatewayError:
    """A listing that was refused: the library says so without the code, but leaves the answer beside it."""
    answer = error.args[1] if len(error.args) > 1 else None
    status = getattr(answer, "status_code", None)
    try:
        code = json.loads(getattr(answer, "text", ""))["code"]
    except (ValueError, TypeError, KeyError):
        code = None
    return _refused(code, status) if isinstance(status, int) and status >= 400 else _unreadable()


def _told_time(headers: Mapping[str, str]) -> int | None:
    """The Date of an answer (RFC 9110, 6.6.1) in ms; None when it has none that can be read."""
    date = next((text for name, text in headers.items() if name.lower() == "date"), None)
    try:
        return None if date is None else int(parsedate_to_datetime(date).timestamp() * 1000)
    except ValueError:
        return None


def _placed(resource: Any) -> Placed:
    if not isinstance(resource.sid, str) or not resource.sid:
        raise _unreadable()
    return Placed(resource.sid)


def _report(call: Any) -> CallReport:
    if not isinstance(call.sid, str) or not isinstance(call.status, str):
        raise _unreadable()
    return CallReport(call.sid, call.status, answered_by=call.answered_by or None)


def _newest(calls: Iterable[Any], since_s: int) -> Any | None:
    """The newest call that we created at or after that second, not one that came in or that a Dial made."""
    dated = [
        (call.date_created.timestamp(), call)
        for call in calls
        if call.direction == "outbound-api" and isinstance(call.date_created, datetime)
    ]
    fresh = [(at, call) for at, call in dated if at >= since_s]
    return max(fresh, key=lambda pair: pair[0])[1] if fresh else None
