"""What the terminal shows: lines made of the difference between two looks at the dev phone.

Pure: states of the control API in, lines out. What a person types is `deeds.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from devphone.engine.records import TERMINAL

SHOWN_TEXTS = 5
"""How many of the texts that were there before are shown at the start."""
_JOINERS = "\u200c\u200d"


class News:
    """Remembers what was shown. `phones` in the order of their appearance; `current` is that of deeds."""

    def __init__(self, only: Sequence[str] = ()) -> None:
        """`only` are the numbers (E.164) to attend to; none = every phone."""
        self._only = tuple(only)
        self.phones: list[str] = list(only)
        self.current: str | None = self.phones[0] if self.phones else None
        self.state: dict[str, Any] = {"calls": [], "messages": [], "phones": [], "numbers": [], "seq": 0}
        self._stages: dict[str, str] = {}
        self._heard: dict[str, int] = {}
        self._texts: set[str] = set()
        self._looked = False

    def look(self, state: dict[str, Any]) -> list[str]:
        """The lines for what is new in `state`; one from before the last is passed over."""
        if state["seq"] < self.state["seq"]:
            return []
        self.state = state
        for phone in state["phones"]:
            if not self._only and phone["number"] not in self.phones:
                self.phones.append(phone["number"])
        self._forget(state)
        lines = [*self._texts_in(state), *self._calls_in(state)]
        self.current = self.current or next(iter(self.phones), None)
        self._looked = True
        return lines

    def live(self, number: str) -> list[dict[str, Any]]:
        """This phone's calls that are not over, oldest first."""
        calls = self.state["calls"]
        return [call for call in calls if call["person"] == number and call["status"] not in TERMINAL]

    def _forget(self, state: dict[str, Any]) -> None:
        """After a reset of the dev phone nothing is left of what was shown."""
        calls, texts = ({record["sid"] for record in state[kind]} for kind in ("calls", "messages"))
        self._stages = {sid: stage for sid, stage in self._stages.items() if sid in calls}
        self._heard = {sid: count for sid, count in self._heard.items() if sid in calls}
        self._texts &= texts

    def _texts_in(self, state: dict[str, Any]) -> list[str]:
        fresh = [
            text
            for text in state["messages"]
            if text["person"] in self.phones
            and text["sid"] not in self._texts
            and (text["arrived"] or text["direction"] == "inbound")
        ]
        self._texts |= {text["sid"] for text in fresh}
        lines = [_text_line(text) for text in fresh]
        if not self._looked and len(lines) > SHOWN_TEXTS:
            return [f"({len(lines) - SHOWN_TEXTS} older texts)", *lines[-SHOWN_TEXTS:]]
        return lines

    def _calls_in(self, state: dict[str, Any]) -> Iterator[str]:
        for call in state["calls"]:
            sid, number, stage = call["sid"], call["person"], _stage(call)
            if number not in self.phones:
                continue
            before = self._stages.get(sid)
            if stage == "over" and not self._looked:
                self._stages[sid], self._heard[sid] = stage, len(call["transcript"])
                continue
            if stage in _RINGING and before != stage and not self._talks():
                self.current = number
            if stage != before and stage not in ("waits", "over"):
                yield f"{_clock()} {_STAGES[stage].format(**call, number=number)}"
            for said in call["transcript"][self._heard.get(sid, 0) :]:
                yield f"{_clock()} {number} {_said(said)}"
            if stage != before and stage == "over":
                end = f"{call['status']}, {call['duration_s']} s"
                yield f"{_clock()} {number}: the call is over: {end}"
            self._stages[sid], self._heard[sid] = stage, len(call["transcript"])

    def _talks(self) -> bool:
        """Whether the current phone has a call that a person may be busy with."""
        return any(_stage(call) not in ("waits", "mailbox") for call in self.live(self.current or ""))


_RINGING = ("rings", "silent", "screened")
_STAGES = {
    "rings": "{number} rings: {from} is calling. a = answer, d = decline, v = voicemail, b = busy",
    "silent": "{number} does not ring: {from} is calling silently. a = answer, d = decline, v = voicemail",
    "calls": "{number} calls {to}. h = hang up",
    "screener": "{number}: a screener answered and asks {from} what this is about",
    "screened": "{number} rings: a screener has {from} on the line. a = answer, d = decline",
    "mailbox": "{number}: the mailbox answered {from}",
    "talks": "{number} is on the line. 0-9*# = keys, s TEXT = say, h = hang up",
}


def _stage(call: dict[str, Any]) -> str:
    """Where a call is, as a person would see it: a key of `_STAGES`, `waits` or `over`."""
    if call["status"] in TERMINAL:
        return "over"
    if call["status"] == "ringing":
        return "calls" if call["direction"] == "inbound" else "rings" if call["rings_person"] else "silent"
    if call["status"] != "in-progress":
        return "waits"
    if call["at"] == "screener":
        return "screened" if call["rings_person"] else "screener"
    return "mailbox" if call["at"] == "voicemail" else "talks"


def _said(line: dict[str, Any]) -> str:
    """One line of the transcript. A key takes no time, speech does."""
    words = harmless(line["text"])
    if line["who"] == "person":
        return f"you: {words}" if line["lasts_s"] else f"you pressed {words}"
    return f"{line['who']}: {words}"


def _text_line(text: dict[str, Any]) -> str:
    mine = text["direction"] == "inbound"
    other = f"to {text['to']}" if mine else f"from {text['from']}"
    parts = [text["body"], *(f"media: {url}" for url in text["media"])]
    return f"{_clock(text['created'])} {text['person']} text {other}: {harmless(' '.join(parts))}"


def harmless(text: str) -> str:
    """`text` for a terminal: no escape sequence, no new line, nothing that turns the writing round.

    Control characters become their pictures; line ends a mark.
    """
    return "".join(_harmless(char) for char in text.replace("\r\n", "\n"))


def _harmless(char: str) -> str:
    if char == "\n":
        return " ⏎ "
    if char < " ":
        return chr(0x2400 + ord(char))
    if char == "\x7f":
        return "␡"
    bad = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and char not in _JOINERS
    return "\N{REPLACEMENT CHARACTER}" if bad else char


def _clock(unix_s: float | None = None) -> str:
    """Hours, minutes and seconds here, of `unix_s` or of now."""
    moment = datetime.now() if unix_s is None else datetime.fromtimestamp(unix_s)
    return f"{moment:%H:%M:%S}"
