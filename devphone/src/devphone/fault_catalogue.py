"""What can go wrong on demand: one table, read by the checks, the control API, the page and the tests.

Which of it goes wrong, and when, is `faults.py`; who does it are `web/account.py` and the driver.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["calls", "messages", "inbound_calls", "inbound_texts"]
"""What a fault befalls: a create of the REST API, or a person's call or text."""

CREATES: tuple[Kind, ...] = ("calls", "messages")
CALLS: tuple[Kind, ...] = ("calls", "inbound_calls")
ALL: tuple[Kind, ...] = ("calls", "messages", "inbound_calls", "inbound_texts")


@dataclass(frozen=True)
class Need:
    """One value that a fault takes: a number within `least` and `most`, or a text.

    `default` None = it must be given.
    """

    name: str
    kind: Literal["number", "whole", "text"]
    least: float = 0
    most: float = 0
    default: float | str | None = None

    def fits(self, value: object) -> bool:
        """Whether `value` can be used."""
        if self.kind == "text":
            return isinstance(value, str) and value != ""
        kinds = int if self.kind == "whole" else int | float
        return isinstance(value, kinds) and not isinstance(value, bool) and self.least <= value <= self.most

    def __str__(self) -> str:
        """For a refusal."""
        if self.kind == "text":
            return f"{self.name} (a text)"
        whole = "a whole number" if self.kind == "whole" else "a number"
        return f"{self.name} ({whole} from {self.least:g} to {self.most:g})"


@dataclass(frozen=True)
class Fault:
    """One thing that can go wrong, on which kinds, with which values; `says` is a sentence for people."""

    name: str
    on: tuple[Kind, ...]
    says: str
    needs: tuple[Need, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


_REST_SECONDS = Need("seconds", "number", 0.01, 600)
_LINE_SECONDS = Need("seconds", "number", 0.01, 86_400)

_TABLE = (
    Fault("lose_201", CREATES, "It is accepted, but the connection is cut before the answer."),
    Fault("500_after_accept", CREATES, "It is accepted, but the answer is an error 500 (20500)."),
    Fault("503_after_accept", CREATES, "It is accepted, but the answer is an error 503 (20503)."),
    Fault(
        "delay_201_s",
        CREATES,
        "It is accepted and goes its way; the answer comes seconds of the world later.",
        (_REST_SECONDS,),
    ),
    Fault("never_answer", CREATES, "Nothing is created, and the request is never answered."),
    Fault(
        "rest_error",
        CREATES,
        "It is refused with any code and status; nothing is created.",
        (
            Need("code", "whole", 1, 99_999),
            Need("status", "whole", 400, 599, 400),
            Need("message", "text", default="This error was asked for"),
        ),
    ),
    Fault("throttled", CREATES, "It is refused as one request too many at once (429 with 20429)."),
    Fault("html_429", CREATES, "It is refused with 429 and a proxy's page of HTML instead of an error body."),
    Fault("status_callback_refused", CREATES, "If it has a StatusCallback, it is refused with 21609."),
    Fault("geography_refused", CREATES, "It is refused for its country: 21215 for a call, 21408 for a text."),
    Fault(
        "fetch_lag_s", ("calls",), "GET and lists show how it was seconds of the line ago.", (_LINE_SECONDS,)
    ),
    Fault("early_callback", CREATES, "Its first status callback is answered before the 201 is sent."),
    Fault("lose_callbacks", ALL, "None of its status callbacks is sent."),
    Fault("duplicate_callbacks", ALL, "Each of its status callbacks is sent twice."),
    Fault(
        "reorder_callbacks",
        ALL,
        "Status callbacks change places: the first and the second, later ones by the seed.",
    ),
    Fault("late_callbacks", ALL, "Each status callback is sent seconds of the line later.", (_LINE_SECONDS,)),
    Fault(
        "duplicate_webhooks", ALL, "Each request for a document is sent twice; the second answer is not used."
    ),
    Fault("bad_signature", ALL, "Every request of it carries a signature that fits nothing."),
    Fault("wrong_token", ALL, "Every request of it is signed with another account's token."),
    Fault(
        "sha256_signature",
        ALL,
        "Every request of it is signed with HMAC-SHA256 and this shared key, as in Twilio's beta.",
        (Need("secret", "text"),),
    ),
    Fault("signed_with_port", ALL, "The signed URL has its port written out, 443 or 80 too."),
    Fault("signed_without_port", ALL, "The signed URL has no port, though the request goes to one."),
    Fault("missing_geography", ALL, "Requests of it name no city, state, zip or country."),
    Fault("extra_fields", ALL, "Requests of it carry fields that nobody has seen before."),
)
FAULTS = {fault.name: fault for fault in _TABLE}
"""Every fault by its name."""
