"""Structured logs: one JSON object a line, with the handoff's id where there is one.

No secret and no full phone number may reach a line, whoever wrote it: `_discreet` is the last word
before the renderer, for our own lines and for the libraries' alike.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Any

import structlog
from structlog.types import EventDict, Processor

_NUMBER = re.compile(r"\+[1-9][0-9]{6,14}(?![0-9])|%2B[1-9][0-9]{6,14}")
_SECRETS = re.compile(r"(hk_[0-9A-Za-z]{8,}|whsec_[0-9A-Za-z+/=]+|Bearer\s+\S+|/h/[0-9A-Za-z]{22})")
#: Control characters but for tab and line end (tracebacks have those), and bidi and zero-width ones.
_DRIVING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_NEVER = frozenset(
    {"authorization", "auth_token", "resume_token", "answer", "body", "link", "key", "password"}
)


def configure(log_format: str, level: int = logging.INFO) -> None:
    """Sets logging up for this process; safe to call again. `log_format` is `json` or `console`, `level` the
    least that is written."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        _discreet,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for chatty in ("twilio", "httpx2", "httpcore2", "urllib3", "rq", "rq.worker"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def discreet(text: str) -> str:
    """The text without anything that opens a door, and numbers down to their last four digits; and nothing in
    it can drive a terminal, or show itself in another order than it has."""
    text = _DRIVING.sub(lambda match: match.group().encode("unicode_escape").decode(), text)
    return _NUMBER.sub(lambda match: "…" + match.group()[-4:], _SECRETS.sub("[hidden]", text))


def _discreet(_: Any, __: str, event: EventDict) -> EventDict:
    return {name: value if name.startswith("_") else _kept(name, value) for name, value in event.items()}


def _kept(name: object, value: Any) -> Any:
    if str(name).lower() in _NEVER:
        return "[hidden]"
    cleaned = _clean(value)
    # A line end in anything but a traceback would begin a line that nobody wrote.
    return cleaned.replace("\n", "\\n") if isinstance(cleaned, str) and name != "exception" else cleaned


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return discreet(value)
    if isinstance(value, dict):
        return {discreet(str(name)): _kept(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    # A renderer would write anything else down as its repr, errors and bytes among them.
    return discreet(repr(value))
