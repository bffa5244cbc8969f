"""How phones, calls and texts look in the control API: what a test or the page wants to know."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from devphone.driver import Driver
from devphone.engine.actions import Now
from devphone.engine.phones import Phone
from devphone.engine.records import Call
from devphone.engine.text_records import Text


def phone_view(phone: Phone) -> dict[str, Any]:
    """A phone's number and behaviour."""
    return asdict(phone)


def call_view(call: Call) -> dict[str, Any]:
    """A call with transcript, keys and documents; times are Unix seconds."""
    return {
        "sid": call.sid,
        "to": call.request.to,
        "from": call.request.from_,
        "status": call.status,
        "created": call.created.date,
        "answered": call.answered.date if call.answered else None,
        "ended": call.ended.date if call.ended else None,
        "duration_s": call.duration_s,
        "sip_code": call.sip_code,
        "keys": call.keys,
        "listening": call.programme.gathering is not None,
        "transcript": [asdict(heard) for heard in call.transcript],
        "documents": [asdict(seen) for seen in call.documents],
    }


def text_view(text: Text) -> dict[str, Any]:
    """A text; times are Unix seconds."""
    return {
        "sid": text.sid,
        "to": text.request.to,
        "from": text.from_,
        "body": text.body,
        "status": text.status,
        "created": text.created.date,
        "encoding": text.encoding,
        "segments": text.segments,
        "error_code": text.error_code,
        "arrived": text.arrived,
    }


def state_view(driver: Driver, now: Now, number: str | None) -> dict[str, Any]:
    """Everything, or what concerns one phone."""
    engine = driver.engine
    calls = [call for call in engine.calls.values() if number in (None, call.request.to)]
    texts = [text for text in engine.texts.values() if number in (None, text.request.to)]
    known = {call.request.to for call in calls} | {text.request.to for text in texts} | set(engine.phones)
    phones = sorted(known if number is None else {number})
    return {
        "simulated": True,
        "clock": "manual" if driver.clock.manual else "real",
        "line_s": now.s,
        "seq": driver.journal.seq,
        "account_sid": driver.settings.account_sid,
        "numbers": driver.settings.numbers,
        "phones": [phone_view(engine.phone(phone)) for phone in phones],
        "calls": [call_view(call) for call in calls],
        "messages": [text_view(text) for text in texts],
        "pace": asdict(engine.pace),
    }
