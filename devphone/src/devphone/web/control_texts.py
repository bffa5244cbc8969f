"""The control API, what a person does with texts: they text a number of the account."""

from __future__ import annotations

from flask import Response, jsonify

from devphone.numbers import is_e164
from devphone.segments import MAX_BODY, units
from devphone.urls import is_web_url

from .account import driver
from .control import control
from .control_bodies import Refused, only
from .control_numbers import line_of
from .views import text_view

MAX_MEDIA = 10


@control.post("/phones/<number>/text")
def send_text(number: str) -> tuple[Response, int]:
    """Text `to` a number of the account: `body`, and `media` (URLs). 201 with the text."""
    wanted = only("a text", "to", "body", "media")
    if not is_e164(number):
        raise Refused("not a number of the form +12125550123")
    words, media = wanted.get("body", ""), wanted.get("media", [])
    if not isinstance(words, str) or units(words) > MAX_BODY:
        raise Refused(f"body must be text of at most {MAX_BODY} characters")
    if not isinstance(media, list) or len(media) > MAX_MEDIA:
        raise Refused(f"media must be a list of at most {MAX_MEDIA} URLs")
    if not all(isinstance(url, str) and is_web_url(url) for url in media):
        raise Refused("media must be http or https URLs")
    if not words and not media:
        raise Refused("body or media is needed")
    with driver().turn() as now:
        line = line_of(wanted.get("to"))
        if line.number == number:
            raise Refused("a number can't text itself")
        text = driver().engine.receive_text(now, number, line, words, tuple(media))
        return jsonify(text_view(text)), 201
