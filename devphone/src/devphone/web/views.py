"""How phones, calls and texts look in the control API: what a test or the page wants to know."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from devphone.driver import Driver
from devphone.engine.actions import Now
from devphone.engine.devices import recorded
from devphone.engine.phones import Phone
from devphone.engine.records import Call
from devphone.engine.text_records import Text


def phone_view(phone: Phone) -> dict[str, Any]:
    """A phone's number and behaviour."""
    return asdict(phone)


def call_view(call: Call) -> dict[str, Any]:
    """A call with transcript, keys and documents; dates are Unix seconds.

    `at` is who is on the phone's end, or was when the call ended; `recorded` and `screened` are what the
    mailbox and the call screener have of the voice.
    """
    return {
        "sid": call.sid,
        "to": call.request.to,
        "from": call.request.from_,
        "direction": call.direction,
        "person": call.person,
        "status": call.status,
        "at": call.at,
        "rings_person": call.rings_person,
        "created": call.created.date,
        "answered": call.answered.date if call.answered else None,
        "ended": call.ended.date if call.ended else None,
        "duration_s": call.duration_s,
        "sip_code": call.sip_code,
        "keys": call.keys,
        "answered_by": call.answered_by,
        "listening": call.programme.gathering is not None,
        "takes_keys": call.programme.gathering is not None and call.programme.gathering.takes_keys,
        "takes_speech": call.programme.gathering is not None and call.programme.gathering.takes_speech,
        "transcript": [asdict(heard) for heard in call.transcript],
        "recorded": recorded(call),
        "screened": call.screened,
        "documents": [asdict(seen) for seen in call.documents],
    }


def text_view(text: Text) -> dict[str, Any]:
    """A text; times are Unix seconds. `from` is None while a messaging service has not chosen the sender."""
    return {
        "sid": text.sid,
        "to": text.request.to,
        "from": text.from_ or None,
        "direction": text.direction,
        "person": text.person,
        "body": text.body,
        "media": list(text.request.media),
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
    calls = [call for call in engine.calls.values() if number in (None, call.person)]
    texts = [text for text in engine.texts.values() if number in (None, text.person)]
    known = {call.person for call in calls} | {text.person for text in texts} | set(engine.phones)
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
