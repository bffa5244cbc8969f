"""What a phone does by itself: a mailbox that talks and records, a call screener, silence, a bad line.

When a call is answered and how it ends is `progress.py`. A screener as phones of 2025 have it: it picks up
without ringing, asks, listens, and then rings the person; callers who are known are not asked.
https://allthings.how/how-to-turn-on-call-screening-on-iphone-ios-26
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .actions import Now
from .outbox import Outbox
from .phones import Phone
from .programme import Ends
from .records import At, Call, Heard
from .sounds import CHARACTERS_A_SECOND, spoken_s
from .timers import Timers

AGAIN_S = 180.0
"""A second call within this time rings, as with an iPhone's Repeated Calls.

http://support.dv02.co.uk/support/solutions/articles/4000053425-do-not-disturb-ios
"""
PERSON_S = 20.0
"""How long a screened call rings the person before the mailbox takes it."""
BEEP = "[beep]"
PATIENCE = "One moment, please."
REFUSAL = "Sorry, nobody can take your call. Goodbye."


class Devices:
    """Acts for phones. Every public method may leave actions in the outbox."""

    def __init__(
        self,
        timers: Timers,
        outbox: Outbox,
        phone_of: Callable[[str], Phone],
        picks_up: Callable[[Call, Now, At], None],
        ends: Ends,
        speaks: Callable[[Call, Now, str], None],
    ) -> None:
        """`phone_of` says how a number behaves; `picks_up` is asked to answer, `ends` to end a call; `speaks`
        hears what the phone's end begins to say."""
        self._timers, self._outbox, self._phone_of = timers, outbox, phone_of
        self._picks_up, self._ends, self._speaks = picks_up, ends, speaks
        self._rang: dict[tuple[str, str], float] = {}

    def ring(self, call: Call, now: Now) -> None:
        """The network reports ringing: ring so that a person hears it or not, and wait as the phone does."""
        phone, caller = self._phone_of(call.person), call.request.from_
        last_s = self._rang.get((call.person, caller))
        self._rang[call.person, caller] = now.s
        known = caller in phone.lets_through
        again = last_s is not None and now.s - last_s <= AGAIN_S
        call.rings_person = True
        if phone.behaviour in ("answers", "voicemail"):
            at: At = "person" if phone.behaviour == "answers" else "voicemail"
            self._after(call, now, phone.waits_s, lambda c, n: self._picks_up(c, n, at))
        elif phone.behaviour == "screening" and not known:
            call.rings_person = False
            self._after(call, now, phone.waits_s, lambda c, n: self._picks_up(c, n, "screener"))
        elif phone.behaviour == "do_not_disturb" and not known and not again:
            call.rings_person = False
            self._after(call, now, phone.waits_s, lambda c, n: self._picks_up(c, n, "voicemail"))

    def answered(self, call: Call, now: Now) -> None:
        """The line is open: the mailbox or the screener speaks, a bad line begins to fail."""
        phone = self._phone_of(call.person)
        if call.at == "voicemail":
            self.open_mailbox(call, now)
        elif call.at == "screener":
            seconds = self._speak(call, now, phone.screener_question)
            self._after(call, now, seconds, self._listen)
        elif phone.behaviour == "bad_line":
            self._after(call, now, phone.drops_after_s, self._drop)

    def open_mailbox(self, call: Call, now: Now) -> None:
        """The mailbox has an answered call: it greets, beeps and records."""
        call.at, call.rings_person = "voicemail", False
        seconds = self._speak(call, now, self._phone_of(call.person).mailbox_greeting)
        self._after(call, now, seconds, self._beep)

    def take(self, call: Call) -> None:
        """The person takes the call from the screener."""
        self._timers.cancel((call.sid, "device"))
        call.at, call.rings_person = "person", False
        self._outbox.happened("call.taken", call)

    def refuse(self, call: Call, now: Now) -> None:
        """The person does not want the screened call: the screener says so and hangs up."""
        call.rings_person = False
        self._outbox.happened("call.refused", call)
        self._after(call, now, self._speak(call, now, REFUSAL), self._hang_up)

    def forget(self) -> None:
        """Nobody has called anybody."""
        self._rang.clear()

    def _beep(self, call: Call, now: Now) -> None:
        call.recorded_from_s = call.since_answer_s(now)
        call.hear(now, "device", BEEP)
        self._outbox.happened("call.recording", call)
        self._after(call, now, self._phone_of(call.person).records_s, self._hang_up)

    def _listen(self, call: Call, now: Now) -> None:
        from_s = call.since_answer_s(now)
        listens_s = self._phone_of(call.person).listens_s
        self._after(call, now, listens_s, lambda c, n: self._ring_person(c, n, from_s))

    def _ring_person(self, call: Call, now: Now, from_s: float) -> None:
        call.screened = " ".join(overheard(call.transcript, from_s, call.since_answer_s(now)))
        call.rings_person = True
        self._outbox.happened("call.screened", call, heard=call.screened)
        self._speak(call, now, PATIENCE)
        self._after(call, now, PERSON_S, self.open_mailbox)

    def _hang_up(self, call: Call, now: Now) -> None:
        self._outbox.happened("call.hung_up", call)
        self._ends(call, now, "completed", 200)

    def _drop(self, call: Call, now: Now) -> None:
        self._outbox.happened("call.dropped", call)
        self._ends(call, now, "completed", 200)

    def _speak(self, call: Call, now: Now, text: str) -> float:
        """Say something to the caller; the seconds it takes."""
        seconds = spoken_s(text)
        if text:
            call.hear(now, "device", text, seconds)
            self._outbox.happened("call.device_said", call, text=text, seconds=round(seconds, 1))
            self._speaks(call, now, text)
        return seconds

    def _after(self, call: Call, now: Now, seconds: float, then: Callable[[Call, Now], None]) -> None:
        self._timers.set((call.sid, "device"), now.s + seconds, lambda later: then(call, later))


def recorded(call: Call) -> list[str]:
    """What the application's voice said to the mailbox after the beep; empty when nothing was recorded."""
    if call.recorded_from_s is None:
        return []
    return overheard(
        call.transcript, call.recorded_from_s, call.since_answer_s(call.ended) if call.ended else None
    )


def overheard(transcript: Iterable[Heard], from_s: float, to_s: float | None) -> list[str]:
    """The voice's sentences between two moments (seconds after the answer; None = until now).

    A sentence that was begun earlier, or goes on later, is cut at a word and marked with `…`. Repeats of
    one Say are sentences of their own, and a sentence ends at the latest when the next one begins.
    """
    said: list[str] = []
    sentences = [heard for heard in transcript if heard.who == "voice"]
    for place, heard in enumerate(sentences):
        following = sentences[place + 1 :]
        stop_s = min([heard.at_s + heard.lasts_s, *(later.at_s for later in following)])
        stop_s = stop_s if to_s is None else min(stop_s, to_s)
        one_s = spoken_s(heard.text)
        begin_s = heard.at_s
        while begin_s < stop_s and one_s > 0:
            if begin_s + one_s > from_s:
                said.append(_part(heard.text, from_s - begin_s, stop_s - begin_s, cut=to_s is not None))
            begin_s += one_s
    return [part for part in said if part]


def _part(text: str, skip_s: float, stop_s: float, *, cut: bool) -> str:
    """The words of `text` spoken between `skip_s` and `stop_s` of it; only the first cut without `cut`."""
    first = max(0, round(skip_s * CHARACTERS_A_SECOND))
    last = round(stop_s * CHARACTERS_A_SECOND) if cut else len(text)
    part = text[first:last]
    if first > 0 and text[first - 1] != " ":
        part = part.partition(" ")[2]
    if last < len(text) and text[last] != " ":
        part = part.rpartition(" ")[0]
    if not part:
        return ""
    return ("…" if first > 0 else "") + part.strip() + ("…" if last < len(text) else "")
