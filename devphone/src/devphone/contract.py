"""Checks every REST answer of the dev phone against Twilio's own description of its API, an OpenAPI file.

The file (twilio_api_v2010.json of github.com/twilio/twilio-oai) says little: no key is required, more keys
are allowed, formats are not checked, errors are not described. So answers must also have exactly the keys
the file names, dates and numbers as Twilio writes them, and what `FACTS` says. Nothing is sent or changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from .engine.outbox import API_VERSION
from .journal import DICTIONARY

REFERENCE = "#/components/schemas/"
DATE = "date-time-rfc-2822"
ERROR_KEYS = ("code", "message", "more_info", "status")
"""https://www.twilio.com/docs/usage/twilios-response#response-formats-exceptions"""
NUMBER = re.compile(r"-?\d+(\.\d+)?")
MAX_PAGE_SIZE = 1000
SHOWN = 80


@dataclass(frozen=True)
class Facts:
    """What the file leaves open about one kind of resource, by Twilio's pages and the file's examples.

    `numbers` are texts that hold a number; `values` are those a key may have besides null. `empty` are keys
    that may be an empty text, as in the file's own examples, though its schema says else.
    """

    not_null: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    empty: tuple[str, ...] = ()


_NUMBER = Facts(
    not_null=(
        *("sid", "account_sid", "phone_number", "friendly_name"),
        *("api_version", "uri", "capabilities"),
    ),
    empty=("sms_application_sid", "voice_application_sid"),
)
FACTS = {
    "api.v2010.account.call": Facts(
        not_null=(
            *("sid", "account_sid", "to", "from", "status", "direction"),
            *("api_version", "uri", "subresource_uris"),
        ),
        numbers=("duration", "queue_time", "price"),
        values={
            "answered_by": (
                *("human", "machine_start", "machine_end_beep", "machine_end_silence"),
                *("machine_end_other", "fax", "unknown"),
            ),
            "direction": ("inbound", "outbound-api", "outbound-dial"),
        },
    ),
    "api.v2010.account.message": Facts(
        not_null=(
            *("sid", "account_sid", "to", "status", "direction", "api_version", "uri"),
            *("num_segments", "num_media", "subresource_uris"),
        ),
        numbers=("num_segments", "num_media", "price"),
    ),
    "api.v2010.account.incoming_phone_number": _NUMBER,
    "api.v2010.account.incoming_phone_number.incoming_phone_number_local": _NUMBER,
}
"""https://www.twilio.com/docs/voice/api/call-resource, .../messaging/api/message-resource."""


class NoContract(Exception):
    """The file can't be used; the text says why and what to do."""


class _Validator(Protocol):
    def iter_errors(self, instance: Any) -> Iterator[Any]:
        """What is wrong with a value."""
        ...


class Contract:
    """The description, and how an answer compares with it. Safe to use from any thread."""

    def __init__(self, description: dict[str, Any]) -> None:
        """Takes the parsed file. Raises NoContract when the package that reads its schemas is missing."""
        try:
            from openapi_schema_validator import OAS30Validator
        except ImportError as error:
            raise NoContract(
                "checking answers needs openapi-schema-validator: pip install 'devphone[contract]'"
            ) from error
        self._make_validator = OAS30Validator
        self._schemas = description["components"]["schemas"]
        self._paths = {_shape(path): methods for path, methods in description["paths"].items()}
        self._expected: dict[tuple[str, str, int], _Expected | None] = {}

    @classmethod
    def load(cls, path: Path) -> Contract:
        """The contract in a file. Raises NoContract."""
        try:
            return cls(json.loads(path.read_text("utf-8")))
        except OSError as error:
            raise NoContract(f"can't read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise NoContract(f"{path} is no OpenAPI file: {error!r}") from error

    def problems(self, path: str, method: str, status: int, mimetype: str, body: bytes) -> list[str]:
        """Where an answer differs from what Twilio would send; [] when nowhere.

        `path` is the template, with any names in its braces: `/2010-04-01/Accounts/{}/Calls/{}.json`.
        """
        if status == 204 or (200 <= status < 300 and not body):
            expected = self._find(path, method, status)
            found = [] if expected else [f"Twilio does not answer {method} {path} with {status}"]
            return found + (["204 has no body"] if body else [])
        if mimetype != "application/json":
            return [f"the content type is {mimetype}, not application/json"]
        try:
            answer = json.loads(body)
        except ValueError as error:
            return [f"the body is no JSON: {error}"]
        if status >= 400:
            return list(_error_problems(answer, status))
        expected = self._find(path, method, status)
        if expected is None:
            return [f"Twilio does not answer {method} {path} with {status}"]
        return expected.problems(answer)

    def _find(self, path: str, method: str, status: int) -> _Expected | None:
        """What is expected, made when it is first asked for; None when Twilio has no such answer."""
        key = (_shape(path), method, status)
        if key not in self._expected:
            operation = self._paths.get(key[0], {}).get(method.lower(), {})
            response = operation.get("responses", {}).get(str(status))
            self._expected[key] = None if response is None else self._expect(response)
        return self._expected[key]

    def _expect(self, response: dict[str, Any]) -> _Expected:
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        whole = self._inlined(schema)
        return _Expected(whole, self._make_validator(whole))

    def _inlined(self, schema: Any) -> Any:
        """The schema with every reference replaced by what it names, which is kept under `x-name`."""
        if isinstance(schema, list):
            return [self._inlined(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        if reference := schema.get("$ref"):
            name = reference.removeprefix(REFERENCE)
            whole = {**self._inlined(self._schemas[name]), "x-name": name}
            for key in FACTS[name].empty if name in FACTS else ():
                whole["properties"][key] = {"type": "string", "nullable": True}
            return whole
        return {key: self._inlined(value) for key, value in schema.items()}


class _Expected:
    """One answer that the file describes."""

    def __init__(self, schema: dict[str, Any], validator: _Validator) -> None:
        self._schema, self._validator = schema, validator

    def problems(self, answer: Any) -> list[str]:
        """What the schema says, then what it leaves open."""
        found = []
        for error in self._validator.iter_errors(answer):
            where = ".".join(str(part) for part in error.absolute_path) or "the body"
            found.append(f"{where}: {error.message[:SHOWN]}")
        found += _strict_problems(self._schema, answer, "")
        if self._is_list and isinstance(answer, dict):
            found += _page_problems(answer)
        return found

    @cached_property
    def _is_list(self) -> bool:
        return "first_page_uri" in self._schema.get("properties", {})


def _strict_problems(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    """Keys, dates and facts, at any depth; types are the schema's business."""
    here = where or "the body"
    properties = schema.get("properties")
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strict_problems(schema.get("items", {}), item, f"{where}[{index}]")
    elif isinstance(value, dict) and properties:
        # An unnamed part of a resource may be shorter: the file's own examples of capabilities are.
        whole = where == "" or "x-name" in schema
        if whole and (missing := sorted(set(properties) - set(value))):
            yield f"{here}: lacks {', '.join(missing)}"
        if unknown := sorted(set(value) - set(properties)):
            yield f"{here}: has {', '.join(unknown)}, which Twilio has not"
        yield from _fact_problems(FACTS.get(schema.get("x-name", "")), value, here)
        for name in set(properties) & set(value):
            yield from _strict_problems(properties[name], value[name], f"{where}.{name}".lstrip("."))
    elif schema.get("format") == DATE and value is not None and not _is_date(value):
        yield f"{here}: {value!r} is no date like Tue, 31 Aug 2010 20:36:28 +0000"


def _fact_problems(facts: Facts | None, value: Mapping[str, Any], here: str) -> Iterator[str]:
    if facts is None:
        return
    for name in facts.not_null:
        if value.get(name, "") is None:
            yield f"{here}: {name} is null"
    for name in facts.numbers:
        text = value.get(name)
        if text is not None and not (isinstance(text, str) and NUMBER.fullmatch(text)):
            yield f"{here}: {name} is {text!r}, not a number in a text"
    for name, allowed in facts.values.items():
        if value.get(name) not in (None, *allowed):
            yield f"{here}: {name} is {value[name]!r}, not one of {', '.join(allowed)}"


def _page_problems(answer: Mapping[str, Any]) -> Iterator[str]:
    """The envelope of a list: https://www.twilio.com/docs/usage/twilios-response#pagination."""
    for name in ("uri", "first_page_uri", "next_page_uri", "previous_page_uri"):
        link = answer.get(name)
        if link is not None and not str(link).startswith(f"/{API_VERSION}/"):
            yield f"{name}: {link!r} does not begin with /{API_VERSION}/"
    size = answer.get("page_size")
    if not isinstance(size, int) or not 1 <= size <= MAX_PAGE_SIZE:
        yield f"page_size: {size!r} is not within 1 and {MAX_PAGE_SIZE}"


def _error_problems(answer: Any, status: int) -> Iterator[str]:
    if not isinstance(answer, dict) or set(answer) != set(ERROR_KEYS):
        yield f"an error has exactly {', '.join(ERROR_KEYS)}"
        return
    if answer["status"] != status:
        yield f"status: {answer['status']!r} is not the HTTP status {status}"
    if not isinstance(answer["code"], int) or isinstance(answer["code"], bool):
        yield f"code: {answer['code']!r} is no whole number"
    if answer["more_info"] != f"{DICTIONARY}{answer['code']}":
        yield f"more_info: {answer['more_info']!r} does not lead to the error's page"
    if not isinstance(answer["message"], str) or not answer["message"]:
        yield "message: there is none"


def _shape(path: str) -> str:
    """A path template without the names of its variables, in OpenAPI's or in Flask's notation."""
    return re.sub(r"\{[^}]*\}|<[^>]*>", "{}", path)


def _is_date(value: Any) -> bool:
    """RFC 2822 in UTC, as Twilio writes it: weekday, two-digit day, `+0000`."""
    if not isinstance(value, str):
        return False
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return False
    return moment.strftime("%a, %d %b %Y %H:%M:%S +0000") == value
