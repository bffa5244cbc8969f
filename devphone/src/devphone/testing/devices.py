"""A person's phone, in a test: how it behaves, what it waits for, whom it calls and texts.

What is done during a call is `calls_and_texts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from devphone.engine.phones import Behaviour
from devphone.numbers import masked

from .calls_and_texts import CallOnPhone, TextOnPhone, plain, spoken
from .connection import Connection

__tracebackhide__ = True


class Device:
    """One person's phone."""

    def __init__(self, phone: Connection, number: str) -> None:
        """`number` is E.164."""
        self._phone, self.number = phone, number

    def behaves(self, behaviour: Behaviour, **more: Any) -> Device:
        """From now on this phone does that by itself; behaviours and `more`: docs/control-api.md."""
        self._phone.send("PUT", f"/phones/{self.number}", {"behaviour": behaviour, **more})
        return self

    def calls(self, number: str) -> CallOnPhone:
        """Call a number of the account (E.164); the phone is at the person's ear."""
        return self._expected_call(self._phone.send("POST", f"/phones/{self.number}/call", {"to": number}))

    def texts(self, number: str, body: str, media: Sequence[str] = ()) -> TextOnPhone:
        """Text a number of the account (E.164), with the URLs of pictures in `media`."""
        wanted = {"to": number, "body": body, "media": list(media)}
        record = self._phone.send("POST", f"/phones/{self.number}/text", wanted)
        self._phone.expect(record["sid"])
        return TextOnPhone(record)

    def expect_call(self, saying: str | None = None, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until it rings, answer, and wait until the voice says `saying` (case does not matter).

        A call that the phone's own behaviour answered counts as well, but not one that a call screener
        holds: that one counts, and is taken, when the person's phone rings.
        """
        record = self._new("calls", lambda call: _rings(call) or _answered(call), timeout_s)
        call = self._expected_call(record)
        if _rings(record):
            call.answer()
        if saying is not None:
            call.hears(saying, timeout_s)
        return call

    def let_ring(self, timeout_s: float | None = None) -> CallOnPhone:
        """Wait until it rings, be it silently, and do not answer."""
        return self._expected_call(
            self._new("calls", lambda call: call["status"] == "ringing", timeout_s, "ring")
        )

    def screened_call(self, hearing: str = "", timeout_s: float | None = None) -> CallOnPhone:
        """Wait until the call screener rings the person, having heard these words (case does not matter).

        Nobody has answered yet: `answer` takes the call, `decline` has the screener send the caller away.
        """
        wanted = plain(hearing)

        def screened(call: dict[str, Any]) -> bool:
            at_screener = call["at"] == "screener" and bool(call["rings_person"])
            return at_screener and wanted in plain(call["screened"])

        return self._expected_call(self._new("calls", screened, timeout_s, f"was screened {hearing!r}"))

    def missed_call(self, status: str, timeout_s: float | None = None) -> CallOnPhone:
        """Wait for a call that ended by itself with this status: busy, failed, no-answer or canceled."""
        return self._expected_call(
            self._new("calls", lambda call: call["status"] == status, timeout_s, f"ended as {status}")
        )

    def expect_text(self, containing: str = "", timeout_s: float | None = None) -> TextOnPhone:
        """Wait for a text that arrived and contains these words (case does not matter)."""
        wanted = plain(containing)
        record = self._new(
            "messages",
            lambda text: text["arrived"] and wanted in plain(text["body"]),
            timeout_s,
            f"contains {containing!r}",
        )
        self._phone.expect(record["sid"])
        return TextOnPhone(record)

    def _expected_call(self, record: dict[str, Any]) -> CallOnPhone:
        self._phone.expect(record["sid"])
        return CallOnPhone(self._phone, record)

    def _new(
        self,
        kind: Literal["calls", "messages"],
        fits: Callable[[dict[str, Any]], bool],
        timeout_s: float | None,
        wanted: str = "",
    ) -> dict[str, Any]:
        """The oldest call or text to this phone that nobody expected yet and that fits."""

        def look() -> dict[str, Any] | None:
            for record in self._unexpected(kind):
                if record["direction"] != "inbound" and fits(record):
                    return dict(record)
            return None

        def failure() -> str:
            seen = [
                f"{_state(record)}: {record.get('body') or spoken(record)!r}"
                for record in self._unexpected(kind)
            ]
            name = "call" if kind == "calls" else "text"
            what = f"no {name} that {wanted}" if wanted else f"no {name}"
            return f"{masked(self.number)}: {what}; unexpected so far: {seen or 'none'}"

        return self._phone.wait_for(look, failure, timeout_s)

    def _unexpected(self, kind: Literal["calls", "messages"]) -> list[dict[str, Any]]:
        records = self._phone.state(self.number)[kind]
        return [record for record in records if not self._phone.expected(record["sid"])]


def _rings(call: dict[str, Any]) -> bool:
    """Whether a person could answer it now. A silent phone rings too: one can look at it."""
    return bool(call["status"] == "ringing" or call["rings_person"])


def _answered(call: dict[str, Any]) -> bool:
    return bool(call["status"] == "in-progress" and call["at"] != "screener")


def _state(record: dict[str, Any]) -> str:
    """For failures: the status, and who is on the phone's end if it is not the person."""
    at = record.get("at")
    return f"{record['status']} at the {at}" if at in ("voicemail", "screener") else str(record["status"])
