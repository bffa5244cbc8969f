"""Sends requests to the application as Twilio does: form fields, signature, time limits, one retry.

Signing is Twilio's own library. What to send is decided by the engine, when by the driver.
"""

from __future__ import annotations

import time
import uuid
from urllib.parse import urldefrag, urlencode

import httpx2
from twilio.request_validator import RequestValidator

from .engine.actions import NoReply, Reply
from .engine.twiml import MAX_BYTES
from .urls import is_web_url, join

TOTAL_S = 15.0
CONNECT_S = 5.0
TRIES = 2
MAX_REDIRECTS = 10
ENTERED = ("Digits", "SpeechResult", "Confidence")
"""Fields that are not sent again after a redirect; https://www.twilio.com/docs/voice/twiml/gather."""


class Webhooks:
    """One HTTP client for all calls, one cookie jar for each.

    Limits: https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides
    """

    def __init__(
        self, auth_token: str, total_s: float = TOTAL_S, transport: httpx2.BaseTransport | None = None
    ) -> None:
        """`auth_token` signs; `total_s` is how long one request may take; `transport` is for tests."""
        self._validator, self._total_s = RequestValidator(auth_token), total_s
        # Connections are not kept: an idle one that the application closes would look like a fault of ours.
        self._transport = transport or httpx2.HTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0))
        self._jars: dict[str, httpx2.Cookies] = {}

    def ask(self, sid: str, url: str, method: str, fields: dict[str, str]) -> Reply | NoReply:
        """Request a document for one call, following redirects, with the call's cookies."""
        jar = self._jars.setdefault(sid, httpx2.Cookies())
        deadline = time.monotonic() + self._total_s
        for _ in range(MAX_REDIRECTS + 1):
            reply = self._try(jar, url, method, fields, deadline)
            if not isinstance(reply, _Moved):
                return reply
            url = join(url, reply.location)
            if not is_web_url(url):
                return NoReply(11206, f"redirected to {url!r}, which is no address")
            method = method if reply.status in (307, 308) else "GET"
            fields = {name: value for name, value in fields.items() if name not in ENTERED}
        return NoReply(11215, f"more than {MAX_REDIRECTS} redirects")

    def tell(self, url: str, method: str, fields: dict[str, str]) -> Reply | NoReply:
        """Send a status callback; the answer is only of interest to the debugger."""
        reply = self._try(httpx2.Cookies(), url, method, fields, time.monotonic() + self._total_s)
        return Reply(reply.status, url, None, b"") if isinstance(reply, _Moved) else reply

    def forget(self, sid: str) -> None:
        """The call is over: its cookies go."""
        self._jars.pop(sid, None)

    def _try(
        self, jar: httpx2.Cookies, url: str, method: str, fields: dict[str, str], deadline: float
    ) -> Reply | NoReply | _Moved:
        """Up to two tries, the second only when connecting failed; both carry one idempotency token."""
        token = str(uuid.uuid4())
        for attempt in range(1, TRIES + 1):
            try:
                return self._once(jar, url, method, fields, deadline, token)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                if attempt == TRIES:
                    return NoReply(11205, f"can't connect: {error}")
            except httpx2.TimeoutException:
                return NoReply(11200, f"no complete answer within {self._total_s:g} seconds")
            except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
                return NoReply(11100, f"invalid URL: {error}")
            except httpx2.RequestError as error:
                return NoReply(11206, f"the answer broke off: {error}")
        raise AssertionError("every try returns or raises")

    def _once(
        self, jar: httpx2.Cookies, url: str, method: str, fields: dict[str, str], deadline: float, token: str
    ) -> Reply | _Moved:
        wire_url = urldefrag(url).url
        if method == "GET":
            wire_url += ("&" if "?" in wire_url else "?") + urlencode(fields)
        client = httpx2.Client(transport=self._transport, cookies=jar, trust_env=False)
        left_s = max(0.1, deadline - time.monotonic())
        request = client.build_request(
            method,
            wire_url,
            data=fields if method == "POST" else None,
            headers={"User-Agent": "TwilioProxy/1.1", "Accept": "*/*", "I-Twilio-Idempotency-Token": token},
            timeout=httpx2.Timeout(left_s, connect=min(CONNECT_S, left_s)),
        )
        signed = fields if method == "POST" else {}
        request.headers["X-Twilio-Signature"] = self._validator.compute_signature(str(request.url), signed)
        response = client.send(request, stream=True)
        try:
            jar.update(client.cookies)
            body = b""
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    break
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the answer took too long", request=request)
        finally:
            response.close()
        if response.status_code in (301, 302, 303, 307, 308) and "location" in response.headers:
            return _Moved(response.status_code, response.headers["location"])
        content_type = response.headers.get("content-type")
        return Reply(
            response.status_code, str(response.url), content_type, body[:MAX_BYTES], len(body) > MAX_BYTES
        )


class _Moved:
    """A redirect that was answered."""

    def __init__(self, status: int, location: str) -> None:
        self.status, self.location = status, location
