"""The resume callback: one signed POST to an agent's `resume_url` or `outcome_url`, and what came of it.

It keeps to Standard Webhooks, called "the spec" below:
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
Where a URL may lead is in addresses.py; when a callback is due, and that it is kept until it is done, is the
outbox's business. docs/callbacks.md says all this to those who receive them.
"""

from __future__ import annotations

import base64
import functools
import hmac
import logging
import re
import ssl
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import httpcore2
from standardwebhooks import Webhook, WebhookVerificationError

from handoff.addresses import (
    LOOKUP_S,
    Address,
    CallFailed,
    FailureKind,
    Lookup,
    Target,
    UnsafeUrl,
    check_url,
    parse_url,
    resolve,
    system_lookup,
)
from handoff.pinned import PinnedBackend

__all__ = [
    "BEARER_PATTERN",
    "Delivered",
    "Delivery",
    "DeliveryFailed",
    "FailureKind",
    "UnsafeUrl",
    "WebhookVerificationError",
    "backoff",
    "check_url",
    "deliver",
    "signature_headers",
    "signing_secret",
    "verify",
]

TOTAL_S = 10.0

#: How an agent's `resume_token` may look: one word of visible ASCII, so that it can't add a header. Made for
#: `re.fullmatch` and for a pydantic `pattern` alike.
BEARER_PATTERN = r"^[!-~]{1,1024}$"
# The spec: an id must not hold a full stop, since full stops part what is signed.
_WEBHOOK_ID = re.compile(r"[0-9A-Za-z_-]{1,200}")
# Whole seconds and nothing else, so that the text that arrived is the very text that was signed.
_TIMESTAMP = re.compile(r"[1-9][0-9]{0,10}")

# Its debug lines quote the heads of answers, and a receiver may answer with the token it was sent.
logging.getLogger("httpcore2.http11").setLevel(logging.INFO)

_DAY = timedelta(days=1)
_FIRST_WAITS = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1800, 3600)]
_LATER_WAIT = timedelta(hours=3)


@dataclass(frozen=True)
class Delivery:
    """What is sent. Every try of one callback has the same `webhook_id` and the same bytes as its `body`.

    `body` is JSON in UTF-8. `secrets` are `whsec_...` texts, newest first, and make one signature each, so
    that a secret can be changed without a gap. `bearer` is the agent's own `resume_token`. The repr shows the
    id only. Raises `ValueError`, quoting no value, for what can't be sent.
    """

    url: str = field(repr=False)
    webhook_id: str
    body: bytes = field(repr=False)
    secrets: tuple[str, ...] | list[str] = field(repr=False)
    bearer: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _WEBHOOK_ID.fullmatch(self.webhook_id):
            raise ValueError("webhook_id must be 1 to 200 letters, digits, hyphens and underscores")
        if not self.secrets:
            raise ValueError("a callback is never sent unsigned: secrets must not be empty")
        if self.bearer is not None and not re.fullmatch(BEARER_PATTERN, self.bearer):
            raise ValueError("bearer must be one word of visible ASCII characters, at most 1024")


@dataclass(frozen=True)
class Delivered:
    """The receiver took it: a status from 200 to 299."""

    status: int


@dataclass(frozen=True)
class DeliveryFailed:
    """It was not taken, or we don't know.

    `detail` is a phrase for people and logs: at most host and port of the URL, and the status of the answer.
    `retryable` says whether a later try makes sense.
    """

    kind: FailureKind
    detail: str
    retryable: bool


def deliver(
    delivery: Delivery,
    *,
    now: datetime,
    allow_private: bool,
    lookup: Lookup = system_lookup,
    tls: ssl.SSLContext | None = None,
    total_s: float = TOTAL_S,
) -> Delivered | DeliveryFailed:
    """POST a callback once and say what came of it; nothing that the network does raises.

    `now` becomes the signed `webhook-timestamp`. The name is looked up once, by `lookup`; all its addresses
    are checked, and the connection goes to one of them, with the name in Host and proven by TLS. `tls`
    replaces the system's trusted certificates (as `SSL_CERT_FILE` does). No redirect is followed, no proxy is
    taken from the environment. Look-up, connection, request and answer together have `total_s` seconds.

    A 2xx is a success once its head was read: a body over 16 kB, too late or broken off changes nothing.
    After any other answer a later try makes sense, but for 410 Gone, with which a receiver asks for no more
    (the spec, "Delivery success and failure"), and for a redirect, as the URL of a handoff never changes.
    Nor does one make sense after an address that is not public.
    """
    deadline = time.monotonic() + total_s
    try:
        check_url(delivery.url, allow_private=allow_private)
        target = parse_url(delivery.url)
        addresses = resolve(
            target.host,
            target.port,
            allow_private=allow_private,
            lookup=lookup,
            timeout_s=min(LOOKUP_S, total_s),
        )
        headers = _headers(delivery, target, now)
        status = _post(target, addresses, headers, delivery.body, tls or _system_tls(), deadline)
    except UnsafeUrl as refused:
        return DeliveryFailed(FailureKind.UNSAFE_ADDRESS, f"the URL {refused}", retryable=False)
    except CallFailed as failed:
        return DeliveryFailed(failed.kind, failed.detail, retryable=True)
    return _outcome(status, target)


def _headers(delivery: Delivery, target: Target, now: datetime) -> list[tuple[str, str]]:
    headers = [
        ("Host", target.netloc),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(delivery.body))),
        ("User-Agent", "handoff-callback"),
        ("Connection", "close"),
        *signature_headers(delivery, now).items(),
    ]
    if delivery.bearer is not None:
        headers.append(("Authorization", f"Bearer {delivery.bearer}"))
    return headers


def signature_headers(delivery: Delivery, now: datetime) -> dict[str, str]:
    """`webhook-id`, `webhook-timestamp` and `webhook-signature` of a try at `now`, which has a time zone."""
    if now.tzinfo is None:
        raise ValueError("now needs a time zone")
    # The library drops the time zone of what it is given, so it must be UTC already.
    moment = now.astimezone(UTC)
    text = delivery.body.decode("utf-8")
    return {
        "webhook-id": delivery.webhook_id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": " ".join(
            Webhook(secret).sign(delivery.webhook_id, moment, text) for secret in delivery.secrets
        ),
    }


@functools.cache
def _system_tls() -> ssl.SSLContext:
    # Reading the trusted certificates takes a while: once in a process, and not before the first callback.
    return httpcore2.default_ssl_context()


def _post(
    target: Target,
    addresses: list[Address],
    headers: list[tuple[str, str]],
    body: bytes,
    tls: ssl.SSLContext,
    deadline: float,
) -> int:
    """Send and return the status.

    By httpcore2, and not by httpx2 above it: its client logs whole URLs, and can't be told where to connect.
    """
    url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    with (
        closing(PinnedBackend(addresses, deadline)) as backend,
        httpcore2.HTTPConnection(url.origin, ssl_context=tls, network_backend=backend) as connection,
    ):
        try:
            with connection.stream("POST", url, headers=headers, content=body) as answer:
                status = answer.status
                _read_politely(answer)
        except (httpcore2.ProtocolError, httpcore2.NetworkError) as error:
            # Without its text, which quotes what the receiver sent.
            raise CallFailed(FailureKind.PROTOCOL_ERROR, "no HTTP answer came back") from error
    return status


def _read_politely(answer: httpcore2.Response) -> None:
    """Let the receiver finish its answer, within the limits: cutting it off shows as an error over there.

    The status is known by now, and is the outcome however this ends.
    """
    try:
        for _ in answer.iter_stream():
            pass
    except (CallFailed, httpcore2.ProtocolError):
        return


def _outcome(status: int, target: Target) -> Delivered | DeliveryFailed:
    detail = f"{target.netloc} answered {status}"
    match status // 100:
        case 2:
            return Delivered(status)
        case 3:
            return DeliveryFailed(FailureKind.REDIRECTED, f"{detail}; not followed", retryable=False)
        case 4:
            return DeliveryFailed(FailureKind.REFUSED, detail, retryable=status != 410)
        case 5:
            return DeliveryFailed(FailureKind.SERVER_ERROR, detail, retryable=True)
        case _:
            return DeliveryFailed(FailureKind.PROTOCOL_ERROR, detail, retryable=True)


def backoff(tries: int) -> timedelta | None:
    """How long to wait after try number `tries` (from 1) failed; None when the day for trying is used up.

    5 s, 30 s, 2 min, 10 min, 30 min, 1 h, then every 3 h, and a last try when the day is full. No jitter:
    each handoff closes at a moment of its own, and receivers can be told when to expect the next try.
    """
    if tries < 1:
        raise ValueError("tries counts from 1")
    waited = timedelta()
    for number in range(1, tries + 1):
        wait = _FIRST_WAITS[number - 1] if number <= len(_FIRST_WAITS) else min(_LATER_WAIT, _DAY - waited)
        if not wait:
            return None
        waited += wait
    return wait


def signing_secret(server_key: str, api_key_id: str) -> str:
    """The `whsec_...` secret (256 bits) with which callbacks to the holder of one API key are signed.

    Derived, so that it need not be kept; one per API key, so that no agent can forge another's callbacks.
    """
    if not server_key or not api_key_id:
        raise ValueError("a signing secret needs a server key and an API key's id")
    derived = hmac.digest(server_key.encode(), f"resume-signing|{api_key_id}".encode(), "sha256")
    return "whsec_" + base64.b64encode(derived).decode("ascii")


def verify(
    body: bytes, headers: Mapping[str, str], secret: str, *, now: datetime, tolerance_s: int = 300
) -> None:
    """Refuse a callback that was not signed with `secret`, or not within `tolerance_s` seconds of `now`.

    For receivers and tests (the library's own check reads the clock by itself). Give it the raw bytes. As the
    timestamp is part of what is signed, a replay fails with its old timestamp and with a fresh one. Raises
    `WebhookVerificationError`.
    """
    found = {name.lower(): value for name, value in headers.items()}
    try:
        webhook_id, stamp, offered = (found[f"webhook-{part}"] for part in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise WebhookVerificationError("a webhook header is missing") from missing
    if not _TIMESTAMP.fullmatch(stamp):
        raise WebhookVerificationError("webhook-timestamp is not a number of seconds")
    sent_at = datetime.fromtimestamp(int(stamp), UTC)
    if abs((now - sent_at).total_seconds()) > tolerance_s:
        raise WebhookVerificationError("webhook-timestamp is too far from now")
    try:
        expected = Webhook(secret).sign(webhook_id, sent_at, body.decode("utf-8")).encode()
    except UnicodeDecodeError as error:
        raise WebhookVerificationError("the body is not UTF-8") from error
    if not any(hmac.compare_digest(expected, one.encode("utf-8", "replace")) for one in offered.split(" ")):
        raise WebhookVerificationError("no signature matches")
