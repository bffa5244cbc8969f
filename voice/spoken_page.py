"""The page and a code for it, in words for the ear: "Open handoff dot example slash c, and enter ...".

Pure words. Whether they are said, and which code, is voice/by_code.py's business.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from voice.speech import spaced

_SIGNS = {".": "dot", "-": "dash", "_": "underscore", "/": "slash", ":": "colon", "~": "tilde"}

#: Instead of the code, to who may be a machine. Star reads everything again, and then the code as well.
HOW_TO_HEAR = "To hear where the page is, press star."


def open_and_enter(page_url: str, code: str) -> str:
    """What to open, and what to enter there: digits in two groups, as one writes them down."""
    half = len(code) // 2
    return f"Open {address(page_url)}, and enter {spaced(code[:half])}, {spaced(code[half:])}."


def address(url: str) -> str:
    """A web address as one says it to somebody who types it: without its scheme, signs by their names.

    A browser finds https by itself; a port is said, since without it the page is not found.
    """
    parts = urlsplit(url)
    port = f" port {spaced(str(parts.port))}" if parts.port else ""
    return f"{_said(parts.hostname or '')}{port}{_said(parts.path)}".strip()


def _said(text: str) -> str:
    """Words as they are, single letters and digits apart, and each sign by its name."""
    spaced_out = "".join(f" {_SIGNS[char]} " if char in _SIGNS else char for char in text)
    words = (spaced(word) if any(map(str.isdigit, word)) else word for word in spaced_out.split())
    return " " * text.startswith("/") + " ".join(words)
