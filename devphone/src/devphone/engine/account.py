"""What Twilio allows the account: how many calls a second, how many requests at once, and trial limits.

Values only. Who obeys them: `call_queue.py` the rate, `web/account.py` the requests, the calls and texts
the trial limits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Account:
    """The limits of the one account.

    `calls_per_second` is the rate at which outbound calls leave the queue, 0 = no limit; Twilio's default
    is 1 (https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource).
    `concurrent_requests` REST requests may be under way at once, 0 = no limit. A `trial` account reaches
    only `verified` numbers (E.164).
    """

    calls_per_second: float = 1.0
    concurrent_requests: int = 0
    trial: bool = False
    verified: tuple[str, ...] = ()
