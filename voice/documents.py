"""TwiML documents under construction, within Twilio's limits. What they say is scripts.py's business."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from twilio.twiml.voice_response import VoiceResponse

from voice.keypad import Key
from voice.speech import sentences

WAIT_S = 6  #: from the last word of the menu to the next turn

#: What is not said to somebody whose call goes on.
_PARTING = re.compile(r"(?: Nothing is left to do\.)?(?: You can hang up\.)? Goodbye\.$")
_MAX_SAY = 3_000  # characters; https://www.twilio.com/docs/voice/twiml/say
_MAX_SAY_ENCODED = 4_500  # the same text URL-encoded; https://www.twilio.com/docs/api/errors/13521
_MAX_BYTES = 65_536  # of a document; https://www.twilio.com/docs/api/errors/11750


@dataclass(frozen=True)
class Voice:
    """How this contact is spoken to. `name` None leaves it to the account's setting; without a `screen`
    nothing is said of links and pages; `then`: where the call goes on instead of ending, if it does."""

    language: str = "en-US"
    name: str | None = None
    screen: bool = True
    then: str | None = None


PLAIN = Voice()


class Script:
    """A document under construction. A menu can only be read through `listen`, which makes its Gather."""

    def __init__(self, voice: Voice) -> None:
        self._response = VoiceResponse()
        self._then = voice.then
        self._style = {"language": voice.language, "voice": voice.name}

    def say(self, text: str) -> Script:
        self._response.say(_sayable(text), **self._style)
        return self

    def pause(self, seconds: int) -> Script:
        self._response.pause(length=seconds)
        return self

    def listen(
        self,
        said: Sequence[str],
        keys: Sequence[Key],
        key_url: str,
        *,
        wait_s: int = WAIT_S,
        slow: bool = False,
        hears: Mapping[str, str] | None = None,
    ) -> Script:
        """Speaks, and takes one key at any moment. No finish key, so that `*` and `#` count as keys. `hears`
        is what a Gather needs to take words as well."""
        assert keys, "a menu without keys"
        return self._gather(said, key_url, 1, "", wait_s, slow=slow, hears=hears)

    def listen_for_digits(
        self, said: Sequence[str], url: str, *, most: int, finish: str = "", wait_s: int = WAIT_S
    ) -> Script:
        """Speaks, and takes up to `most` digits at any moment, or fewer once the key `finish` is pressed."""
        return self._gather(said, url, most, finish, wait_s)

    def _gather(
        self,
        said: Sequence[str],
        url: str,
        most: int,
        finish: str,
        wait_s: int,
        *,
        slow: bool = False,
        hears: Mapping[str, str] | None = None,
    ) -> Script:
        takes = {"input": "dtmf", "num_digits": most, "finish_on_key": finish, "timeout": wait_s}
        gather = self._response.gather(**{**takes, **(hears or {})}, action=url, method="POST")
        for text in filter(None, said):
            for part in sentences(text) if slow else [text]:
                gather.say(_sayable(part), **self._style)
                if slow:
                    gather.pause(length=1)
        return self

    def then(self, url: str) -> str:
        """Ends with another request: what follows a Gather when no key came."""
        self._response.redirect(url, method="POST")
        return self._document()

    def part(self, text: str) -> str:
        """The last words, and the end of the call: or without a goodbye on to what comes next in it."""
        if self._then is None:
            return self.say(text).hang_up()
        return self.say(_PARTING.sub("", text)).then(self._then)

    def hang_up(self) -> str:
        """Ends the call."""
        self._response.hangup()
        return self._document()

    def _document(self) -> str:
        document: str = self._response.to_xml()
        assert len(document.encode()) < _MAX_BYTES, "a document too large for Twilio"
        return document


def _sayable(text: str) -> str:
    assert text and len(text) < _MAX_SAY and len(quote(text)) < _MAX_SAY_ENCODED, "a text that Say refuses"
    return text
