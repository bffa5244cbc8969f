"""Runs TwiML on an answered call: one verb after the other, keys, words, redirects, fallback, the apology.

When a call is answered and what ends it from outside is `progress.py`; Gather's own rules are `gather.py`,
how long a sound lasts is `sounds.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count

from devphone.urls import is_web_url, join

from . import gather, sounds
from .actions import FetchDocument, NoReply, Now, Reply, SendCallback
from .gather import Gathering
from .outbox import Outbox, call_fields
from .records import Call, SeenDocument
from .sounds import CHARACTERS_A_SECOND, spoken_s
from .timers import Timers
from .twiml import Document, UnreadableDocument, Verb, read_reply, read_xml

MAX_SILENT = 100
"""How many documents in a row may pass without a sound or a key: a redirect to itself must come to an end."""
STABILITY = "0.9"
"""Of every partial result."""
APOLOGY = "An application error has occurred. Goodbye."

Ends = Callable[[Call, Now, str, int], None]
"""How the runner ends a call: (call, now, status, SIP response code)."""
LineAnswers = Callable[[Call, Now, Document | None], bool]
"""How an inbound call is answered for its first document (None: the apology); False = it was rejected."""


class ProgrammeRunner:
    """Moves calls through their documents. Every public method may leave actions in the outbox."""

    def __init__(
        self, account_sid: str, timers: Timers, outbox: Outbox, ends: Ends, line_answers: LineAnswers
    ) -> None:
        """`ends` is asked to end a call whose programme is over, `line_answers` to answer an inbound one."""
        self._account_sid, self._timers, self._outbox, self._ends = account_sid, timers, outbox, ends
        self._line_answers = line_answers
        self._fetch_ids = count(1)

    def start(self, call: Call, now: Now, **fields: str) -> None:
        """Ask for the call's document, with `fields` added, or run the one it came with. Url beats Twiml."""
        if call.request.url:
            self.redirect(call, now, call.request.url, call.request.method, **fields)
        else:
            self.run_inline(call, now, call.request.twiml)

    def redirect(self, call: Call, now: Now, url: str, method: str, **fields: str) -> None:
        """Leave the present document for the one at `url`, relative to the present one."""
        self._fetch(call, now, self._absolute(call, url), method, fields, is_fallback=False)

    def run_inline(self, call: Call, now: Now, twiml: str, *, updates: bool = False) -> None:
        """Leave the present document for this one. It has no address, so its URLs must be absolute.

        With `updates` it came in the middle of the call, for which Twilio has a code of its own:
        https://www.twilio.com/docs/api/errors/15004
        """
        self.stop(call)
        call.programme.relative_code = 15004 if updates else 11100
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
        counts = gathering is not None and gathering.takes_keys
        call.keys += key
        call.hear(now, "person", key)
        self._outbox.happened("call.pressed", call, key=key, counts=counts)
        if gathering is None or not counts:
            return
        call.programme.silent_documents = 0
        if gathering.press(key):
            self._gather_over(call, now)
        else:
            self._wait(call, now, gathering.rules.timeout_s, self._gather_over)

    def say(self, call: Call, now: Now, text: str, confidence: float | None) -> None:
        """Words from the person, begun when their last ones are said. Only a Gather for speech takes them."""
        programme = call.programme
        gathering = programme.gathering
        counts = gathering is not None and gathering.takes_speech
        begins_s = max(now.s, programme.speaks_until_s)
        programme.speaks_until_s = begins_s + spoken_s(text)
        call.hear(now, "person", text, spoken_s(text))
        self._outbox.happened("call.spoken", call, text=text, counts=counts)
        if gathering is None or not counts:
            return
        programme.silent_documents = 0
        over_s = gathering.say(text, confidence, begins_s)
        self._tell_partial(call, gathering)
        self._wait(call, now, over_s - now.s, self._gather_over)

    def overhears(self, call: Call, now: Now, text: str) -> None:
        """A mailbox or a screener begins to speak. Recognition can't tell who it is."""
        gathering = call.programme.gathering
        if gathering is None or not gathering.takes_speech:
            return
        call.programme.silent_documents = 0
        over_s = gathering.say(text, None, now.s)
        self._tell_partial(call, gathering)
        self._wait(call, now, over_s - now.s, self._gather_over)

    def _overhear_the_rest(self, call: Call, now: Now) -> None:
        """Of what the phone's end is saying, a Gather that begins takes what is still to come."""
        spoken = next((one for one in reversed(call.transcript) if one.who == "device" and one.lasts_s), None)
        left_s = spoken.at_s + spoken.lasts_s - call.since_answer_s(now) if spoken else 0
        if spoken is None or left_s <= 0:
            return
        rest = spoken.text[-round(left_s * CHARACTERS_A_SECOND) :]
        self.overhears(call, now, rest if rest == spoken.text else rest.partition(" ")[2] or rest)

    def _tell_partial(self, call: Call, gathering: Gathering) -> None:
        """What was understood so far goes to the partialResultCallback; its answer is ignored."""
        rules, programme = gathering.rules, call.programme
        if not rules.partial_url:
            return
        url = self._absolute(call, rules.partial_url)
        if not is_web_url(url):
            self._outbox.warned(11100, call.sid, f"partialResultCallback {url!r} is no absolute URL")
            return
        fields = call_fields(call, self._account_sid) | {
            "UnstableSpeechResult": gathering.speech,
            "Stability": STABILITY,
            "SequenceNumber": str(programme.partials),
        }
        programme.partials += 1
        self._outbox.put(SendCallback(call.sid, url, rules.partial_method, fields))

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
        call.programme.silent_documents += 1
        if problem := self._refusal(call, url):
            seen.problem = problem.text
            endless = call.programme.silent_documents > MAX_SILENT
            self._failed(call, now, problem, seen, is_fallback=is_fallback or endless)
            return
        call.programme.relative_code = 11100
        call.programme.fetch_id = next(self._fetch_ids)
        call.programme.fetching_fallback = is_fallback
        self._outbox.put(FetchDocument(call.sid, call.programme.fetch_id, url, method, fields))

    @staticmethod
    def _refusal(call: Call, url: str) -> UnreadableDocument | None:
        """Why this document is not asked for, or None."""
        if call.programme.silent_documents > MAX_SILENT:
            return UnreadableDocument(11215, f"{MAX_SILENT} documents in a row without a sound or a key")
        if is_web_url(url):
            return None
        return UnreadableDocument(call.programme.relative_code, f"{url!r} is no absolute http or https URL")

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
        if not call.answered:
            self._line_answers(call, now, None)
        call.hear(now, "system", APOLOGY, spoken_s(APOLOGY))
        self._outbox.happened("call.apologised", call, code=problem.code, text=APOLOGY)
        self._wait(call, now, spoken_s(APOLOGY), lambda c, n: self._ends(c, n, "completed", 200))

    def _begin(self, call: Call, now: Now, document: Document) -> None:
        call.programme.document = document
        call.programme.position = 0
        self._warn(call, document.warnings)
        if not call.answered and not self._line_answers(call, now, document):
            return
        self._outbox.happened("call.document", call, url=document.url, verbs=len(document.verbs))
        self._next(call, now)

    def _next(self, call: Call, now: Now) -> None:
        """Run verbs until one takes time, asks for a document, or the call ends."""
        programme = call.programme
        while (document := programme.document) is not None:
            gathering = programme.gathering
            if gathering and gathering.next_child == len(gathering.children):
                gathering.prompt_over = True
                programme.silent_documents = 0
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
            seconds = self._perform(call, now, verb)
            if programme.gathering and programme.gathering.kind:
                return  # somebody is speaking, and stops the prompt before it begins
            if seconds > 0:
                programme.silent_documents = 0
                self._wait(call, now, seconds, self._next)
                return

    def _perform(self, call: Call, now: Now, verb: Verb) -> float:
        """Start one verb; the seconds it takes, 0 when the next may follow at once."""
        match verb.name:
            case "Say" | "Pause" | "Play":
                return self._sound(call, now, verb)
            case "Gather":
                call.programme.gathering = gather.begin(verb)
                self._warn(call, call.programme.gathering.warnings)
                self._overhear_the_rest(call, now)
            case "Redirect":
                method = verb.attributes.get("method", "POST").upper()
                if method not in ("GET", "POST"):
                    self._outbox.warned(13710, call.sid, f"Redirect: invalid method {method!r}")
                    method = "POST"
                self.redirect(call, now, verb.text, method)
            case "Reject":
                why = "Reject is for inbound calls, as their first verb; this call is hung up"
                self._outbox.warned(12200, call.sid, why)
                self._ends(call, now, "completed", 200)
            case "Hangup":
                self._ends(call, now, "completed", 200)
        return 0

    def _sound(self, call: Call, now: Now, verb: Verb) -> float:
        sound = sounds.read(verb, nested=call.programme.gathering is not None)
        self._warn(call, sound.warnings)
        if sound.noise:
            call.hear(now, "system", sound.noise, sound.seconds)
        if sound.said:
            call.hear(now, "voice", sound.said, sound.seconds)
            self._outbox.happened("call.said", call, text=sound.said, seconds=round(sound.seconds, 1))
        return sound.seconds + sound.break_s

    def _gather_over(self, call: Call, now: Now) -> None:
        """Ask the action for the next document, or go on behind the Gather."""
        gathering = call.programme.gathering
        assert gathering is not None
        self._timers.cancel((call.sid, "verb"))
        if not gathering.calls_action:
            call.programme.gathering = None
            self._next(call, now)
            return
        # An empty result carries no such field, as in somleng-switch; Twilio's page does not say.
        self.redirect(call, now, gathering.rules.action, gathering.rules.method, **gathering.result)

    def _warn(self, call: Call, warnings: Iterable[tuple[int, str]]) -> None:
        for code, text in warnings:
            self._outbox.warned(code, call.sid, text)

    def _wait(self, call: Call, now: Now, seconds: float, then: Callable[[Call, Now], None]) -> None:
        self._timers.set((call.sid, "verb"), now.s + seconds, lambda later: then(call, later))
