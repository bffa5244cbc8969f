"""What comes in over HTTP: the requests' shapes. What goes out is views.py's.

The OpenAPI document is generated from these models (web/openapi.py), so the descriptions here are the
API's documentation. What is kept is in models.py. Unknown fields are refused.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
    model_validator,
)

from handoff.models import ProofAsked
from handoff.states import Kind

MAX_REASON = 2_000  # characters
MAX_METADATA = 16_384  # bytes of JSON
DAY_S = 86_400
#: How policies and contacts are named.
NAME = r"^[a-z0-9][a-z0-9_-]*$"


def _http_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an absolute http or https URL")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not carry a user name or password")
    if any(ch.isspace() or not ch.isprintable() for ch in url) or "\\" in url:
        raise ValueError("must not contain white space, control characters or backslashes")
    if parts.port == 0:
        raise ValueError("port 0 can't be reached")
    return url


#: Letters and a symbol that show nothing: Hangul fillers and the empty braille pattern.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def _some_text(text: str) -> str:
    # Marks (M) need something to stand on; separators (Z) and the invisible (C) show nothing either.
    if not any(unicodedata.category(ch)[0] in "LNPS" and ch not in _BLANK for ch in text):
        raise ValueError("must say something")
    return text


def _plain_line(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("must be one line of printable characters")
    return text


def _token(text: str) -> str:
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("must be printable ASCII without spaces")
    return text


def _small_json(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(json.dumps(value, ensure_ascii=False).encode()) > MAX_METADATA:
        raise ValueError(f"must be at most {MAX_METADATA:,} bytes of JSON")
    return value


def _no_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number of seconds")
    return value


HttpUrl = Annotated[str, Field(max_length=2_048), AfterValidator(_http_url)]


class Message(BaseModel):
    """The base of what travels: strict about types, and about fields it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OpenRequest(Message):
    """Opens a handoff."""

    kind: Literal["clear", "ask"] = Field(
        description="`clear`: a person clears a wall. `ask`: a person answers a question in free text."
    )
    reason: Annotated[str, AfterValidator(_some_text)] = Field(
        max_length=MAX_REASON,
        description="What is blocking, or the question itself, in words a voice can read. "
        "For `ask`, `question` is taken as another name for it.",
    )
    live_view_url: HttpUrl | None = Field(
        None, description="Where a person sees and drives the agent's browser."
    )
    resume_url: HttpUrl | None = Field(
        None, description="POSTed once the handoff is resolved, and only then; see docs/callbacks.md."
    )
    resume_token: Annotated[str, AfterValidator(_token)] | None = Field(
        None, min_length=1, max_length=1_024, description="Sent to the callbacks as `Authorization: Bearer`."
    )
    outcome_url: HttpUrl | None = Field(
        None, description="POSTed when the handoff closes in any other way than resolved."
    )
    timeout_s: Annotated[float, BeforeValidator(_no_bool)] = Field(
        600,
        ge=1,
        le=90 * DAY_S,
        allow_inf_nan=False,
        description="How long people have, in seconds: 1 s to 90 days.",
    )
    max_timeout_s: Annotated[float, BeforeValidator(_no_bool)] | None = Field(
        None,
        ge=1,
        le=90 * DAY_S,
        allow_inf_nan=False,
        description="How far people may put the deadline off, in seconds from the opening: 10 minutes each "
        "time they ask. Left out, it is `timeout_s` and 30 minutes; the same as `timeout_s` allows none.",
    )
    notify: Literal["policy", "none"] = Field(
        "policy",
        description="`none` rings and texts nobody. The answer then has a `page_url`, which asks whoever "
        "opens it for an operator's sign-in or a contact's PIN: holding it proves nothing.",
    )
    policy: Annotated[str, Field(pattern=NAME)] | None = Field(
        None,
        max_length=40,
        description="Which escalation policy reaches people: one that the operator has written. Left out, "
        "the operator's rules for `metadata` choose, else `default` applies.",
    )
    contact: Annotated[str, Field(pattern=NAME)] | None = Field(
        None,
        max_length=40,
        description="The one contact to reach, by id, instead of a policy. Never a number.",
    )
    urgency: Literal["low", "normal", "high", "critical"] | None = Field(
        None,
        description="Only `critical` rings people in their quiet hours. Left out, it is the policy's: "
        "`normal`, unless the operator wrote another.",
    )
    proof: Literal["any", "code", "pin", "link"] = Field(
        "any",
        description="What a contact's decision needs at least: `code` two digits read aloud after the key, "
        "`pin` the contact's PIN, `link` the page. The policy may ask for more.",
    )
    label: Annotated[str, AfterValidator(_plain_line)] | None = Field(
        None, max_length=200, description="Shown beside the agent's name; the name comes from the API key."
    )
    metadata: Annotated[dict[str, JsonValue], AfterValidator(_small_json)] = Field(
        default_factory=dict, description="Kept and given back untouched; at most 16 kB of JSON."
    )
    if_agent_gone: Literal["keep", "cancel"] = Field(
        "keep", description="`cancel`: withdraw it when nobody has waited for it for 90 s."
    )
    on_exhausted: Literal["wait", "fail"] = Field(
        "wait",
        description="When the escalation policy is used up: `wait` until the deadline, or `fail` at once.",
    )

    @model_validator(mode="before")
    @classmethod
    def _question_is_the_reason(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("kind") == "ask" and "question" in data:
            if "reason" in data:
                raise ValueError("send `reason` or `question`, not both: they name the same thing")
            data = {**data, "reason": data["question"]}
            del data["question"]
        return data

    @field_validator("contact")
    @classmethod
    def _one_way_to_reach(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is not None and info.data.get("policy") is not None:
            raise ValueError("send `policy` or `contact`, not both")
        return value

    @field_validator("max_timeout_s")
    @classmethod
    def _no_less_than_the_timeout(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and value < info.data.get("timeout_s", 0):
            raise ValueError("must be `timeout_s` or more")
        return value

    def recorded(self) -> dict[str, Any]:
        """The fields as the record keeps them."""
        decided = ("policy", "urgency")  # by the operator, unless the request says
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in decided}
        return fields | {"kind": Kind(self.kind), "proof": ProofAsked(self.proof)}


class EmptyRequest(Message):
    """No fields."""


class CommentRequest(Message):
    """A word on why, kept with the decision."""

    comment: str | None = Field(None, max_length=1_000)


class ResolutionRequest(CommentRequest):
    """An operator's answer: `answer` for `ask`, nothing for `clear`."""

    answer: str | None = Field(None, max_length=10_000)
