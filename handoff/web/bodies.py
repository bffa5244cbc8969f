"""JSON bodies: what comes in, strict about what it is (400) and what it says (422 naming the field), and what
goes out."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

from flask import Response, abort, request
from pydantic import BaseModel, ValidationError

from handoff.errors import BadRequest, FieldError, Invalid

Model = TypeVar("Model", bound=BaseModel)


def read_body(model: type[Model], *, may_be_empty: bool = True) -> Model:
    """The request's body as this model. An empty body counts as `{}` where there is nothing one must say.

    Raises BadRequest for what is not JSON by RFC 8259 (or has a name twice, which readers disagree on),
    Invalid with every wrong field.
    """
    raw = whole_body() or (b"{}" if may_be_empty else b"")
    _check_json(raw)
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise invalid(error) from None


def said(message: BaseModel, status: int = 200) -> Response:
    """The response that says this; never cached."""
    response = Response(message.model_dump_json(), status=status, content_type="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response


def whole_body() -> bytes:
    """The body, all of it. Raises BadRequest for one that broke off; aborts with 413 over the limit.

    gunicorn hands over what came before the connection broke, and werkzeug silently cuts a body whose length
    was not told at the limit (3.1.9, `LimitedStream.readall`): half an answer must not pass for one.
    """
    raw, told, limit = request.get_data(), request.content_length, request.max_content_length
    if told is not None and len(raw) < told:
        raise BadRequest("The body broke off on its way.")
    if told is None and limit is not None and len(raw) >= limit:
        abort(413)
    return raw


def invalid(error: ValidationError) -> Invalid:
    """The fields that pydantic found wrong, as our error."""
    errors = tuple(
        FieldError(_path(one["loc"], one["type"]), one["msg"].removeprefix("Value error, "))
        for one in error.errors(include_url=False, include_context=False, include_input=False)
    )
    first = errors[0]
    rest = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return Invalid(f"{first.field}: {first.message}{rest}", errors=errors)


def _path(location: tuple[int | str, ...], kind: str) -> str:
    return ".".join(map(str, location)) or ("body" if kind else "")


def _check_json(raw: bytes) -> None:
    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except _NotJson as error:
        raise BadRequest(f"The body is not JSON: {error}") from None
    except UnicodeError:
        raise BadRequest("The body is not JSON: it must be UTF-8, without lone surrogates.") from None
    except RecursionError:
        raise BadRequest("The body is nested too deeply.") from None
    except ValueError as error:
        where = (
            f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise BadRequest(f"The body is not JSON{where}.") from None


class _NotJson(Exception):
    """What Python's reader takes and RFC 8259 does not."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotJson("an object has the same name twice")
    return found


def _no_constant(name: str) -> Any:
    raise _NotJson(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotJson("a number is too large")
    return number
