"""What is sent: the options of a call, and the requests made of them.

Pure: nothing is sent from here, no clock is read. The server alone judges values (it answers 422);
refused here is only what cannot be put on the wire, or would mean something else there.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from ._errors import InvalidRequest
from ._records import FieldError

Kind = Literal["clear", "ask"]

_KEY = re.compile(r"[\x20-\x7e]{1,200}")


class Options(TypedDict, total=False):
    """The options of `clear_wall` and `ask`, all by keyword.

    - `live_view_url`: the agent's own browser, shown to the person; default none.
    - `resume_url`, `resume_token`: POSTed to by the server when the handoff is resolved, with
      `Authorization: Bearer <resume_token>` if given; default none.
    - `outcome_url`: POSTed to when it closes in any other way; default none.
    - `timeout_s`: seconds until the question expires, 1 s to 90 days; default 600.
    - `max_timeout_s`: how far people may put the deadline off when they need more time, in seconds from the
      opening; default `timeout_s` and 30 minutes. The call waits for as long as the server says.
    - `policy`, `contact`: one of the operator's escalation policies, or the one contact to reach, by name
      and never by number; default: the operator's rules.
    - `urgency`: `"low"`, `"normal"`, `"high"` or `"critical"`, which alone rings people in their quiet hours;
      default: what the operator wrote for the policy.
    - `proof`: what a person's decision needs at least: `"any"` (default), `"code"` two digits read out on the
      phone, `"pin"` the person's PIN, `"link"` the page. The operator may ask for more.
    - `label`: a word of yours shown with the question; `metadata`: JSON handed back unchanged.
    - `key`: 1 to 200 printable ASCII characters that for ever name this question. The same key with the
      same arguments re-attaches and rings nobody again. Default: a random key, for retries of this call only.
    - `if_agent_gone`: `"keep"` (default) the question while no agent waits, or `"cancel"` it.
    - `on_exhausted`: when every step of the escalation policy was used up, `"wait"` (default) until
      the deadline, or `"fail"` at once with `Unreachable`.
    - `notify`: `"policy"` (default) rings and texts people; `"none"` reaches nobody, and `on_page` is called
      once with the address of a page that asks for a sign-in or a PIN. Without `on_page` it goes to the log.
    """

    live_view_url: str | None
    resume_url: str | None
    resume_token: str | None
    outcome_url: str | None
    timeout_s: float
    max_timeout_s: float | None
    policy: str | None
    contact: str | None
    urgency: Literal["low", "normal", "high", "critical"] | None
    proof: Literal["any", "code", "pin", "link"]
    label: str | None
    metadata: Mapping[str, Any] | None
    key: str | None
    if_agent_gone: Literal["keep", "cancel"]
    on_exhausted: Literal["wait", "fail"]
    notify: Literal["policy", "none"]
    on_page: Callable[[str], None] | None


@dataclass(frozen=True)
class Send:
    """One request for whoever does the I/O: wait `after_s`, then send, and give the reply `read_s` to arrive.

    `why` is there when the wait follows something that went wrong; it is fit for a log.
    """

    method: Literal["GET", "POST"]
    path: str
    read_s: float
    # Left out of repr: the body carries the resume token.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    after_s: float = 0.0
    why: str | None = None


@dataclass(frozen=True)
class Opening:
    """A checked call, ready to be sent as often as it takes: every copy carries the same key and body."""

    kind: Kind
    key: str
    timeout_s: float
    body: bytes = field(repr=False)
    on_page: Callable[[str], None] | None = None

    def send(self, *, read_s: float, after_s: float = 0.0, why: str | None = None) -> Send:
        """The request that opens the handoff, or finds it when an earlier copy arrived."""
        headers = {"Idempotency-Key": self.key, "Content-Type": "application/json"}
        return Send("POST", "/v1/handoffs", read_s, headers, self.body, after_s, why)


def opening(
    kind: Kind,
    reason: str,
    *,
    live_view_url: str | None = None,
    resume_url: str | None = None,
    resume_token: str | None = None,
    outcome_url: str | None = None,
    timeout_s: float = 600,
    max_timeout_s: float | None = None,
    policy: str | None = None,
    contact: str | None = None,
    urgency: Literal["low", "normal", "high", "critical"] | None = None,
    proof: Literal["any", "code", "pin", "link"] = "any",
    label: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    key: str | None = None,
    if_agent_gone: Literal["keep", "cancel"] = "keep",
    on_exhausted: Literal["wait", "fail"] = "wait",
    notify: Literal["policy", "none"] = "policy",
    on_page: Callable[[str], None] | None = None,
) -> Opening:
    """Builds the opening of one call; see `Options`. Raises `InvalidRequest` with `status=None`."""
    given: dict[str, Any] = {
        "kind": kind,
        "reason": reason,
        "live_view_url": live_view_url,
        "resume_url": resume_url,
        "resume_token": resume_token,
        "outcome_url": outcome_url,
        "timeout_s": _seconds(timeout_s),
        "max_timeout_s": None if max_timeout_s is None else _seconds(max_timeout_s, "max_timeout_s"),
        "policy": policy,
        "contact": contact,
        "urgency": urgency,
        "proof": None if proof == "any" else proof,
        "label": label,
        "metadata": metadata,
        "if_agent_gone": if_agent_gone,
        "on_exhausted": on_exhausted,
        "notify": None if notify == "policy" else notify,
    }
    body = {name: _json(name, value) for name, value in given.items() if value is not None}
    text = "{" + ",".join(f'"{name}":{value}' for name, value in body.items()) + "}"
    return Opening(kind, _checked_key(key), timeout_s, text.encode("ascii"), on_page)


def waiting(
    handoff_id: str, *, hold_s: int, read_s: float, after_s: float = 0.0, why: str | None = None
) -> Send:
    """One long poll: the server answers when the handoff closes, or after `hold_s` with its present state."""
    return Send("GET", f"/v1/handoffs/{handoff_id}?wait={hold_s}", read_s, after_s=after_s, why=why)


def _seconds(value: float, name: str = "timeout_s") -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _invalid(name, "must be a number of seconds")
    return int(value) if value == int(value) else value


def _json(name: str, value: object) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid(name, f"cannot be written as JSON ({type(error).__name__})") from None


def _checked_key(key: str | None) -> str:
    if key is None:
        return uuid.uuid4().hex
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise _invalid("key", "must be 1 to 200 printable ASCII characters")
    if key != key.strip(" "):
        # HTTP drops blanks around a header's value: " a" would quietly be the same question as "a".
        raise _invalid("key", "must not begin or end with a space")
    return key


def _invalid(name: str, message: str) -> InvalidRequest:
    error = FieldError(name, message)
    return InvalidRequest(f"Nothing was sent, nobody was called. {error}.", code="invalid", errors=[error])
