"""Calls that many tests begin with: placed with every callback, or answered already."""

from __future__ import annotations

from typing import Any

from twilio.rest import Client
from twilio.rest.api.v2010.account.call import CallInstance

from devphone.testing import CallOnPhone, DevPhone

from .conftest import ADA, OURS
from .stub_application import Answer, Application

ALL_EVENTS = ["initiated", "ringing", "answered", "completed"]
HELLO = Answer("<Response><Say>Hello.</Say></Response>")


def ring(client: Client, application: Application, to: str = ADA, **more: object) -> CallInstance:
    """Place a call with every status event."""
    return client.calls.create(
        to=to,
        from_=OURS,
        url=f"{application.url}/voice",
        status_callback=f"{application.url}/status",
        status_callback_event=ALL_EVENTS,
        **more,
    )


def ring_hello(client: Client, application: Application) -> CallInstance:
    """A call to Ada that says hello and reports every event."""
    return client.calls.create(
        to=ADA,
        from_=OURS,
        twiml=HELLO.body,
        status_callback=f"{application.url}/status",
        status_callback_event=ALL_EVENTS,
    )


def answered(phone: DevPhone, client: Client, url: str, **more: Any) -> CallOnPhone:
    """Ada picks up a call whose document is at `url`."""
    client.calls.create(to=ADA, from_=OURS, url=url, **more)
    call = phone.device(ADA).let_ring().answer()
    phone.settle()
    return call
