"""What the service asks of a telephone provider, and how a provider says that it did not work.

No type and no word of a provider crosses this line. Twilio's side of it is twilio_gateway.py; what to do
about an error is the workers' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from handoff.states import Disposition


@dataclass(frozen=True)
class Placed:
    """The provider has it, under this id. Nothing is known about its fate yet."""

    provider_id: str


@dataclass(frozen=True)
class CallReport:
    """How a call stands by the provider's own records, which may lag behind its callbacks.

    `status` is the provider's word; dispositions.py turns it into ours.
    """

    provider_id: str
    status: str
    sip_code: int | None = None
    answered_by: str | None = None


@dataclass(frozen=True)
class Routes:
    """Where a number sends what comes in, as URLs; empty: nowhere. `elsewhere` names what has calls or texts
    instead of a URL, such as an application of the provider's."""

    calls: str = ""
    call_status: str = ""
    texts: str = ""
    elsewhere: str = ""


@dataclass(frozen=True)
class Sender:
    """What the number that we call and text from can do, and where it sends what comes in."""

    calls: bool
    texts: bool
    routes: Routes = Routes()


class GatewayError(Exception):
    """It did not work. Always one of the three below, which say what may be done about it.

    The message names no number and no secret, so that it may be logged and shown to an operator. `code` is
    the provider's error code, `http_status` the answer's; both None when no answer came.
    `disposition` is what the attempt comes to if nothing more is done.
    """

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        http_status: int | None = None,
        disposition: Disposition,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.http_status = http_status
        self.disposition = disposition

    @property
    def detail(self) -> str:
        """What is put down of it, for an operator."""
        return f"Twilio error {self.code}" if self.code else str(self)


class Permanent(GatewayError):
    """Refused, and the same request would be refused again."""


class Retryable(GatewayError):
    """Provably not processed: asking again can't do it twice."""


class Unknown(GatewayError):
    """It may have been processed. A create must not be repeated: a callback or one look-up settles it."""


class Gateway(Protocol):
    """A telephone provider. Every method raises Permanent, Retryable or Unknown, and nothing else."""

    def place_call(
        self,
        number: str,
        *,
        voice_url: str,
        status_url: str,
        ring_s: int,
        time_limit_s: int,
        machine_url: str | None = None,
    ) -> Placed:
        """Ring an E.164 number for about `ring_s` seconds; the call ends `time_limit_s` after the answer.

        `voice_url` is asked what to say once something picks up; `status_url` hears of every change. With
        `machine_url` the provider listens meanwhile whether a machine picked up, and tells it there.
        """

    def send_text(self, number: str, body: str, *, status_url: str, valid_s: int) -> Placed:
        """Send a text, which the provider drops if it could not be passed on within `valid_s` seconds."""

    def hang_up(self, provider_id: str) -> None:
        """End a call wherever it stands: in the queue, ringing, answered. One that has ended is success."""

    def redirect(self, provider_id: str, url: str) -> None:
        """Let an answered call go on with what `url` says, at once. Permanent if the call has ended."""

    def look_up(self, provider_id: str) -> CallReport:
        """How this call stands."""

    def find_call(self, number: str, *, since_ms: int, now_ms: int) -> CallReport | None:
        """The newest call we placed to this number at or after that moment, whose id was never learned.
        `now_ms` is the present one, by the same clock of ours, which may differ from the provider's.

        None when the provider has none: it may be too early to say, or the create never arrived.
        """

    def sender(self) -> Sender | None:
        """What our own number can do; None when the account has no such number."""

    def connect(self, routes: Routes) -> None:
        """Has our own number send what comes in to these URLs, whatever it did before. Permanent when the
        account has no such number."""

    def check(self) -> int | None:
        """Asks the provider for nothing but whether it knows us: the credentials are good.

        The time by the provider's clock when it answered, in ms and to the second, if it told it.
        """
