"""Reading one field of a create's or update's form, with Twilio's codes for what is wrong with it."""

from __future__ import annotations

from urllib.parse import urlsplit

from werkzeug.datastructures import MultiDict

from devphone.digits import whole
from devphone.urls import is_web_url

from .errors import TwilioError

Form = MultiDict[str, str]
SHOWN = 100


def refuse_magic(number: str, table: dict[str, int], name: str) -> None:
    if number in table:
        text = f"The '{name}' number {number} is a test number that always fails"
        raise TwilioError(table[number], text, 429 if table[number] == 21611 else 400)


def check_url(url: str, code: int, name: str) -> None:
    """Absolute http or https; a StatusCallback's host has no underscore.

    https://www.twilio.com/docs/voice/api/call-resource#statuscallback
    """
    if not is_web_url(url) or (code == 21609 and "_" in (urlsplit(url).hostname or "")):
        raise TwilioError(code, f"{name} is not a valid URL: {url}")


def url_field(form: Form, name: str, code: int) -> str:
    url = form.get(name, "")
    if url:
        check_url(url, code, name)
    return url


def method_field(form: Form, name: str) -> str:
    method = form.get(name, "POST").upper()
    if method not in ("GET", "POST"):
        raise TwilioError(21209, f"{name} must be GET or POST")
    return method


def seconds_field(form: Form, name: str, default: int, code: int) -> int:
    value = form.get(name, str(default))
    seconds = whole(value)
    if not seconds:
        raise TwilioError(code, f"{name} is not a valid number of seconds: {shown(value)}")
    return seconds


def shown(value: str) -> str:
    """`value` for an error message, cut when it is long."""
    return value if len(value) <= SHOWN else value[:SHOWN] + "…"
