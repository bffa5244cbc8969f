"""From the answer of an outbound call to its document: keys that are sent, machine detection.

What the verdict is comes from `amd.py`; the document itself is `programme.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from . import amd
from .actions import Now, SendCallback
from .amd import Detection, Found
from .outbox import Outbox
from .phones import Phone
from .programme import ProgrammeRunner
from .records import Call
from .sounds import tones_s
from .timers import Timers


class Opening:
    """Begins answered calls. Every public method may leave actions in the outbox."""

    def __init__(
        self,
        account_sid: str,
        timers: Timers,
        outbox: Outbox,
        phone_of: Callable[[str], Phone],
        programme: ProgrammeRunner,
    ) -> None:
        """`phone_of` says how a number behaves; `programme` runs the document."""
        self._account_sid, self._timers, self._outbox = account_sid, timers, outbox
        self._phone_of, self._programme = phone_of, programme

    def begin(self, call: Call, now: Now) -> None:
        """The call was answered. Keys to send switch machine detection off.

        https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource
        """
        digits, detection = call.request.send_digits, call.request.detection
        if digits:
            call.hear(now, "system", f"[sends keys {digits}]", tones_s(digits))
            self._outbox.happened("call.sent_keys", call, keys=digits)
            self._after(call, now, "verb", tones_s(digits), self._programme.start)
        elif detection is None:
            self._programme.start(call, now)
        else:
            self._detect(call, now, detection)

    def _detect(self, call: Call, now: Now, detection: Detection) -> None:
        """In the foreground the line is silent until the verdict, unless the call is redirected meanwhile."""
        found = amd.listen(detection, self._phone_of(call.person), call.at)
        if not detection.in_background:
            self._after(call, now, "verb", found.after_s, lambda c, n: self._open(c, n, found))
            return
        if not detection.callback:
            self._outbox.warned(21262, call.sid, "AsyncAmd without AsyncAmdStatusCallback")
        self._after(call, now, "detection", found.after_s, lambda c, n: self._tell(c, n, detection, found))
        self._programme.start(call, now)

    def _open(self, call: Call, now: Now, found: Found) -> None:
        self._know(call, now, found)
        self._programme.start(call, now, **_fields(found))

    def _tell(self, call: Call, now: Now, detection: Detection, found: Found) -> None:
        self._know(call, now, found)
        if detection.callback:
            fields = {"CallSid": call.sid, "AccountSid": self._account_sid, **_fields(found)}
            self._outbox.put(SendCallback(call.sid, detection.callback, detection.callback_method, fields))

    def _know(self, call: Call, now: Now, found: Found) -> None:
        call.answered_by, call.updated = found.answered_by, now
        call.keep_for_lagging_reads()
        self._outbox.happened("call.detected", call, answered_by=found.answered_by)

    def _after(
        self, call: Call, now: Now, name: str, seconds: float, then: Callable[[Call, Now], None]
    ) -> None:
        self._timers.set((call.sid, name), now.s + seconds, lambda later: then(call, later))


def _fields(found: Found) -> dict[str, str]:
    return {
        "AnsweredBy": found.answered_by,
        "MachineDetectionDuration": str(round(found.after_s * 1000)),
    }
