"""Where the engine's parts leave the actions they decided on, and the fields every webhook carries."""

from __future__ import annotations

from devphone.geography import geography

from .actions import Action, Happened, Warned
from .records import Call

API_VERSION = "2010-04-01"


class Outbox:
    """Actions in the order they were decided."""

    def __init__(self) -> None:
        """Empty."""
        self._actions: list[Action] = []

    def put(self, action: Action) -> None:
        """Leave one action for the driver."""
        self._actions.append(action)

    def happened(self, type_: str, call: Call, **data: object) -> None:
        """Leave an event of one call."""
        self.put(Happened(type_, call.sid, call.person, dict(data)))

    def warned(self, code: int, sid: str, text: str) -> None:
        """Leave an entry for the debugger."""
        self.put(Warned(code, sid, text))

    def take(self) -> list[Action]:
        """All actions so far, once."""
        actions, self._actions = self._actions, []
        return actions


def call_fields(call: Call, account_sid: str) -> dict[str, str]:
    """The fields that every voice request carries, status callbacks included.

    https://www.twilio.com/docs/voice/twiml#request-parameters
    """
    caller, called = call.request.from_, call.request.to
    return {
        "CallSid": call.sid,
        "AccountSid": account_sid,
        "From": caller,
        "To": called,
        "Caller": caller,
        "Called": called,
        "CallStatus": call.status,
        "ApiVersion": API_VERSION,
        "Direction": call.direction,
        **geography(caller, "From"),
        **geography(caller, "Caller"),
        **geography(called, "To"),
        **geography(called, "Called"),
    }
