"""A text from a person: kept, answered when it is a keyword, and the application asked what to reply.

What the answer may look like is `message_twiml.py`; replies go the way of all outbound texts (`texts.py`).
https://www.twilio.com/docs/messaging/guides/webhook-request
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

from devphone.geography import geography
from devphone.numbers import is_e164
from devphone.segments import MAX_BODY, units
from devphone.urls import is_web_url, join, media_type

from .account import Account
from .actions import FetchDocument, Happened, NoReply, Now, Reply
from .lines import Line
from .message_twiml import MessageDocument, MessageVerb, RedirectVerb, read_message_reply
from .opt_out import OptOuts
from .outbox import API_VERSION, Outbox
from .text_records import Text, TextRequest
from .texts import status_fields
from .twiml import UnreadableDocument

MAX_DOCUMENTS = 50
"""https://www.twilio.com/docs/api/errors/14106"""
MAX_REPLIES = 10
"""https://www.twilio.com/docs/api/errors/14109"""
MAX_MEDIA = 10
COOKIES_LIVE_S = 4 * 3600
"""Cookies last this long between the same two numbers; https://www.twilio.com/docs/api/twiml/sms/your_response."""

Send = Callable[[Now, TextRequest], Text]
"""How a reply is sent: (now, request)."""


@dataclass
class _Talk:
    """One inbound text and the requests it leads to. `fetch_id` names the only answer still wanted."""

    text: Text
    line: Line
    cookies: str
    asked: FetchDocument = field(init=False)
    fetch_id: int = 0
    documents: int = 0
    replies: int = 0
    on_fallback: bool = False


class InboundTexts:
    """All inbound texts of the account whose application has not answered yet."""

    def __init__(
        self,
        account_sid: str,
        numbers: Sequence[str],
        outbox: Outbox,
        account: Account,
        opt_outs: OptOuts,
        send: Send,
    ) -> None:
        """`numbers` are the account's; the rest is shared with the engine."""
        self._account_sid, self._numbers = account_sid, numbers
        self._outbox, self._account = outbox, account
        self._opt_outs, self._send = opt_outs, send
        self._talks: dict[str, _Talk] = {}
        self._conversations: dict[tuple[str, str], tuple[str, float]] = {}
        self._fetch_ids = count(1)

    def receive(self, text: Text, now: Now, line: Line) -> None:
        """A text came in on `line`. Keywords are obeyed and answered; the application hears it anyway."""
        text.sent = now
        self._outbox.put(Happened("message.inbound", text.sid, text.person, {"body": text.body}))
        if answer := self._opt_outs.answer(line.number, text.person, text.body):
            reply = TextRequest(to=text.person, from_=line.number, body=answer, direction="outbound-reply")
            self._send(now, reply)
        if not line.sms_url:
            return
        talk = _Talk(text, line, self._cookies(line.number, text.person, now))
        self._talks[text.sid] = talk
        self._ask(talk, now, line.sms_url, line.sms_method, inbound_fields(text, self._account_sid))

    def document_arrived(self, now: Now, sid: str, fetch_id: int, reply: Reply | NoReply) -> None:
        """The answer to a FetchDocument; one that nobody waits for any more is ignored."""
        talk = self._talks.get(sid)
        if talk is None or fetch_id != talk.fetch_id:
            return
        talk.fetch_id = 0
        try:
            document = read_message_reply(reply)
        except UnreadableDocument as problem:
            self._failed(talk, now, problem)
        else:
            self._run(talk, now, document)
        if not talk.fetch_id:
            del self._talks[sid]

    def clear(self) -> None:
        """Forget all of them, and the cookies."""
        self._talks.clear()
        self._conversations.clear()

    def _cookies(self, number: str, person: str, now: Now) -> str:
        """The jar of this conversation: a new one when it is new, or was silent for four hours."""
        name, last_s = self._conversations.get((number, person), ("", 0.0))
        if not name or now.s - last_s > COOKIES_LIVE_S:
            name = f"{number} {person} {now.date}"
        self._conversations[number, person] = (name, now.s)
        return name

    def _ask(self, talk: _Talk, now: Now, url: str, method: str, fields: dict[str, str]) -> None:
        talk.documents += 1
        if talk.documents > MAX_DOCUMENTS:
            self._warn(talk, 14106, f"more than {MAX_DOCUMENTS} documents for one text; {url} was not asked")
            return
        talk.fetch_id = next(self._fetch_ids)
        talk.asked = FetchDocument(talk.text.sid, talk.fetch_id, url, method, fields, talk.cookies)
        if is_web_url(url):
            self._outbox.put(talk.asked)
            return
        talk.fetch_id = 0
        self._failed(talk, now, UnreadableDocument(11100, f"{url!r} is no absolute http or https URL"))

    def _failed(self, talk: _Talk, now: Now, problem: UnreadableDocument) -> None:
        """Try the fallback once, else nothing is replied."""
        asked, line = talk.asked, talk.line
        self._warn(talk, problem.code, f"{asked.method} {asked.url}: {problem.text}")
        if talk.on_fallback or not line.sms_fallback_url:
            return
        talk.on_fallback = True
        fields = asked.fields | {"ErrorCode": str(problem.code), "ErrorUrl": asked.url}
        self._ask(talk, now, line.sms_fallback_url, line.sms_fallback_method, fields)

    def _run(self, talk: _Talk, now: Now, document: MessageDocument) -> None:
        """Verbs in order, until one of them asks for another document."""
        for code, text in document.warnings:
            self._warn(talk, code, text)
        for verb in document.verbs:
            if isinstance(verb, RedirectVerb):
                fields = inbound_fields(talk.text, self._account_sid)
                self._ask(talk, now, join(document.url, verb.url), verb.method, fields)
                return
            reply = self._reply(talk, now, document.url, verb)
            if reply and verb.action:
                fields = status_fields(reply, self._account_sid)
                self._ask(talk, now, join(document.url, verb.action), verb.method, fields)
                return

    def _reply(self, talk: _Talk, now: Now, base: str, verb: MessageVerb) -> Text | None:
        """Send what a Message says; None with a warning when it can't be sent."""
        from_, to = verb.from_ or talk.line.number, verb.to or talk.text.person
        callback = join(base, verb.status_callback) if verb.status_callback else ""
        media = tuple(join(base, url) for url in verb.media)
        if callback and not is_web_url(callback):
            self._warn(talk, 14105, f"Message: statusCallback is no URL: {callback!r}")
            callback = ""
        if problem := self._problem(talk, from_, to, verb.body, media):
            self._warn(talk, *problem)
            return None
        talk.replies += 1
        return self._send(
            now,
            TextRequest(
                to=to,
                from_=from_,
                body=verb.body,
                media=media,
                status_callback=callback,
                direction="outbound-reply",
            ),
        )

    def _problem(
        self, talk: _Talk, from_: str, to: str, body: str, media: tuple[str, ...]
    ) -> tuple[int, str] | None:
        """Why a reply can't be sent: a code of the error dictionary and a sentence."""
        account = self._account
        if talk.replies >= MAX_REPLIES:
            return 14109, f"more than {MAX_REPLIES} replies to one text"
        if not is_e164(to):
            return 14101, f"Message: to is no phone number: {to!r}"
        if from_ not in self._numbers:
            return 14102, f"Message: from is no number of this account: {from_!r}"
        if account.trial and to not in (*account.verified, talk.text.person):
            return 14111, f"Message: a trial account can't text the unverified number {to}"
        if not body and not media:
            return 14103, "Message: neither text nor media"
        if units(body) > MAX_BODY:
            return 14103, f"Message: the body is longer than {MAX_BODY} characters"
        if len(media) > MAX_MEDIA or not all(is_web_url(url) for url in media):
            return 14103, f"Message: media must be at most {MAX_MEDIA} http or https URLs"
        if self._opt_outs.blocks(from_, to):
            return 21610, f"{to} has sent STOP to {from_}; the reply is not sent"
        return None

    def _warn(self, talk: _Talk, code: int, text: str) -> None:
        self._outbox.warned(code, talk.text.sid, text)


def inbound_fields(text: Text, account_sid: str) -> dict[str, str]:
    """What the request about an inbound text carries.

    https://www.twilio.com/docs/messaging/guides/webhook-request
    """
    fields = {
        "MessageSid": text.sid,
        "SmsSid": text.sid,
        "SmsMessageSid": text.sid,
        "AccountSid": account_sid,
        "From": text.from_,
        "To": text.request.to,
        "Body": text.body,
        "NumMedia": str(len(text.request.media)),
        "NumSegments": str(text.segments),
        "SmsStatus": text.status,
        "ApiVersion": API_VERSION,
    }
    for index, url in enumerate(text.request.media):
        fields |= {f"MediaUrl{index}": url, f"MediaContentType{index}": media_type(url)}
    return fields | geography(text.from_, "From") | geography(text.request.to, "To")
