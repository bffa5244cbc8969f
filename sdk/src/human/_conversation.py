"""One call from opening to close, as a generator: requests come out, events go in, a closed handoff returns.

Every rule about retries, pauses and giving up is here, and no I/O: `_client.py` sends and sleeps,
and an async client drives the same generator. Time comes in with the events.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial

from ._errors import ConnectionFailed, HumanError, InvalidRequest, Uncertain
from ._reply import Event, Handoff, NoAnswer, Refusal, read
from ._request import Opening, Send, waiting
from ._settings import Settings

_log = logging.getLogger("human")


@dataclass(frozen=True)
class Timing:
    """How long things may take, in seconds. `grace_s`: how long past the deadline a server may stay away."""

    #: Clearly below the 30 s at which the shortest proxies cut a quiet request.
    hold_s: int = 25
    margin_s: float = 10.0
    connect_s: float = 5.0
    open_s: float = 15.0
    grace_s: float = 60.0
    first_pause_s: float = 0.5
    max_pause_s: float = 8.0
    #: An open handoff reported faster than this was not held: the server is going down, or does not hold.
    early_s: float = 1.0

    def pause_s(self, tries: int, asked_s: float | None, luck: float) -> float:
        """The pause before the next request, after `tries` in a row came to nothing (0: none).

        Doubles up to `max_pause_s`; `luck` (0 to 1) takes off up to half, so that many agents do not come
        back together. What `Retry-After` asked for is never undercut.
        """
        if asked_s:
            return asked_s + self.first_pause_s * luck
        if not tries:
            return 0.0
        doubled = self.first_pause_s * 2.0 ** min(tries - 1, 30)
        return min(doubled, self.max_pause_s) * (1 - luck / 2)


@dataclass(frozen=True)
class Terms:
    """What a conversation needs to know besides the question itself."""

    settings: Settings
    timing: Timing
    max_retries: int
    luck: Callable[[], float]


Steps = Generator[Send, Event, Handoff]


def converse(opening: Opening, terms: Terms, *, now: float) -> Steps:
    """Opens the handoff (or finds it again), waits until it is closed, and returns its last document.

    Raises `InvalidRequest`, `ConnectionFailed` or `Uncertain`. Never cancels: abandoning the generator
    leaves the handoff open.
    """
    handoff, opened_at = yield from _open(opening, terms, now)
    if handoff.page_url and not handoff.closed:
        _show(handoff.page_url, opening)
    return (yield from _wait(handoff, opening, terms, opened_at))


def _show(page_url: str, opening: Opening) -> None:
    if opening.on_page is not None:
        opening.on_page(page_url)
    else:
        _log.warning("Nobody is rung for this; a person can answer at %s", page_url)


def _open(opening: Opening, terms: Terms, now: float) -> Generator[Send, Event, tuple[Handoff, float]]:
    limit = now + opening.timeout_s + terms.timing.grace_s
    send = opening.send(read_s=terms.timing.open_s)
    tries = 0
    while True:
        event = yield send
        tries += 1
        answer = read(event)
        if isinstance(answer, Handoff):
            return answer, event.at
        if isinstance(answer, Refusal):
            raise _refused(answer, opening, terms, None)
        pause = terms.timing.pause_s(tries, answer.retry_after_s, terms.luck())
        if not answer.worth_a_retry or tries > terms.max_retries or event.at + pause > limit:
            raise _not_opened(answer, opening, terms, tries) from answer.error
        send = opening.send(read_s=terms.timing.open_s, after_s=pause, why=answer.what)


def _wait(handoff: Handoff, opening: Opening, terms: Terms, opened_at: float) -> Steps:
    timing = terms.timing
    heard_at, silent, early = opened_at, 0, 0
    poll = partial(waiting, handoff.id, hold_s=timing.hold_s, read_s=timing.hold_s + timing.margin_s)
    send = poll()
    while not handoff.closed:
        event = yield send
        answer = read(event, expected_id=handoff.id)
        if isinstance(answer, Refusal):
            raise _refused(answer, opening, terms, handoff)
        why = None
        if isinstance(answer, Handoff):
            handoff, heard_at, silent = answer, event.at, 0
            early = early + 1 if event.took_s < timing.early_s else 0
        # `span_s` follows a deadline that was moved; hearing from the server restarts the grace.
        limit = max(opened_at + (handoff.span_s or opening.timeout_s), heard_at) + timing.grace_s
        if isinstance(answer, NoAnswer):
            # A person may answer meanwhile: whatever a proxy says, only the server itself ends a wait.
            if event.at >= limit or answer.closed:
                raise _lost(answer, handoff, opening, terms) from answer.error
            silent, early, why = silent + 1, 0, answer.what
        pause = timing.pause_s(silent or early, answer.retry_after_s, terms.luck())
        send = poll(after_s=min(pause, limit - event.at), why=why)
    return handoff


def _refused(refusal: Refusal, opening: Opening, terms: Terms, handoff: Handoff | None) -> HumanError:
    known = handoff.id if handoff else None
    attempts = handoff.attempts if handoff else ()
    if refusal.status == 410 or (handoff and refusal.status == 404):
        gone = "it is no longer kept" if refusal.status == 410 else "the server does not know it any more"
        return Uncertain(
            f"What became of {known or 'this question'} cannot be told any more: {gone} "
            f"(HTTP {refusal.status}: {refusal.detail}). "
            "It counts as neither yes nor no. To ask once more, use a new key.",
            state=handoff.state if handoff else None,
            handoff_id=known,
            key=opening.key,
            attempts=attempts,
        )
    still_open = f" {known} stays open until its deadline." if known else ""
    return InvalidRequest(
        _refusal_words(refusal, opening, terms.settings) + still_open,
        code=refusal.code,
        errors=refusal.errors,
        status=refusal.status,
        handoff_id=known,
        key=opening.key,
        attempts=attempts,
    )


def _refusal_words(refusal: Refusal, opening: Opening, settings: Settings) -> str:
    if refusal.status == 401:
        return (
            f"{settings.url} does not accept the API key (HTTP 401). "
            f"The key comes from {settings.api_key_from}, the address from {settings.url_from}: "
            "check that both belong to the same server and that the key was not revoked."
        )
    if refusal.code == "idempotency_conflict":
        return (
            f"The key {opening.key!r} already names another question (HTTP 409). The same question needs the "
            "same arguments every time; a new question needs a new key."
        )
    what = "; ".join(str(error) for error in refusal.errors) or refusal.detail
    where = (
        f" Is {settings.url} (from {settings.url_from}) the right address?" if refusal.status == 404 else ""
    )
    return f"Refused (HTTP {refusal.status}, {refusal.code}): {what}.{where}"


def _not_opened(answer: NoAnswer, opening: Opening, terms: Terms, tries: int) -> ConnectionFailed:
    times = "once" if tries == 1 else f"{tries} times"
    later = f"; it asked to come back in {answer.retry_after_s:g} s" if answer.retry_after_s else ""
    where = f"{terms.settings.url} (from {terms.settings.url_from})"
    return ConnectionFailed(
        f"No Handoff server answered at {where}, tried {times}. "
        f"Last: {answer.what}{later}. The question may have arrived all the same: "
        f"to ask again without ringing twice, repeat the call with key={opening.key!r}.",
        status=answer.status,
        key=opening.key,
    )


def _lost(answer: NoAnswer, handoff: Handoff, opening: Opening, terms: Terms) -> Uncertain:
    what = "this client was closed" if answer.closed else f"{terms.settings.url} stopped answering"
    return Uncertain(
        f"{handoff.id} was opened, but {what} before the handoff closed. Last: {answer.what}. "
        "It may have been answered. To find out without ringing anyone again, "
        f"repeat the call with key={opening.key!r}.",
        state=handoff.state,
        handoff_id=handoff.id,
        key=opening.key,
        attempts=handoff.attempts,
    )
