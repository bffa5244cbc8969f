"""A call that a person has just answered, and what the application was asked since."""

from __future__ import annotations

from twilio.rest import Client

from devphone.testing import CallOnPhone, DevPhone

from .conftest import ADA, OURS
from .stub_application import Application


def answered(
    phone: DevPhone, client: Client, application: Application, body: str, **more: object
) -> CallOnPhone:
    """A call to Ada, answered, its first requests over; `/voice` is a Response with this body."""
    application.says("/voice", body)
    client.calls.create(to=ADA, from_=OURS, url=f"{application.url}/voice", **more)
    call = phone.device(ADA).expect_call()
    phone.settle()
    return call


def entered(application: Application, field: str = "Digits", path: str = "/key") -> list[str | None]:
    """This field of every request to the action, None where it was missing."""
    return [hook.fields.get(field) for hook in application.at(path)]


def codes(phone: DevPhone, *expected: int) -> None:
    """The debugger has these entries, in whatever order, and no others."""
    for code in expected:
        phone.expect_debugger(code)
    assert sorted(entry["code"] for entry in phone.debugger()) == sorted(expected)
