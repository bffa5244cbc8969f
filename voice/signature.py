"""Whether a request really comes from Twilio: the one check in front of every webhook.

The URL is built from the configured public address and the raw path and query, never from Host or
X-Forwarded headers. The HMAC itself is Twilio's own code; what it gets wrong around it (see `verify`) is
done here. Replays verify, since no time is signed: being harmless when repeated is the handlers' business.
https://www.twilio.com/docs/usage/security#validating-requests
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from twilio.request_validator import RequestValidator

_FORM = "application/x-www-form-urlencoded"


class Form(Protocol):
    """The decoded fields of a form, repeated names included; Flask's `request.form` is one."""

    def keys(self) -> Iterable[str]:
        """Every name, once."""

    def getlist(self, name: str, /) -> list[str]:
        """All values of a name, as sent: blank ones included, untrimmed."""


class Verifier:
    """Checks X-Twilio-Signature against one public address and the tokens that are valid now."""

    def __init__(self, public_url: str, auth_tokens: Sequence[str]) -> None:
        """`public_url` as Twilio sees us: scheme, host, and if need be a port and a path prefix.

        More than one token lets a rotation pass unnoticed; blank ones are ignored, and with none left
        nothing verifies. Raises ValueError for a URL that no request could be signed for.
        """
        self._bases = _bases(public_url)
        self._validators = tuple(RequestValidator(token) for token in auth_tokens if token.strip())

    def verify(
        self,
        *,
        path_raw: str,
        query_raw: str,
        content_type: str | None,
        form: Form | None,
        body: bytes,
        signature: str | None,
    ) -> bool:
        """Whether this request carries a signature of ours. Never raises, whatever came in.

        `path_raw` and `query_raw` byte for byte as requested, percent-encoding kept, without `?`.
        `form` counts only when the content type says that the body is a form; any other body must be named
        in the query by bodySHA256, which Twilio's own validator skips when it is handed an empty form.
        Signatures of the beta shared keys (HMAC-SHA256) are not ours and never verify.
        """
        if not signature or not path_raw.startswith("/"):
            return False
        is_form = _media_type(content_type) == _FORM
        if not _body_is_signed(query_raw, body, must_be=not is_form and bool(content_type or body)):
            return False
        tail = f"{path_raw}?{query_raw}" if query_raw else path_raw
        fields = _Fields(form) if is_form and form is not None else None
        given = signature.encode("utf-8", "replace")
        genuine = False
        for validator in self._validators:
            for base in self._bases:
                try:
                    expected: str = validator.compute_signature(base + tail, fields)
                except UnicodeEncodeError:  # lone surrogates: nothing that Twilio could have signed
                    return False
                genuine |= hmac.compare_digest(expected.encode(), given)
        return genuine


class _Fields(dict[str, list[str]]):
    """A form in the shape that Twilio's code reads without guessing."""

    def __init__(self, form: Form) -> None:
        super().__init__({name: form.getlist(name) for name in form.keys()})

    def getall(self, name: str) -> list[str]:
        """All values of a name."""
        return self[name]


def _bases(public_url: str) -> tuple[str, ...]:
    """The address with and without its port: signers have not been consistent about it.

    https://www.twilio.com/docs/usage/security#a-few-notes . Twilio's own validator cuts at the first colon,
    which breaks addresses with a password or an IPv6 host, so the port is cut here.
    """
    parts = urlsplit(public_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("The public URL must begin with https:// (http:// for local work) and name a host.")
    if parts.query or parts.fragment or "?" in public_url or "#" in public_url:
        raise ValueError("The public URL must not carry a query or a fragment.")
    try:
        port = parts.port
    except ValueError as error:
        raise ValueError("The public URL's port is not a number from 0 to 65535.") from error
    prefix = parts.path.rstrip("/")
    bare = parts.netloc.removesuffix(f":{port}") if port is not None else parts.netloc.removesuffix(":")
    shown = port if port is not None else {"https": 443, "http": 80}[parts.scheme]
    return tuple(f"{parts.scheme}://{netloc}{prefix}" for netloc in (bare, f"{bare}:{shown}"))


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def _body_is_signed(query_raw: str, body: bytes, *, must_be: bool) -> bool:
    """Whether the body is the one that the query names; without such a name, whether it needs none."""
    named = parse_qs(query_raw, keep_blank_values=True, errors="replace").get("bodySHA256", [])
    if not named:
        return not must_be
    if len(named) > 1:
        return False
    return hmac.compare_digest(sha256(body).hexdigest().encode(), named[0].encode("utf-8", "replace"))
