"""Where the server is and which API key opens it: argument beats `configure()` beats environment.

Each value remembers where it came from, so that an error can name the place to look.
Nothing is connected to here; a key appears in no repr and no message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx2

from ._errors import InvalidRequest

URL_VARIABLE = "HANDOFF_URL"
API_KEY_VARIABLE = "HANDOFF_API_KEY"

_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Configured:
    """What `configure()` was given; None means not given."""

    url: str | None = None
    api_key: str | None = field(default=None, repr=False)


#: Set by `human.configure()`, read when a client is made.
configured = Configured()


@dataclass(frozen=True)
class Settings:
    """A checked server address and key, and where each came from."""

    url: str
    url_from: str
    api_key: str = field(repr=False)
    api_key_from: str


def configure(url: str | None, api_key: str | None) -> None:
    """Remembers what is given; None leaves what was there."""
    global configured
    configured = Configured(
        url=configured.url if url is None else url,
        api_key=configured.api_key if api_key is None else api_key,
    )


def resolve(url: str | None, api_key: str | None, *, environ: Mapping[str, str]) -> Settings:
    """Settles both values: the argument, else `configure()`, else the environment.

    An empty environment variable counts as not set. Raises `InvalidRequest` (code `not_configured`)
    that says what to set where.
    """
    found_url, url_from = _first("url", URL_VARIABLE, url, configured.url, environ)
    found_key, key_from = _first("api_key", API_KEY_VARIABLE, api_key, configured.api_key, environ)
    return Settings(
        url=_checked_url(found_url, url_from),
        url_from=url_from,
        api_key=_checked_key(found_key, key_from),
        api_key_from=key_from,
    )


def _first(
    name: str, variable: str, argument: str | None, configured: str | None, environ: Mapping[str, str]
) -> tuple[str, str]:
    if argument is not None:
        return argument, f"the argument {name}="
    if configured is not None:
        return configured, f"human.configure({name}=...)"
    from_environment = environ.get(variable, "").strip()
    if from_environment:
        return from_environment, f"the environment variable {variable}"
    raise InvalidRequest(
        f"{variable} is not set. Set it, call human.configure({name}=...), or pass {name}= to human.Client.",
        code="not_configured",
    )


def _checked_url(value: str, source: str) -> str:
    try:
        parsed = httpx2.URL(value.strip())
    except (httpx2.InvalidURL, TypeError, AttributeError):
        # The text itself is left out: an address that does not parse may still hold a password.
        raise _bad_setting(f"{source} is not a URL", "such as https://handoff.example") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise _bad_setting(f"{source} does not start with https:// or http:// and a host", "both are needed")
    if parsed.userinfo:
        advice = f"the key goes into {API_KEY_VARIABLE}"
        raise _bad_setting(f"{source} contains a user name or password", advice)
    if parsed.query or parsed.fragment:
        raise _bad_setting(f"{source} contains a query or a fragment", "give only the server's address")
    return str(parsed).rstrip("/")


def _checked_key(value: str, source: str) -> str:
    # Checked here because the HTTP library quotes a header it cannot send in its error text.
    key = value.strip() if isinstance(value, str) else ""
    if not _VISIBLE_ASCII.fullmatch(key):
        raise _bad_setting(
            f"the API key from {source} is empty or has characters that no key has",
            "copy it again, without spaces or line breaks inside",
        )
    return key


def _bad_setting(what: str, advice: str) -> InvalidRequest:
    return InvalidRequest(f"{what[0].upper()}{what[1:]}: {advice}.", code="not_configured")
