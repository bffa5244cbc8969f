"""What a person does with a phone, in a test: wait for a call or text, press keys, listen, hang up."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from devphone.engine.phones import Behaviour
from devphone.engine.records import TERMINAL
from devphone.numbers import masked

from .connection import Connection


class PhoneNumber:
    """One person's phone."""

    def __init__(self, phone: Connection, number: str) -> None:
        """`number` is E.164."""
        self._phone, self.number = phone, number

    def behaves(self, behaviour: Behaviour, **more: Any) -> PhoneNumber:
        """From now on this phone rings, answers, is busy, unreachable or a voicemail; see the README."""
        self._phone.send("PUT", f"/phones/{self.number}", {"behaviour": behaviour, **more})
        return self

    def expect_call(self, saying: str | None = None, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until it rings, answer, and wait until the voice says `saying` (case does not matter).

        A call that the phone's own behaviour answered counts as well.
        """
        record = self._new("calls", lambda call: call["status"] in ("ringing", "in-progress"), timeout_s)
        call = CallOnPhone(self._phone, record)
        if record["status"] == "ringing":
            call.answer()
        if saying is not None:
            call.hears(saying, timeout_s)
        return call

    def let_ring(self, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until it rings and do not answer."""
        return CallOnPhone(
            self._phone, self._new("calls", lambda call: call["status"] == "ringing", timeout_s)
        )

    def missed_call(self, status: str, timeout_s: float | None = None) -> CallOnPhone:
        """Wait for a call that ended by itself with this status: busy, failed, no-answer or canceled."""
        record = self._new("calls", lambda call: call["status"] == status, timeout_s)
        return CallOnPhone(self._phone, record)

    def expect_text(self, containing: str = "", timeout_s: float | None = None) -> TextOnPhone:
        """Wait for a text that arrived and contains these words (case does not matter)."""
        wanted = _plain(containing)
        record = self._new(
            "messages", lambda text: text["arrived"] and wanted in _plain(text["body"]), timeout_s, containing
        )
        return TextOnPhone(record)

    def _new(
        self,
        kind: Literal["calls", "messages"],
        fits: Callable[[dict[str, Any]], bool],
        timeout_s: float | None,
        wanted: str = "",
    ) -> dict[str, Any]:
        """The oldest record of this phone that nobody expected yet and that fits."""

        def look() -> dict[str, Any] | None:
            for record in self._phone.state(self.number)[kind]:
                if not self._phone.expected(record["sid"]) and fits(record):
                    return dict(record)
            return None

        def failure() -> str:
            seen = [
                f"{record['status']}: {record.get('body') or spoken(record)!r}"
                for record in self._phone.state(self.number)[kind]
                if not self._phone.expected(record["sid"])
            ]
            what = f"no such {kind[:-1]} {wanted!r}" if wanted else f"no such {kind[:-1]}"
            return f"{masked(self.number)}: {what}; unexpected so far: {seen or 'none'}"

        found = self._phone.wait_for(look, failure, timeout_s)
        self._phone.expect(found["sid"])
        return found


class CallOnPhone:
    """One call in a person's hand. Methods that do something return the call, so that they can be chained."""

    def __init__(self, phone: Connection, record: dict[str, Any]) -> None:
        """`record` is the call as the control API shows it."""
        self._phone, self.sid, self._number = phone, str(record["sid"]), str(record["to"])
        self._heard = 0

    def answer(self) -> CallOnPhone:
        """Pick up."""
        return self._do("answer")

    def press(self, digits: str) -> CallOnPhone:
        """Press keys, one after the other. Raises AssertionError when nobody is on the line."""
        return self._do("press", {"digits": digits})

    def hears(self, words: str, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until the voice says `words`, later than what was heard before.

        Words count as heard as soon as the voice begins the sentence. With a manual clock that may need
        `advance`, if something that takes time comes before.
        """
        wanted = _plain(words)

        def look() -> int | None:
            said = _plain(spoken(self.record()))
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
        """Turn a ringing call down."""
        return self._do("decline")

    def busy(self) -> CallOnPhone:
        """Give the caller a busy tone instead of ringing on."""
        return self._do("busy")

    def ended(self, status: str | None = None, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until the call is over, with `status` if given."""

        def look() -> str | None:
            found = str(self.record()["status"])
            return found if found in TERMINAL else None

        found = self._phone.wait_for(look, lambda: f"the call is {self.record()['status']}", timeout_s)
        assert status in (None, found), f"the call ended as {found}, not {status}"
        return self

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
    """One text that arrived."""

    def __init__(self, record: dict[str, Any]) -> None:
        """`record` is the text as the control API shows it."""
        self.sid, self.body, self.segments = str(record["sid"]), str(record["body"]), int(record["segments"])

    @property
    def links(self) -> list[str]:
        """The web addresses in it, in order, without punctuation behind them."""
        return [link.rstrip(".,;:!?)") for link in re.findall(r"https?://\S+", self.body)]


def _plain(text: str) -> str:
    """For comparing what was said: one kind of blank, no case."""
    return " ".join(text.split()).casefold()


def spoken(record: dict[str, Any]) -> str:
    """All that the application's voice said on a call."""
    return " ".join(line["text"] for line in record.get("transcript", []) if line["who"] == "voice")
