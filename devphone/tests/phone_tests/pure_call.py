"""One answered call on the bare engine: no sockets, no threads, time as an argument.

The application is a table of documents; every request is answered in the moment it is made.
"""

from __future__ import annotations

from devphone.engine.actions import FetchDocument, Happened, Now, Reply, Warned
from devphone.engine.engine import Engine
from devphone.engine.records import CallRequest

from .conftest import ACCOUNT, ADA, OURS

APP = "http://app.test"


class PureCall:
    """Answered at 0 s, with the document at `/voice`."""

    def __init__(self, voice: str, **documents: str) -> None:
        self.engine = Engine(ACCOUNT, OURS)
        self.documents = {f"{APP}/{name}": text for name, text in documents.items()}
        self.documents.setdefault(f"{APP}/voice", voice)
        self.asked: list[tuple[float, FetchDocument]] = []
        self.warnings: list[int] = []
        self.happened: list[str] = []
        self.now_s = 0.0
        self.call = self.engine.create_call(self._now(), CallRequest(to=ADA, from_=OURS, url=f"{APP}/voice"))
        self.engine.start_call(self._now(), self.call.sid)
        self._settle()
        self.engine.answer(self._now(), self.call.sid)
        self._settle()

    def to(self, now_s: float) -> PureCall:
        """Let time pass up to this second of the call."""
        while (due_s := self.engine.next_due()) is not None and due_s <= now_s:
            self.now_s = due_s
            self._settle()
        self.now_s = now_s
        return self

    def press(self, keys: str) -> PureCall:
        """Press keys now."""
        self.engine.press(self._now(), self.call.sid, keys)
        self._settle()
        return self

    @property
    def said(self) -> list[str]:
        """What the voice said."""
        return [heard.text for heard in self.call.transcript if heard.who == "voice"]

    @property
    def actions(self) -> list[tuple[float, str, str | None]]:
        """Requests after the first: (second, path, Digits or None when there is no such field)."""
        return [(at, ask.url.removeprefix(APP), ask.fields.get("Digits")) for at, ask in self.asked[1:]]

    def _now(self) -> Now:
        return Now(self.now_s, 1_800_000_000 + self.now_s)

    def _settle(self) -> None:
        due = True
        while due:
            waiting = self.engine.take_actions()
            for action in waiting:
                match action:
                    case FetchDocument():
                        self._serve(action)
                    case Warned():
                        self.warnings.append(action.code)
                    case Happened():
                        self.happened.append(action.type)
            due = bool(waiting) or self.engine.run_next_due(self._now())

    def _serve(self, action: FetchDocument) -> None:
        self.asked.append((round(self.now_s, 3), action))
        body = f"<Response>{self.documents.get(action.url, '')}</Response>"
        reply = Reply(200, action.url, "text/xml", body.encode())
        self.engine.document_arrived(self._now(), action.sid, action.fetch_id, reply)
