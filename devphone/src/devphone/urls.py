"""Whether an address is one that a webhook can go to. Nothing is resolved or requested here."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit


def is_web_url(url: str) -> bool:
    """Whether `url` is absolute, http or https, with a host and a possible port."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def join(base: str, url: str) -> str:
    """`url` seen from `base`; one that can't be parsed is returned as it is."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url
