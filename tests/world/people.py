"""Who takes part: an agent that blocks, a person with a page in the hand, an operator with a key.

Each does only what its counterpart outside can do, over real HTTP. Phones are the dev phone's business.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, TypeVar
from urllib.parse import urljoin

import httpx2

import human

Answer = TypeVar("Answer")


class Agent:
    """A program with the SDK. Its blocking calls run in a thread of their own and come back as futures."""

    def __init__(self, url: str, api_key: str) -> None:
        """`url` is where its service is."""
        self.client = human.Client(url, api_key)

    def clear_wall(self, reason: str, **options: Any) -> Future[human.Clearance]:
        """Blocks in `human.Client.clear_wall`; see there for the options."""
        return _elsewhere(lambda: self.client.clear_wall(reason, **options))

    def ask(self, question: str, **options: Any) -> Future[str]:
        """Blocks in `human.Client.ask`."""
        return _elsewhere(lambda: self.client.ask(question, **options))

    def dies(self) -> None:
        """Lets go of its connections, as the end of its process would."""
        self.client.close()


def _elsewhere(work: Callable[[], Answer]) -> Future[Answer]:
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # handed to whoever asks the future
            future.set_exception(error)

    threading.Thread(target=run, name="agent", daemon=True).start()
    return future


class Operator:
    """Somebody with an operator's key. Every answer is the raw response."""

    def __init__(self, http: httpx2.Client) -> None:
        """`http` carries the operator's key."""
        self.http = http

    def resolve(self, handoff: str, *, idempotency: str | None = None, **body: Any) -> httpx2.Response:
        return self._post(f"/v1/handoffs/{handoff}/resolution", body, idempotency)

    def refuse(self, handoff: str, *, idempotency: str | None = None, **body: Any) -> httpx2.Response:
        return self._post(f"/v1/handoffs/{handoff}/refusal", body, idempotency)

    def acknowledge(self, handoff: str, *, idempotency: str | None = None, **body: Any) -> httpx2.Response:
        return self._post(f"/v1/handoffs/{handoff}/acknowledgement", body, idempotency)

    def cancel(self, handoff: str, *, idempotency: str | None = None) -> httpx2.Response:
        return self._post(f"/v1/handoffs/{handoff}/cancellation", {}, idempotency)

    def _post(self, path: str, body: dict[str, Any], idempotency: str | None) -> httpx2.Response:
        headers = {"Idempotency-Key": idempotency} if idempotency else {}
        return self.http.post(path, json=body, headers=headers)


@dataclass
class Form:
    """A form as the page has it: where it goes, what is filled in, and the words on its buttons."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[str] = field(default_factory=list)


class Page:
    """The page behind a texted link, in a person's hand: read it, fill a form in, press a button of it.

    Nothing is guessed: what can be pressed is what the HTML that came last shows.
    """

    def __init__(self, link: str) -> None:
        """`link` as it stands in the text."""
        self.link = link
        self._http = httpx2.Client(follow_redirects=True, trust_env=False, timeout=30)
        self.status, self.text, self.forms = 0, "", list[Form]()

    def read(self) -> Page:
        """Opens the link, or loads it again."""
        return self._show(self._http.get(self.link))

    def press(self, button: str, **fields: str) -> Page:
        """Fills `fields` in and presses the button with these words, as the page shows them now."""
        return self._show(self.send(self.form(button), **fields))

    def form(self, button: str) -> Form:
        """The form with this button. Raises AssertionError when the page shows no such button."""
        for form in self.forms:
            if any(button.casefold() in words.casefold() for words in form.buttons):
                return form
        raise AssertionError(f"no button {button!r} here; the page says: {self.text!r}")

    def send(self, form: Form, **fields: str) -> httpx2.Response:
        """Sends a form that was shown once, perhaps for the second time."""
        assert set(fields) <= set(form.fields), f"the form has only {sorted(form.fields)}"
        assert form.method == "post", "this form changes nothing"
        return self._http.post(urljoin(self.link, form.action), data=form.fields | fields)

    def close(self) -> None:
        """Closes the browser."""
        self._http.close()

    def _show(self, response: httpx2.Response) -> Page:
        reader = _Reader()
        reader.feed(response.text)
        reader.close()
        self.status, self.forms = response.status_code, reader.forms
        self.text = " ".join(" ".join(reader.words).split())
        return self


class _Reader(HTMLParser):
    """Reads words and forms out of HTML, as a browser would show them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.forms: list[Form] = []
        self._open: list[str] = []
        self._textarea: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get").lower()))
        elif tag == "input" and self.forms and "name" in given:
            self.forms[-1].fields[given["name"]] = given.get("value", "")
        elif tag == "textarea" and self.forms:
            self._textarea = given.get("name", "")
            self.forms[-1].fields[self._textarea] = ""
        elif tag == "button" and self.forms:
            self.forms[-1].buttons.append("")
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        if tag == "textarea":
            self._textarea = None

    def handle_data(self, data: str) -> None:
        if self._textarea is not None:
            self.forms[-1].fields[self._textarea] += data
        elif "button" in self._open and self.forms and self.forms[-1].buttons:
            self.forms[-1].buttons[-1] += data
        if not {"script", "style", "title"} & set(self._open):
            self.words.append(data)
