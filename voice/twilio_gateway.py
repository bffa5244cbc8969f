"""The gateway to Twilio's REST API: the only place that imports `twilio.rest`.

One request per method (two for a search), never a retry of a create. What went wrong is said in our words by
twilio_errors.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from twilio.base.exceptions import TwilioException, TwilioRestException, TwilioServiceException
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from handoff.moments import MINUTE, SECOND
from handoff.states import Disposition
from voice.gateway import CallReport, Permanent, Placed, Routes, Sender
from voice.twilio_errors import ENDED, in_our_words, page_refused, unreadable

CONNECT_S = 5.0  # Twilio itself allows a webhook no more
#: Above the 30 s after which Twilio's own API gives up, so that we do not part in the middle:
#: https://github.com/twilio/twilio-ruby/issues/519
READ_S = 31.0
_EVENTS = ["initiated", "ringing", "answered", "completed"]  # a list, so that each is its own form field
_MAX_VALIDITY_S = 36_000  # https://www.twilio.com/docs/messaging/api/message-resource
#: A clock that is further off is not corrected for; `handoff doctor` tells of it.
_SKEW_LIMIT_MS = 10 * MINUTE
_PAGE = 1_000  # rows of one listing, the most Twilio gives
#: What a number may send calls or texts to instead of a URL.
_ELSEWHERE = ("voice_application_sid", "sms_application_sid", "trunk_sid")
_MOVES_HOSTS = ("TWILIO_EDGE", "TWILIO_REGION")

#: twilio-python logs numbers in its requests; this logger has no handler and no parent, so nothing is kept.
_NOWHERE = logging.Logger("voice.twilio_gateway.silent", level=logging.CRITICAL)


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
        messaging_service: str | None = None,
    ) -> None:
        """`from_number` is ours, E.164; texts go through the `messaging_service` (its SID) if there is one.
        `timeout_s` bounds the silence of an answer, `connect_s` connecting.

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
        service = {"messaging_service_sid": messaging_service}
        self._texts_by = service if messaging_service else {"from_": from_number}

    def place_call(
        self,
        number: str,
        *,
        voice_url: str,
        status_url: str,
        ring_s: int,
        time_limit_s: int,
        machine_url: str | None = None,
    ) -> Placed:
        """See Gateway. Nothing is recorded. Detection never holds the line silent, and knows a machine when
        its greeting is over. https://www.twilio.com/docs/voice/answering-machine-detection
        """
        self._not_to_ourselves(number)
        detection: dict[str, Any] = {}
        if machine_url is not None:
            detection = {
                "machine_detection": "DetectMessageEnd",
                "async_amd": "true",
                "async_amd_status_callback": machine_url,
                "async_amd_status_callback_method": "POST",
            }
        with in_our_words():
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
                **detection,
            )
            return _placed(call)

    def send_text(self, number: str, body: str, *, status_url: str, valid_s: int) -> Placed:
        """See Gateway. `valid_s` is brought into the 1 to 36,000 seconds that Twilio takes."""
        self._not_to_ourselves(number)
        with in_our_words():
            message = self._api.messages.create(
                to=number,
                body=body,
                status_callback=status_url,
                validity_period=max(1, min(valid_s, _MAX_VALIDITY_S)),
                **self._texts_by,
            )
            return _placed(message)

    def hang_up(self, provider_id: str) -> None:
        """See Gateway. Never looks first: what the API says about a ringing call may be stale.

        `completed` ends a call in any state, `canceled` only one that was not answered yet.
        https://www.twilio.com/docs/voice/api/call-resource#update-a-call-resource
        """
        try:
            with in_our_words():
                self._api.calls(provider_id).update(status="completed")
        except Permanent as error:
            if error.code != ENDED:
                raise

    def redirect(self, provider_id: str, url: str) -> None:
        """See Gateway. A call that has ended is Permanent with code 21220."""
        with in_our_words():
            self._api.calls(provider_id).update(url=url, method="POST")

    def look_up(self, provider_id: str) -> CallReport:
        """See Gateway. Twilio's record of a call has no SIP code."""
        with in_our_words():
            return _report(self._api.calls(provider_id).fetch())

    def find_call(self, number: str, *, since_ms: int, now_ms: int) -> CallReport | None:
        """See Gateway. Counts by whole seconds, as Twilio dates its records, and by Twilio's clock: a call
        that it dated before we asked, because ours is ahead, is found all the same.

        StartTime filters by whole days only, and a call still in the queue has none, so that one is asked
        for by its status. No order of the rows is promised, so all of that day's are read.
        """
        day = datetime.fromtimestamp((since_ms - _SKEW_LIMIT_MS) / 1000, UTC).date().isoformat()
        ours: dict[str, Any] = {"to": number, "from_": self._from, "limit": _PAGE, "page_size": _PAGE}
        with in_our_words():
            calls, told = self._listed(start_time_after=day, **ours)
            ahead_ms = 0 if told is None else max(0, now_ms - told)  # by a second too much at most
            since_s = (since_ms - min(ahead_ms, _SKEW_LIMIT_MS)) // SECOND
            found = _newest(calls, since_s)
            found = found or _newest(self._listed(status="queued", **ours)[0], since_s)
            return None if found is None else _report(found)

    def check(self) -> int | None:
        """See Gateway. Lists one call: the cheapest request that any set of credentials may make."""
        with in_our_words():
            return self._listed(limit=1, page_size=1)[1]

    def sender(self) -> Sender | None:
        """See Gateway. https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource"""
        with in_our_words():
            found = self._our_number()
            if found is None:
                return None
            able = found.capabilities or {}
            return Sender(
                calls=bool(able.get("voice")), texts=bool(able.get("sms")), routes=_routes_of(found)
            )

    def connect(self, routes: Routes) -> None:
        """See Gateway. An application or a trunk would come before a URL, so that what there is is taken out.

        https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource
        """
        with in_our_words():
            found = self._our_number()
            if found is None:
                raise Permanent("the account has no such number", disposition=Disposition.BLOCKED)
            taken_out = {name: "" for name in _ELSEWHERE if getattr(found, name, None)}
            self._api.incoming_phone_numbers(found.sid).update(
                voice_url=routes.calls,
                voice_method="POST",
                status_callback=routes.call_status,
                status_callback_method="POST",
                sms_url=routes.texts,
                sms_method="POST",
                **taken_out,
            )

    def _our_number(self) -> Any | None:
        try:
            found = self._api.incoming_phone_numbers.list(phone_number=self._from, limit=1)
        except (TwilioRestException, TwilioServiceException):
            raise
        except TwilioException as error:
            raise page_refused(error) from None
        return found[0] if found else None

    def _listed(self, **filters: Any) -> tuple[list[Any], int | None]:
        """Calls, and the time that Twilio told with them, in ms and to the second."""
        try:
            answer = self._api.calls.list_with_http_info(**filters)
        except (TwilioRestException, TwilioServiceException):
            raise
        except TwilioException as error:
            raise page_refused(error) from None
        return answer.data, _told_time(answer.headers or {})

    def _not_to_ourselves(self, number: str) -> None:
        if number == self._from:
            raise Permanent("the contact's number is the one we call from", disposition=Disposition.BLOCKED)


def _routes_of(number: Any) -> Routes:
    elsewhere = [
        name.removesuffix("_sid").replace("_", " ") for name in _ELSEWHERE if getattr(number, name, None)
    ]
    return Routes(
        calls=number.voice_url or "",
        call_status=number.status_callback or "",
        texts=number.sms_url or "",
        elsewhere=" and ".join(elsewhere),
    )


def _told_time(headers: Mapping[str, str]) -> int | None:
    """The Date of an answer (RFC 9110, 6.6.1) in ms; None when it has none that can be read."""
    date = next((text for name, text in headers.items() if name.lower() == "date"), None)
    try:
        return None if date is None else int(parsedate_to_datetime(date).timestamp() * 1000)
    except ValueError:
        return None


def _placed(resource: Any) -> Placed:
    if not isinstance(resource.sid, str) or not resource.sid:
        raise unreadable()
    return Placed(resource.sid)


def _report(call: Any) -> CallReport:
    if not isinstance(call.sid, str) or not isinstance(call.status, str):
        raise unreadable()
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
