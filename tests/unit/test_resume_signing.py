"""The secrets that sign resume callbacks, and the check that an agent runs on what it got.

Which headers are sent is in test_resume_sending.py; the verifier in the docs in test_resume_docs.py.
"""

from __future__ import annotations

import base64
import hmac
from datetime import timedelta

import pytest

from handoff.resume import WebhookVerificationError, signing_secret, verify

from .receivers import NOW, OLD_SECRET, SECRET, Serve, send


def test_each_api_key_has_a_signing_secret_of_its_own_that_standard_webhooks_takes() -> None:
    key = b"server key"
    assert SECRET == "whsec_" + base64.b64encode(hmac.digest(key, b"resume-signing|ak_1", "sha256")).decode()
    assert SECRET == signing_secret("server key", "ak_1")
    assert len({SECRET, OLD_SECRET, signing_secret("another server key", "ak_1")}) == 3
    for key_and_id in (("", "ak_1"), ("server key", "")):
        with pytest.raises(ValueError):
            signing_secret(*key_and_id)


def captured(serve: Serve) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a genuine callback."""
    receiver = serve()
    send(receiver.url())
    [request] = receiver.requests
    return request.body, dict(request.headers.items())


def test_a_genuine_callback_verifies_for_five_minutes_in_any_case_of_header_names(serve: Serve) -> None:
    body, headers = captured(serve)
    for seconds in (-299, 0, 299):
        verify(body, headers, SECRET, now=NOW + timedelta(seconds=seconds))
    verify(body, {name.title(): value for name, value in headers.items()}, SECRET, now=NOW)
    verify(body, headers, SECRET, now=NOW + timedelta(hours=1), tolerance_s=4000)


def test_a_replay_after_ten_minutes_fails_with_its_old_timestamp_and_with_a_fresh_one(serve: Serve) -> None:
    body, headers = captured(serve)
    later = NOW + timedelta(minutes=10)
    with pytest.raises(WebhookVerificationError, match="too far"):
        verify(body, headers, SECRET, now=later)
    with pytest.raises(WebhookVerificationError, match="too far"):
        verify(body, headers, SECRET, now=NOW - timedelta(minutes=10))
    fresh = headers | {"webhook-timestamp": str(int(later.timestamp()))}
    with pytest.raises(WebhookVerificationError, match="no signature"):
        verify(body, fresh, SECRET, now=later)


def test_anything_changed_or_missing_is_refused(serve: Serve) -> None:
    body, headers = captured(serve)
    for changed in (
        b"",
        body + b"\n",
        body.replace(b"1.0", b"1"),
        body.replace(b",", b", "),
        '{"note":"nai\u0308ve – 日本 😀","n":1.0}'.encode(),
        b'{"note":"na\\u00efve \\u2013 \\u65e5\\u672c \\ud83d\\ude00","n":1.0}',
        b"\xff",
    ):
        with pytest.raises(WebhookVerificationError):
            verify(changed, headers, SECRET, now=NOW)
    for name, value in (
        ("webhook-id", "resume-ho_2"),
        ("webhook-id", ""),
        ("webhook-timestamp", "1796030468"),
        ("webhook-timestamp", " 1796030467"),
        ("webhook-timestamp", "01796030467"),
        ("webhook-timestamp", "1796030467.0"),
        ("webhook-timestamp", "١٧٩٦٠٣٠٤٦٧"),
        ("webhook-timestamp", "nan"),
        ("webhook-timestamp", "99999999999"),
        ("webhook-timestamp", ""),
        ("webhook-signature", ""),
        ("webhook-signature", "v1"),
        ("webhook-signature", "v1,"),
        ("webhook-signature", "v1a," + headers["webhook-signature"][3:]),
        ("webhook-signature", "v1,日本\udcff"),
        ("webhook-signature", headers["webhook-signature"][:-1]),
    ):
        with pytest.raises(WebhookVerificationError):
            verify(body, headers | {name: value}, SECRET, now=NOW)
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        with pytest.raises(WebhookVerificationError, match="missing"):
            verify(body, {key: value for key, value in headers.items() if key != name}, SECRET, now=NOW)
    with pytest.raises(WebhookVerificationError):
        verify(body, headers, OLD_SECRET, now=NOW)
