"""Sends requests to the application as Twilio does: form fields, signature, time limits, retries.

Signing is Twilio's own library. What to send is decided by the engine, when by the driver, and what shall go
wrong with it by `faults.py`; the limits are `overrides.py`.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Literal
from urllib.parse import urldefrag, urlencode, urlsplit, urlunsplit

import httpx2
from twilio.request_validator import HMAC_SHA256, SIGNATURE_SETTINGS_HEADER, RequestValidator

from .engine.actions import FetchDocument, NoReply, Reply, SendCallback
from .engine.twiml import MAX_BYTES
from .faults import NO_FAULTS, FaultPlan
from .overrides import BROKEN, CONNECT_FAILS, READ_FAILS, TWILIO, BadPolicy, Limits, read_limits
from .time_limit import TimeLimit
from .urls import is_web_url, join

MAX_REDIRECTS = 10
ENTERED = ("Digits", "SpeechResult", "Confidence")
"""Fields that are not sent again after a redirect; https://www.twilio.com/docs/voice/twiml/gather."""
SHARED_KEY_SID = "webhooks_sharedkey_simulated"
GEOGRAPHY = re.compile("(From|To|Caller|Called)(City|State|Zip|Country)")
NEW_FIELDS = {"NotSeenBefore": "1", "NotSeenBeforeEmpty": "", "NotSeenBeforeText": "Zoë & co. ✓"}
"""Twilio adds fields without notice and signs them: https://www.twilio.com/docs/usage/security."""

Port = Literal["written out", "left out"]
Warn = Callable[[int, str], None]
"""Takes a code and a sentence for the debugger, from any thread."""


class Webhooks:
    """One HTTP client for all calls, one cookie jar for each."""

    def __init__(
        self,
        auth_token: str,
        transport: httpx2.BaseTransport,
        limits: Limits = TWILIO,
    ) -> None:
        """`auth_token` signs; `limits` hold for URLs that ask for no others."""
        self._auth_token, self._transport, self._limits = auth_token, transport, limits
        self._jars: dict[str, httpx2.Cookies] = {}

    def ask(
        self, what: FetchDocument, warn: Warn, plan: FaultPlan = NO_FAULTS, token: str = ""
    ) -> Reply | NoReply:
        """Request a document, following redirects, with the cookies of its call or conversation.

        `token` is the idempotency token, the same for all tries of one webhook; without it a new one is made.
        Whatever the URL says or the application does ends in a NoReply, never in an exception.
        """
        jar = self._jars.setdefault(what.cookies or what.sid, httpx2.Cookies())
        letter = _Letter(what.url, what.method, _fields(what.fields, plan), token or new_token())
        try:
            limits = self._read_limits(what.url, warn)
            deadline = time.monotonic() + limits.total_s
            for _ in range(MAX_REDIRECTS + 1):
                reply = self._try(jar, letter, plan, limits, deadline)
                if not isinstance(reply, _Moved):
                    return reply
                letter = letter.moved(reply)
                if not is_web_url(letter.url):
                    return NoReply(11100, f"redirected to {letter.url!r}, which is no address")
                # Else the first URL's fragment holds on, as in browsers: RFC 9110, 10.2.2.
                if "#" in reply.location:
                    limits = self._read_limits(letter.url, warn)
        except BadPolicy as error:
            return NoReply(11243, str(error))
        return NoReply(11215, f"more than {MAX_REDIRECTS} redirects")

    def tell(
        self, what: SendCallback, warn: Warn, plan: FaultPlan = NO_FAULTS, token: str = ""
    ) -> Reply | NoReply:
        """Send a status callback; only the debugger minds the answer. `token` is that of `ask`."""
        try:
            limits = self._read_limits(what.url, warn)
        except BadPolicy as error:
            return NoReply(11243, str(error))
        letter = _Letter(what.url, what.method, _fields(what.fields, plan), token or new_token())
        reply = self._try(httpx2.Cookies(), letter, plan, limits, time.monotonic() + limits.total_s)
        return Reply(reply.status, what.url, None, b"") if isinstance(reply, _Moved) else reply

    def forget(self, sid: str) -> None:
        """The call is over: its cookies go."""
        self._jars.pop(sid, None)

    def _read_limits(self, url: str, warn: Warn) -> Limits:
        limits, ignored = read_limits(url, self._limits)
        for part in ignored:
            warn(20001, f"{url}: {part}, and is not obeyed")
        return limits

    def _try(
        self, jar: httpx2.Cookies, letter: _Letter, plan: FaultPlan, limits: Limits, deadline: float
    ) -> Reply | NoReply | _Moved:
        """The first try and, while the limits allow, the retries; the last outcome counts."""
        for left in range(limits.retries, -1, -1):
            may_retry = left > 0 and time.monotonic() < deadline
            try:
                reply = self._once(jar, letter, plan, limits, deadline)
                if isinstance(reply, _Moved) or not (may_retry and limits.retries_status(reply.status)):
                    return reply
            except _Failed as failure:
                if not (may_retry and failure.reason in limits.retry_on and time.monotonic() < deadline):
                    return failure.reply
        raise AssertionError("the last try returns")

    def _once(
        self, jar: httpx2.Cookies, letter: _Letter, plan: FaultPlan, limits: Limits, deadline: float
    ) -> Reply | _Moved:
        """One try. Raises _Failed."""
        client = httpx2.Client(transport=self._transport, cookies=jar, trust_env=False)
        with TimeLimit(deadline) as time_limit:
            response = self._send(client, letter, plan, limits, time_limit)
            try:
                body = time_limit.read(response, MAX_BYTES)
            except httpx2.TimeoutException as error:
                late = NoReply(11200, f"the answer was not complete within {limits.total_s:g} seconds")
                raise _Failed("", late) from error
            except httpx2.RequestError as error:
                raise _Failed("", NoReply(11206, f"the answer broke off: {error}")) from error
            finally:
                response.close()
        _keep_cookies(client.cookies, jar)
        if response.status_code in (301, 302, 303, 307, 308) and "location" in response.headers:
            return _Moved(response.status_code, response.headers["location"])
        content_type = response.headers.get("content-type")
        too_big = len(body) > MAX_BYTES
        return Reply(response.status_code, letter.own_url, content_type, body[:MAX_BYTES], too_big)

    def _send(
        self, client: httpx2.Client, letter: _Letter, plan: FaultPlan, limits: Limits, time_limit: TimeLimit
    ) -> httpx2.Response:
        """An answer that has begun. Raises _Failed."""
        waited_s = min(limits.read_s, limits.total_s)
        late = _Failed(READ_FAILS, NoReply(11200, f"no answer within {waited_s:g} seconds"))
        try:
            response = client.send(self._request(client, letter, plan, limits, time_limit), stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _Failed(CONNECT_FAILS, NoReply(11205, f"can't connect: {error}")) from error
        except httpx2.TimeoutException as error:
            raise late from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            # UnicodeError: looking up a host name that no name server could know.
            raise _Failed("", NoReply(11100, f"invalid URL: {error}")) from error
        except httpx2.RequestError as error:
            if time_limit.over:
                raise late from error
            raise _Failed(BROKEN, NoReply(11206, f"no answer: {error}")) from error
        return response

    def _request(
        self, client: httpx2.Client, letter: _Letter, plan: FaultPlan, limits: Limits, time_limit: TimeLimit
    ) -> httpx2.Request:
        """What goes out, signed."""
        request = client.build_request(
            letter.method,
            letter.wire_url,
            data=letter.fields if letter.method == "POST" else None,
            timeout=httpx2.Timeout(
                min(limits.read_s, time_limit.left_s),
                connect=min(limits.connect_s, time_limit.left_s),
                pool=time_limit.left_s,
            ),
            headers={
                "User-Agent": "TwilioProxy/1.1",
                "Accept": "*/*",
                "I-Twilio-Idempotency-Token": letter.token,
            },
            extensions={"trace": time_limit.trace},
        )
        signed = letter.fields if letter.method == "POST" else {}
        request.headers.update(signature_headers(self._auth_token, str(request.url), signed, plan))
        return request


def new_transport() -> httpx2.HTTPTransport:
    """Connections are not kept: an idle one that the application closes would look like a fault of ours."""
    return httpx2.HTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0))


def new_token() -> str:
    """A fresh I-Twilio-Idempotency-Token."""
    return str(uuid.uuid4())


def signature_headers(
    auth_token: str, wire_url: str, fields: Mapping[str, str], plan: FaultPlan = NO_FAULTS
) -> dict[str, str]:
    """The headers that prove where a request comes from, unless the plan says that they don't.

    `fields` are those of a form POST, none for a GET. The shared key's header:
    https://www.twilio.com/docs/usage/webhooks/webhook-shared-keys
    """
    url = wire_url
    if (other := signed_url(wire_url, "written out")) != url and plan.befalls("signed_with_port"):
        url = other
    elif (other := signed_url(wire_url, "left out")) != url and plan.befalls("signed_without_port"):
        url = other
    headers, algorithm, secret = {}, None, auth_token
    if plan.befalls("sha256_signature"):
        algorithm, secret = HMAC_SHA256, plan.value("sha256_signature", "secret")
        headers[SIGNATURE_SETTINGS_HEADER] = f"key={SHARED_KEY_SID},algorithm={algorithm}"
    if plan.befalls("wrong_token"):
        secret = f"not {auth_token}"
    if plan.befalls("bad_signature"):
        url += "#signed for something else"
    headers["X-Twilio-Signature"] = RequestValidator(secret).compute_signature(url, fields, algorithm)
    return headers


def signed_url(wire_url: str, port: Port) -> str:
    """The form of the URL that goes into the signature; Twilio's signers differ in the port.

    https://www.twilio.com/docs/usage/security#validating-signatures-from-twilio
    """
    parts = urlsplit(wire_url)
    bare = re.sub(r":\d+$", "", parts.netloc)
    number = parts.port or (443 if parts.scheme == "https" else 80)
    return urlunsplit(parts._replace(netloc=f"{bare}:{number}" if port == "written out" else bare))


class _Letter:
    """One webhook on its way: where it goes, with which fields, under which token."""

    def __init__(self, url: str, method: str, fields: dict[str, str], token: str) -> None:
        self.url, self.method, self.fields, self.token = url, method, fields, token

    @property
    def own_url(self) -> str:
        """The URL as somebody wrote it, without its fragment: what relative URLs in the answer start from."""
        return urldefrag(self.url).url

    @property
    def wire_url(self) -> str:
        """The URL that is asked for, with the fields of a GET."""
        url = self.own_url
        if self.method == "GET" and self.fields:
            url += ("&" if "?" in url else "?") + urlencode(self.fields)
        return url

    def moved(self, reply: _Moved) -> _Letter:
        """The same to its new address."""
        method = self.method if reply.status in (307, 308) else "GET"
        fields = {name: value for name, value in self.fields.items() if name not in ENTERED}
        return _Letter(join(self.url, reply.location), method, fields, self.token)


class _Moved:
    """A redirect that was answered."""

    def __init__(self, status: int, location: str) -> None:
        self.status, self.location = status, location


class _Failed(Exception):
    """A try without an answer. `reason` is what a retry policy calls it, "" = never retried."""

    def __init__(self, reason: str, reply: NoReply) -> None:
        super().__init__(reply.text)
        self.reason, self.reply = reason, reply


def _fields(fields: dict[str, str], plan: FaultPlan) -> dict[str, str]:
    """The fields as the plan lets them go, in characters that can go."""
    fields = {name: value.encode(errors="replace").decode() for name, value in fields.items()}
    known = {name: value for name, value in fields.items() if not GEOGRAPHY.fullmatch(name)}
    if known != fields and plan.befalls("missing_geography"):
        fields = known
    return fields | NEW_FIELDS if plan.befalls("extra_fields") else fields


def _keep_cookies(got: httpx2.Cookies, jar: httpx2.Cookies) -> None:
    """What a next request sends back. Other characters than ASCII can't be in its header: RFC 6265, 4.1.1."""
    for cookie in got.jar:
        if f"{cookie.name}{cookie.value}".isascii():
            jar.jar.set_cookie(cookie)
