"""Reads a TwiML document: from the application's reply, or from a `Twiml` parameter, to verbs.

Knows what a document may look like, not what a verb does (that is `programme.py`).
Source for names and defaults: https://www.twilio.com/docs/voice/twiml and its pages per verb.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace

from devphone.digits import decimal

from .actions import NoReply, Reply

MAX_BYTES = 65536
MAX_DEPTH = 50
"""How deep elements may be nested. Twilio gives no figure; its own verbs and tags need ten."""

ATTRIBUTES: dict[str, frozenset[str]] = {
    "Say": frozenset({"voice", "loop", "language"}),
    "Pause": frozenset({"length"}),
    "Play": frozenset({"loop", "digits"}),
    "Redirect": frozenset({"method"}),
    "Hangup": frozenset(),
    "Reject": frozenset({"reason"}),
    "Gather": frozenset(
        "input action method timeout speechTimeout maxSpeechTime profanityFilter finishOnKey numDigits "
        "partialResultCallback partialResultCallbackMethod language hints bargeIn debug actionOnEmptyResult "
        "speechModel enhanced".split()
    ),
}
NESTED = frozenset({"Say", "Play", "Pause"})
SSML = frozenset({"break", "emphasis", "lang", "p", "phoneme", "prosody", "s", "say-as", "sub", "w"})
"""https://www.twilio.com/docs/voice/twiml/say/text-speech#ssml-tags"""
NOT_DONE = frozenset(
    "Dial Record Enqueue Leave Connect Start Stop Pay Prompt Refer Sms Queue Conference Echo".split()
)
"""Verbs of Twilio that the dev phone does not do."""
BREAK_S = 0.5
"""How long a break without a time lasts."""


@dataclass(frozen=True)
class Verb:
    """One element.

    `text` is what is said, or the URL; `markup` the same with SSML tags; its breaks last `break_s` seconds.
    """

    name: str
    attributes: dict[str, str]
    text: str
    children: tuple[Verb, ...] = ()
    markup: str = ""
    break_s: float = 0.0


@dataclass(frozen=True)
class Document:
    """Verbs to run. `url` is what relative URLs are resolved against; empty for a `Twiml` parameter."""

    url: str
    method: str
    verbs: tuple[Verb, ...]
    warnings: tuple[tuple[int, str], ...] = ()


class UnreadableDocument(Exception):
    """The document can't be run; `code` is Twilio's, `text` says why."""

    def __init__(self, code: int, text: str) -> None:
        """`code` of the error dictionary, `text` a sentence."""
        super().__init__(text)
        self.code, self.text = code, text


def read_reply(reply: Reply | NoReply, method: str) -> Document:
    """The document in an HTTP reply. Raises UnreadableDocument with 11200, 11750, 12100, 12102 or 12300.

    204 is an empty document; text/plain is spoken when it is no TwiML; audio is played.
    https://www.twilio.com/docs/voice/twiml#twilios-request-to-your-application
    """
    if isinstance(reply, NoReply):
        raise UnreadableDocument(reply.code, reply.text)
    if not 200 <= reply.status < 300:
        raise UnreadableDocument(11200, f"the application answered {reply.status}")
    if reply.too_big:
        raise UnreadableDocument(11750, "the document is larger than 64 kB")
    if reply.status == 204:
        return Document(reply.url, method, ())
    kind = (reply.content_type or "").split(";")[0].strip().lower()
    if not kind:
        raise UnreadableDocument(11200, "the answer has no content type")
    if kind.startswith("audio/"):
        return Document(reply.url, method, (Verb("Play", {}, reply.url),))
    if kind == "text/plain":
        try:
            return replace(read_xml(reply.body), url=reply.url, method=method)
        except UnreadableDocument:
            return Document(reply.url, method, (Verb("Say", {}, reply.body.decode(errors="replace")),))
    if kind not in ("text/xml", "application/xml", "text/html"):
        raise UnreadableDocument(12300, f"content type {kind} is not TwiML")
    return replace(read_xml(reply.body), url=reply.url, method=method)


def read_xml(body: bytes) -> Document:
    """The verbs in `body`. Raises UnreadableDocument as `read_root` does."""
    warnings: list[tuple[int, str]] = []
    root = read_root(body, warnings)
    verbs = tuple(verb for element in root if (verb := _verb(element, frozenset(ATTRIBUTES), warnings)))
    return Document("", "POST", verbs, tuple(warnings))


def read_root(body: bytes, warnings: list[tuple[int, str]]) -> ET.Element:
    """The Response in `body`; attributes of it are added to `warnings`.

    Raises UnreadableDocument 12100 (no XML, not one root, or nested too deep) or 12102 (its name).
    """
    try:
        root = ET.fromstring(body)
    except ET.ParseError as error:
        raise UnreadableDocument(12100, f"the document is not well-formed XML: {error}") from error
    except (LookupError, ValueError) as error:
        raise UnreadableDocument(12100, f"the document's encoding can't be read: {error}") from error
    if _deeper_than(root, MAX_DEPTH):
        raise UnreadableDocument(12100, f"elements are nested deeper than {MAX_DEPTH}")
    if root.tag != "Response":
        raise UnreadableDocument(12102, f"the root element is {root.tag}, not Response")
    if root.attrib:
        warnings.append((12200, f"Response takes no attributes: {', '.join(root.attrib)}"))
    return root


def _deeper_than(root: ET.Element, most: int) -> bool:
    level = [root]
    for _ in range(most):
        level = [child for element in level for child in element]
    return bool(level)


def _verb(element: ET.Element, allowed: frozenset[str], warnings: list[tuple[int, str]]) -> Verb | None:
    """One verb, or None with a warning 12200; unknown attributes are warned about and dropped."""
    name = element.tag
    if name not in allowed:
        why = "not something the dev phone does" if name in NOT_DONE else "not understood here"
        warnings.append((12200, f"{name} is {why} and was skipped"))
        return None
    known = {key: value for key, value in element.attrib.items() if key in ATTRIBUTES[name]}
    if unknown := sorted(set(element.attrib) - set(known)):
        warnings.append((12200, f"{name} has no attribute {', '.join(unknown)}"))
    if name == "Gather":
        children = tuple(verb for child in element if (verb := _verb(child, NESTED, warnings)))
        return Verb(name, known, "", children)
    if name == "Say":
        return _say(element, known, warnings)
    if len(element):
        warnings.append((12200, f"{name} takes no {', '.join(child.tag for child in element)} inside"))
    return Verb(name, known, (element.text or "").strip())


def _say(element: ET.Element, known: dict[str, str], warnings: list[tuple[int, str]]) -> Verb:
    """A Say with its SSML: what is not SSML is skipped with its words, what follows it is said."""
    said: list[str] = [element.text or ""]
    breaks: list[float] = []
    for child in element:
        _speak(child, said, breaks, warnings)
    markup = (element.text or "") + "".join(ET.tostring(child, "unicode") for child in element)
    return Verb("Say", known, " ".join("".join(said).split()), (), markup, sum(breaks))


def _speak(
    element: ET.Element, said: list[str], breaks: list[float], warnings: list[tuple[int, str]]
) -> None:
    """Add what one SSML element says, and what stands behind it."""
    if element.tag not in SSML:
        warnings.append((12200, f"{element.tag} is not understood inside Say and was skipped"))
    elif element.tag == "sub":
        said.append(element.get("alias", ""))
    else:
        if element.tag == "break":
            breaks.append(_break_s(element.get("time", "")))
            said.append(" ")
        said.append(element.text or "")
        for child in element:
            _speak(child, said, breaks, warnings)
        if element.tag in ("p", "s"):
            said.append(" ")
    said.append(element.tail or "")


def _break_s(time: str) -> float:
    found = re.fullmatch(r"([0-9.]+)(ms|s)", time)
    number = decimal(found[1]) if found else None
    if found is None or number is None:
        return BREAK_S
    return number / (1000 if found[2] == "ms" else 1)
