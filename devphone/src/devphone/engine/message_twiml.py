"""Reads the TwiML that answers an inbound text: Message and Redirect. Calls have `twiml.py`.

Knows what a document may look like; `inbound_texts.py` acts on it. Names and defaults:
https://www.twilio.com/docs/messaging/twiml/message, https://www.twilio.com/docs/messaging/twiml/redirect
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from .actions import NoReply, Reply
from .twiml import UnreadableDocument, read_root

ATTRIBUTES = {
    "Message": frozenset({"to", "from", "action", "method", "statusCallback"}),
    "Redirect": frozenset({"method"}),
}


@dataclass(frozen=True)
class MessageVerb:
    """One reply. `to`, `from_`, `action` and `status_callback` are empty when not given, URLs as written."""

    body: str
    media: tuple[str, ...] = ()
    to: str = ""
    from_: str = ""
    action: str = ""
    method: str = "POST"
    status_callback: str = ""


@dataclass(frozen=True)
class RedirectVerb:
    """Go on at another document; `url` as written."""

    url: str
    method: str = "POST"


@dataclass(frozen=True)
class MessageDocument:
    """Verbs to run in order; relative URLs are seen from `url`. `warnings` are code and sentence."""

    url: str
    verbs: tuple[MessageVerb | RedirectVerb, ...] = ()
    warnings: tuple[tuple[int, str], ...] = ()


def read_message_reply(reply: Reply | NoReply) -> MessageDocument:
    """The document in an HTTP reply. Raises UnreadableDocument 11200, 11750, 12100, 12102, 12300 and more.

    204 and an empty text answer nothing; text/plain is sent as it is.
    https://www.twilio.com/docs/api/twiml/sms/your_response
    """
    if isinstance(reply, NoReply):
        raise UnreadableDocument(reply.code, reply.text)
    if not 200 <= reply.status < 300:
        raise UnreadableDocument(11200, f"the application answered {reply.status}")
    if reply.too_big:
        raise UnreadableDocument(11750, "the document is larger than 64 kB")
    if reply.status == 204:
        return MessageDocument(reply.url)
    kind = (reply.content_type or "").split(";")[0].strip().lower()
    if not kind:
        raise UnreadableDocument(11200, "the answer has no content type")
    if kind == "text/plain":
        plain = reply.body.decode(errors="replace").strip()
        return MessageDocument(reply.url, (MessageVerb(plain),) if plain else ())
    if kind not in ("text/xml", "application/xml", "text/html"):
        raise UnreadableDocument(12300, f"content type {kind} is not TwiML")
    return _read_verbs(reply)


def _read_verbs(reply: Reply) -> MessageDocument:
    warnings: list[tuple[int, str]] = []
    verbs: list[MessageVerb | RedirectVerb] = []
    for element in read_root(reply.body, warnings):
        if element.tag not in ATTRIBUTES:
            warnings.append((12200, f"{element.tag} is no verb of a reply to a text and was skipped"))
            continue
        if unknown := sorted(set(element.attrib) - ATTRIBUTES[element.tag]):
            warnings.append((12200, f"{element.tag} has no attribute {', '.join(unknown)}"))
        verbs.append(
            _message(element, warnings) if element.tag == "Message" else _redirect(element, warnings)
        )
    return MessageDocument(reply.url, tuple(verbs), tuple(warnings))


def _message(element: ET.Element, warnings: list[tuple[int, str]]) -> MessageVerb:
    """Text may stand in Message itself or in one Body; Media hold URLs."""
    for child in element:
        if child.tag not in ("Body", "Media"):
            warnings.append((12200, f"{child.tag} is not allowed inside Message and was skipped"))
    bodies = [child.text or "" for child in element if child.tag == "Body"]
    own = " ".join((element.text or "").split()) if len(element) else (element.text or "").strip()
    media = (" ".join((child.text or "").split()) for child in element if child.tag == "Media")
    return MessageVerb(
        body=own or "".join(bodies).strip(),
        media=tuple(url for url in media if url),
        to=element.get("to", ""),
        from_=element.get("from", ""),
        action=element.get("action", ""),
        method=_method(element, 14104, warnings),
        status_callback=element.get("statusCallback", ""),
    )


def _redirect(element: ET.Element, warnings: list[tuple[int, str]]) -> RedirectVerb:
    return RedirectVerb((element.text or "").strip(), _method(element, 13710, warnings))


def _method(element: ET.Element, code: int, warnings: list[tuple[int, str]]) -> str:
    method = element.get("method", "POST").upper()
    if method in ("GET", "POST"):
        return method
    warnings.append((code, f"{element.tag}: method must be GET or POST, not {method}"))
    return "POST"
