"""A person's browser, as far as it matters here: it reads a page, and presses a button of it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from werkzeug.test import TestResponse

from .site import Site


class Page(HTMLParser):
    """A page as it came: its forms, and the words that a person sees."""

    def __init__(self, response: TestResponse) -> None:
        super().__init__(convert_charrefs=True)
        self.response, self.status = response, response.status_code
        self.html = response.get_data(as_text=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._words: list[str] = []
        self.feed(self.html)
        self.words = " ".join(" ".join(self._words).split())

    @property
    def nonce(self) -> str:
        return next(str(has["value"]) for tag, has in self.tags if has.get("name") == "nonce")

    @property
    def forms(self) -> list[str]:
        """Where its forms go."""
        return [str(has["action"]) for tag, has in self.tags if tag == "form"]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self._words.append(data)


def load(site: Site, link: str, **options: Any) -> Page:
    """Opens the page behind a link."""
    return Page(site.anybody.get(f"/h/{link}", **options))


def press(site: Site, link: str, verb: str, nonce: str | None = None, **fields: str) -> Page:
    """Sends one form of the page, which is loaded first unless its nonce is given."""
    nonce = load(site, link).nonce if nonce is None else nonce
    return Page(site.anybody("POST", f"/h/{link}/{verb}", data={"nonce": nonce} | fields))
