"""What a typed line means: a request to the dev phone, or an answer to the person. Nothing is sent here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from devphone.digits import whole

from .news import News, harmless

HELP = """\
a = answer, d = decline, v = to voicemail, b = busy, h = hang up
0-9*# = press keys, s TEXT = say something, t TEXT = send a text
c [NUMBER] = call the account, p = phones, p N = use phone N, ? = this help, q = quit"""
_BEFORE = {"a": "answer", "d": "decline", "v": "voicemail", "b": "busy"}
_KEYS = re.compile(r"[0-9*#]+")


@dataclass(frozen=True)
class Request:
    """To be sent: a path below `/_devphone/` and its body."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Quit:
    """The person has had enough."""


def meant(line: str, news: News) -> Request | Quit | str:
    """What `line` asks for; a string is the answer to it. May change which phone is the current one."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if word == "q":
        return Quit()
    if word in ("", "?"):
        return HELP
    if word == "p":
        return _choose(rest, news)
    keys = _KEYS.fullmatch(word) and not rest
    if not (keys or word in (*_BEFORE, "h", "c") or (word in ("s", "t") and rest)):
        return f"I don't know {harmless(line.strip())!r}.\n{HELP}"
    number = news.current
    if number is None:
        return "There is no phone yet; one appears when a number is called or texted. Or start with --number."
    if word == "c":
        return _to_account(f"phones/{number}/call", rest, {}, news)
    if word == "t":
        return _to_account(f"phones/{number}/text", _last_sender(number, news), {"body": rest}, news)
    if word in _BEFORE:
        return _on_call(number, _BEFORE[word], {}, news, wanted=("ringing", "in-progress"))
    if word == "h":
        return _on_call(number, "hangup", {}, news, wanted=("in-progress", "ringing"))
    if word == "s":
        return _on_call(number, "say", {"text": rest}, news, wanted=("in-progress",))
    return _on_call(number, "press", {"digits": word}, news, wanted=("in-progress",))


def _choose(rest: str, news: News) -> str:
    """`p`: the list; `p N`: another current phone."""
    if rest:
        place = whole(rest)
        if place is None or not 1 <= place <= len(news.phones):
            return f"p N: N is a number from 1 to {len(news.phones)}"
        news.current = news.phones[place - 1]
        return f"Now {news.current}"
    if not news.phones:
        return "There is no phone yet."
    marks = ["*" if phone == news.current else " " for phone in news.phones]
    return "\n".join(
        f"{mark}{at} {phone}" for at, (mark, phone) in enumerate(zip(marks, news.phones, strict=True), 1)
    )


def _on_call(
    number: str, deed: str, body: dict[str, Any], news: News, wanted: tuple[str, ...]
) -> Request | str:
    """A deed on the newest call in the first of the `wanted` statuses that there is."""
    live = news.live(number)
    for status in wanted:
        if found := [call for call in live if call["status"] == status]:
            return Request(f"calls/{found[-1]['sid']}/{deed}", body)
    return f"{number} has no call for that"


def _to_account(path: str, to: str, body: dict[str, Any], news: News) -> Request:
    """A call or text to a number of the account, the first one when none is named."""
    return Request(path, {"to": to or news.state["numbers"][0], **body})


def _last_sender(number: str, news: News) -> str:
    """The account's number that texted this phone last; empty when none did."""
    own = news.state["numbers"]
    senders = [
        text["from"] for text in news.state["messages"] if text["person"] == number and text["from"] in own
    ]
    return senders[-1] if senders else ""
