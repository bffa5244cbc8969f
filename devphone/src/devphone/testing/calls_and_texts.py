"""A call in a person's hand, or a text on the phone, in a test: press, speak, listen, hang up, read."""

from __future__ import annotations

import re
from typing import Any

from devphone.engine.records import TERMINAL

from .connection import Connection

__tracebackhide__ = True

SURE = 0.9
"""How sure speech recognition is of what a person says, unless a test says otherwise."""


class CallOnPhone:
    """One call in a person's hand. Methods that do something return the call, so that they can be chained."""

    def __init__(self, phone: Connection, record: dict[str, Any]) -> None:
        """`record` is the call as the control API shows it."""
        self._phone, self.sid = phone, str(record["sid"])
        self._heard = 0

    def answer(self) -> CallOnPhone:
        """Pick up, or take the call from the screener."""
        return self._do("answer")

    def press(self, digits: str) -> CallOnPhone:
        """Press keys, one after the other. Raises AssertionError when nobody is on the line."""
        return self._do("press", {"digits": digits})

    def says(self, words: str, confidence: float | None = SURE) -> CallOnPhone:
        """Speak, at 14 characters a second. Raises AssertionError when nobody is on the line.

        `confidence` (0 to 1) is how sure speech recognition will be; None = the application is not told.
        """
        return self._do("say", {"text": words, "confidence": confidence})

    def hears(self, words: str, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until the voice says `words`, later than what was heard before.

        Words count as heard as soon as the voice begins the sentence. With a manual clock that may need
        `advance`, if something that takes time comes before.
        """
        wanted = plain(words)

        def look() -> int | None:
            said = plain(spoken(self.record()))
            at = said.find(wanted, self._heard)
            return None if at < 0 else at + len(wanted)

        def failure() -> str:
            record = self.record()
            return (
                f"the voice did not say {words!r}; the call is {record['status']}, said: {spoken(record)!r}"
            )

        self._heard = self._phone.wait_for(look, failure, timeout_s)
        return self

    def hang_up(self) -> CallOnPhone:
        """Hang up."""
        return self._do("hangup")

    def decline(self) -> CallOnPhone:
        """Turn a ringing call down, or have the screener send the caller away."""
        return self._do("decline")

    def busy(self) -> CallOnPhone:
        """Give the caller a busy tone instead of ringing on."""
        return self._do("busy")

    def to_voicemail(self) -> CallOnPhone:
        """Send the ringing call to the mailbox."""
        return self._do("voicemail")

    def ended(self, status: str | None = None, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until the call is over, with `status` if given."""

        def look() -> str | None:
            found = str(self.record()["status"])
            return found if found in TERMINAL else None

        def failure() -> str:
            record = self.record()
            return f"the call is not over but {record['status']}; the voice said: {spoken(record)!r}"

        found = self._phone.wait_for(look, failure, timeout_s)
        assert status in (None, found), f"the call ended as {found}, not {status}"
        return self

    @property
    def recorded(self) -> list[str]:
        """What a mailbox kept of the voice: the sentences after its beep."""
        return [str(sentence) for sentence in self.record()["recorded"]]

    @property
    def transcript(self) -> list[str]:
        """What the voice said so far, sentence by sentence."""
        return [line["text"] for line in self.record()["transcript"] if line["who"] == "voice"]

    def record(self) -> dict[str, Any]:
        """The call as the control API shows it: status, transcript, keys, documents and more."""
        return self._phone.send("GET", f"/calls/{self.sid}")

    def _do(self, deed: str, body: dict[str, Any] | None = None) -> CallOnPhone:
        self._phone.send("POST", f"/calls/{self.sid}/{deed}", body)
        return self


class TextOnPhone:
    """One text, as it arrived or as the person sent it."""

    def __init__(self, record: dict[str, Any]) -> None:
        """`record` is the text as the control API shows it."""
        self.sid, self.body, self.segments = str(record["sid"]), str(record["body"]), int(record["segments"])
        self.media = [str(url) for url in record["media"]]

    @property
    def links(self) -> list[str]:
        """The web addresses in it, in order, without punctuation behind them."""
        return [link.rstrip(".,;:!?)") for link in re.findall(r"https?://\S+", self.body)]


def plain(text: str) -> str:
    """For comparing what was said: one kind of blank, no case."""
    return " ".join(text.split()).casefold()


def spoken(record: dict[str, Any]) -> str:
    """All that the application's voice said on a call."""
    return " ".join(line["text"] for line in record.get("transcript", []) if line["who"] == "voice")
