"""The words the engine and the driver exchange: moments, actions to do, replies that came back.

Values only. The engine makes actions, the driver performs them and hands replies back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Now(NamedTuple):
    """One moment, seen two ways.

    `s` is the line's own time in seconds: timers and durations use it, a manual clock stops it.
    `date` is Unix time in seconds, for the dates in records, and never stands still.
    """

    s: float
    date: float


@dataclass(frozen=True)
class FetchDocument:
    """Ask the application for TwiML. The reply goes to `Engine.document_arrived` with the same `fetch_id`.

    `cookies` names the jar, "" = the sid's own.
    """

    sid: str
    fetch_id: int
    url: str
    method: str
    fields: dict[str, str]
    cookies: str = ""


@dataclass(frozen=True)
class SendCallback:
    """Tell the application something; its answer is ignored. One at a time and in order per `sid`."""

    sid: str
    url: str
    method: str
    fields: dict[str, str]


@dataclass(frozen=True)
class FetchPreviews:
    """The message app on a phone looks at the links of a text that arrived; `number` is the phone (E.164)."""

    sid: str
    number: str
    links: tuple[str, ...]


@dataclass(frozen=True)
class Happened:
    """Something a person, a page or a test may want to see; `number` is the phone it happened on (E.164)."""

    type: str
    sid: str
    number: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Warned:
    """An entry for the debugger, with a code of Twilio's error dictionary."""

    code: int
    sid: str
    text: str


Action = FetchDocument | SendCallback | FetchPreviews | Happened | Warned


@dataclass(frozen=True)
class Reply:
    """What the application answered. `url` is the one that did, after redirects; `too_big` = over 64 kB."""

    status: int
    url: str
    content_type: str | None
    body: bytes
    too_big: bool = False


@dataclass(frozen=True)
class NoReply:
    """Why there is no usable answer: `code` of the error dictionary and a sentence."""

    code: int
    text: str
