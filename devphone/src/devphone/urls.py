"""Web addresses: which ones a webhook can go to, and those in a text. Nothing is requested here."""

from __future__ import annotations

import mimetypes
import re
from urllib.parse import urljoin, urlsplit


def is_web_url(url: str) -> bool:
    """Whether `url` is absolute, http or https, with a host that can be looked up and a possible port.

    No part of a host name is empty or has more than 63 bytes: RFC 1035, 2.3.4.
    """
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def join(base: str, url: str) -> str:
    """`url` seen from `base`; one that can't be parsed is returned as it is."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def links_in(text: str) -> tuple[str, ...]:
    """The web addresses that a person could tap in `text`, in order, without punctuation behind them."""
    found = (link.rstrip(".,;:!?)'\"") for link in re.findall(r"https?://\S+", text))
    return tuple(link for link in found if is_web_url(link))


def media_type(url: str) -> str:
    """The content type that the name in `url` promises; image/jpeg when it promises none."""
    return mimetypes.guess_type(urlsplit(url).path)[0] or "image/jpeg"
