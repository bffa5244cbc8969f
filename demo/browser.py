"""A browser for programs, just enough for the demo: pages, links, forms, cookies. No JavaScript.

The agent shops with one, and the person who stands in when nobody sits at the terminal opens links with one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx2

#: Elements that never have an end tag; https://html.spec.whatwg.org/multipage/syntax.html#void-elements
_VOID = frozenset({"input", "br", "hr", "img", "link", "meta"})


class NotOnThePage(Exception):
    """A button or link that the page does not have; the message names what it has."""


@dataclass
class _Form:
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, str] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)


class Browser:
    """One visitor. `url`, `status`, `heading` and `text` are of the page that is open now."""

    def __init__(self, user_agent: str) -> None:
        # Nothing here leaves this machine, so a proxy from the environment must not get in between.
        self._http = httpx2.Client(
            headers={"User-Agent": user_agent}, follow_redirects=True, trust_env=False, timeout=10
        )
        self.url, self.status, self.heading, self.text = "", 0, "", ""
        self._page = _Page()

    def open(self, url: str) -> None:
        """Opens an address; follows redirects. Raises httpx2.HTTPError when nobody answers."""
        self._show(self._http.get(urljoin(self.url, url)))

    def follow(self, words: str) -> None:
        """Opens the link whose text has these words. Raises NotOnThePage."""
        for text, address in self._page.links:
            if words in text:
                return self.open(address)
        raise NotOnThePage(f"no link {words!r} on {self.url}, only {[text for text, _ in self._page.links]}")

    def press(self, words: str, *, tick: bool = False) -> None:
        """Presses the button whose text has these words; with `tick` its form's boxes are ticked first.

        Raises NotOnThePage.
        """
        for form in self._page.forms:
            if any(words in button for button in form.buttons):
                data = {**form.fields, **(form.boxes if tick else {})}
                return self._show(self._http.post(urljoin(self.url, form.action), data=data))
        buttons = [button for form in self._page.forms for button in form.buttons]
        raise NotOnThePage(f"no button {words!r} on {self.url}, only {buttons}")

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def _show(self, response: httpx2.Response) -> None:
        self.url, self.status = str(response.url), response.status_code
        self._page = _Page()
        self._page.feed(response.text)
        self.heading, self.text = self._page.heading, " ".join(" ".join(self._page.words).split())


class _Page(HTMLParser):
    """What a visitor can see and do on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []
        self.links: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.heading = ""
        self._open: list[str] = []
        self._address = ""
        self._since = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "form":
            self.forms.append(_Form(given.get("action", "")))
        elif tag == "input" and self.forms:
            box = given.get("type") == "checkbox"
            into = self.forms[-1].boxes if box else self.forms[-1].fields
            into[given.get("name", "")] = given.get("value", "on" if box else "")
        elif tag in ("a", "button", "h1"):
            self._address, self._since = given.get("href", ""), len(self.words)

    def handle_endtag(self, tag: str) -> None:
        while tag in self._open and self._open.pop() != tag:
            pass
        text = " ".join(" ".join(self.words[self._since :]).split())
        if tag == "h1":
            self.heading = text
        elif tag == "a":
            self.links.append((text, self._address))
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append(text)

    def handle_data(self, data: str) -> None:
        if not {"style", "script", "title"} & set(self._open):
            self.words.append(data)
