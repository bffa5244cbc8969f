"""Runs TwiML on an answered call: one verb after the other, keys, redirects, fallback, the apology.

When a call is answered and what ends it from outside is `progress.py`; Gather's own rules are `gather.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from devphone.urls import is_web_url, join

from . import gather
from .actions import FetchDocument, NoReply, Now, Reply
from .outbox import Outbox, call_fields
from .records import Call, Heard, SeenDocument, Who
from .timers import Timers
from .twiml import Document, UnreadableDocument, Verb, read_reply, read_xml

CHARACTERS_A_SECOND = 14.0
PLAY_S = 3.0
"""How long any audio file plays; the dev phone does not fetch it."""
DIGIT_S = 0.5
MAX_SAY = 4096
"""Longest text of a basic voice; https://www.twilio.com/docs/voice/twiml/say."""
APOLOGY = "An application error has occurred. Goodbye."

Ends = Callable[[Call, Now, str, int], None]
"""How the runner ends a call: (call, now, status, SIP response code)."""


def spoken_s(text: str) -> float:
    """How long the voice takes to say `text`, in seconds."""
    return len(text) / CHARACTERS_A_SECOND


class ProgrammeRunner:
    """Moves calls through their documents. Every public method may leave actions in the outbox."""

    def __init__(self, account_sid: str, timers: Timers, outbox: Outbox, ends: Ends) -> None:
        """`ends` is asked to end a call whose programme is over."""
        self._account_sid, self._timers, self._outbox, self._ends = account_sid, timers, outbox, ends
        self._fetch_ids = count(1)

    def start(self, call: Call, now: Now) -> None:
        """The call was answered: ask for its document, or run the one it came with. Url beats Twiml."""
        if call.request.url:
            self.redirect(call, now, call.request.url, call.request.method)
        else:
            self.run_inline(call, now, call.request.twiml)

    def redirect(self, call: Call, now: Now, url: str, method: str, **fields: str) -> None:
        """Leave the present document for the one at `url`, relative to the present one."""
        self._fetch(call, now, self._absolute(call, url), method, fields, is_fallback=False)

    def run_inline(self, call: Call, now: Now, twiml: str) -> None:
        """Leave the present document for this one. It has no address, so its URLs must be absolute."""
        self.stop(call)
        try:
            document = read_xml(twiml.encode("utf-8", "replace"))
        except UnreadableDocument as problem:
            self._failed(call, now, problem, SeenDocument("", "POST", {}), is_fallback=False)
            return
        self._begin(call, now, document)

    def stop(self, call: Call) -> None:
        """Whatever is being said, waited for or fetched is of no interest any more."""
        self._timers.cancel((call.sid, "verb"))
        call.programme.document = None
        call.programme.gathering = None
        call.programme.position = call.programme.fetch_id = 0

    def document_arrived(self, call: Call, now: Now, fetch_id: int, reply: Reply | NoReply) -> None:
        """The answer to a FetchDocument. Ignored when the call ended or was redirected meanwhile."""
        programme = call.programme
        if call.over or fetch_id != programme.fetch_id:
            return
        programme.fetch_id = 0
        seen = call.documents[-1]
        seen.status = reply.status if isinstance(reply, Reply) else None
        try:
            document = read_reply(reply, seen.method)
        except UnreadableDocument as problem:
            seen.problem = problem.text
            self._failed(call, now, problem, seen, is_fallback=programme.fetching_fallback)
            return
        self._begin(call, now, document)

    def press(self, call: Call, now: Now, key: str) -> None:
        """One key from the person. It stops a prompt that is part of a Gather; anywhere else it is lost."""
        gathering = call.programme.gathering
        counts = gathering is not None and gathering.rules.takes_keys
        call.keys += key
        self._hear(call, now, "person", key)
        self._outbox.happened("call.pressed", call, key=key, counts=counts)
        if gathering is None or not counts:
            return
        gathering.next_child = len(gathering.children)
        if gathering.press(key):
            self._gather_over(call, now)
        else:
            self._wait(call, now, gathering.rules.timeout_s, self._gather_over)

    def _absolute(self, call: Call, url: str) -> str:
        """`url` seen from the present document; an empty one is that document itself."""
        document = call.programme.document
        return join(document.url, url) if document else url

    def _fetch(
        self, call: Call, now: Now, url: str, method: str, extra: dict[str, str], *, is_fallback: bool
    ) -> None:
        self.stop(call)
        fields = call_fields(call, self._account_sid) | extra
        seen = SeenDocument(url, method, fields)
        call.documents.append(seen)
        if not is_web_url(url):
            problem = UnreadableDocument(11100, f"{url!r} is no absolute http or https URL")
            seen.problem = problem.text
            self._failed(call, now, problem, seen, is_fallback=is_fallback)
            return
        call.programme.fetch_id = next(self._fetch_ids)
        call.programme.fetching_fallback = is_fallback
        self._outbox.put(FetchDocument(call.sid, call.programme.fetch_id, url, method, fields))

    def _failed(
        self, call: Call, now: Now, problem: UnreadableDocument, seen: SeenDocument, *, is_fallback: bool
    ) -> None:
        """Try the fallback once, else apologise and hang up.

        https://www.twilio.com/docs/availability-reliability
        """
        self._outbox.warned(problem.code, call.sid, f"{seen.method} {seen.url}: {problem.text}")
        if call.request.fallback_url and not is_fallback:
            extra = seen.fields | {"ErrorCode": str(problem.code), "ErrorUrl": seen.url}
            url, method = call.request.fallback_url, call.request.fallback_method
            self._fetch(call, now, url, method, extra, is_fallback=True)
            return
        self._hear(call, now, "system", APOLOGY)
        self._outbox.happened("call.apologised", call, code=problem.code, text=APOLOGY)
        self._wait(call, now, spoken_s(APOLOGY), lambda c, n: self._ends(c, n, "completed", 200))

    def _begin(self, call: Call, now: Now, document: Document) -> None:
        call.programme.document = document
        call.programme.position = 0
        for code, text in document.warnings:
            self._outbox.warned(code, call.sid, text)
        self._outbox.happened("call.document", call, url=document.url, verbs=len(document.verbs))
        self._next(call, now)

    def _next(self, call: Call, now: Now) -> None:
        """Run verbs until one takes time, asks for a document, or the call ends."""
        programme = call.programme
        while (document := programme.document) is not None:
            gathering = programme.gathering
            if gathering and gathering.next_child == len(gathering.children):
                self._outbox.happened("call.listening", call, timeout_s=gathering.rules.timeout_s)
                self._wait(call, now, gathering.rules.timeout_s, self._gather_over)
                return
            if gathering:
                verb = gathering.children[gathering.next_child]
                gathering.next_child += 1
            elif programme.position < len(document.verbs):
                verb = document.verbs[programme.position]
                programme.position += 1
            else:
                self._ends(call, now, "completed", 200)
                return
            if (seconds := self._perform(call, now, verb)) > 0:
                self._wait(call, now, seconds, self._next)
                return

    def _perform(self, call: Call, now: Now, verb: Verb) -> float:
        """Start one verb; the seconds it takes, 0 when the next may follow at once."""
        match verb.name:
            case "Say":
                return self._say(call, now, verb)
            case "Pause":
                return verb.seconds("length", 1)
            case "Play":
                digits = verb.attributes.get("digits", "")
                self._hear(call, now, "system", f"[tones {digits}]" if digits else f"[plays {verb.text}]")
                return len(digits) * DIGIT_S if digits else PLAY_S * (verb.seconds("loop", 1) or 1000)
            case "Gather":
                call.programme.gathering = gather.begin(verb)
                for code, text in call.programme.gathering.warnings:
                    self._outbox.warned(code, call.sid, text)
            case "Redirect":
                self.redirect(call, now, verb.text, verb.attributes.get("method", "POST").upper())
            case "Reject":
                self._outbox.warned(12200, call.sid, "Reject is for inbound calls; this call is hung up")
                self._ends(call, now, "completed", 200)
            case "Hangup":
                self._ends(call, now, "completed", 200)
        return 0

    def _say(self, call: Call, now: Now, verb: Verb) -> float:
        if not verb.text:
            self._outbox.warned(13520, call.sid, "Say has no text")
            return 0
        if len(verb.text) > MAX_SAY:
            self._outbox.warned(13521, call.sid, f"Say has {len(verb.text)} characters, more than {MAX_SAY}")
            return 0
        times = verb.seconds("loop", 1) or 1000
        self._hear(call, now, "voice", verb.text)
        seconds = spoken_s(verb.text) * times
        self._outbox.happened("call.said", call, text=verb.text, seconds=round(seconds, 1))
        return seconds

    def _gather_over(self, call: Call, now: Now) -> None:
        """Ask the action for the next document, or go on behind the Gather."""
        gathering = call.programme.gathering
        assert gathering is not None
        self._timers.cancel((call.sid, "verb"))
        if not gathering.calls_action:
            call.programme.gathering = None
            self._next(call, now)
            return
        # An empty result carries no Digits field, as in somleng-switch; Twilio's page does not say.
        fields = {"Digits": gathering.keys} if gathering.keys else {}
        self.redirect(call, now, gathering.rules.action, gathering.rules.method, **fields)

    def _hear(self, call: Call, now: Now, who: Who, text: str) -> None:
        since = call.answered.s if call.answered else now.s
        call.transcript.append(Heard(round(now.s - since, 3), who, text))

    def _wait(self, call: Call, now: Now, seconds: float, then: Callable[[Call, Now], None]) -> None:
        self._timers.set((call.sid, "verb"), now.s + seconds, lambda later: then(call, later))
