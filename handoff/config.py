"""Every setting: one frozen value, read once from the environment. A bad one refuses to start.

No other module reads the environment. What each setting means for people who run the service is in
docs/running.md and .env.example, which tests hold to this list.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from handoff.ids import AGENT_NAME
from handoff.limits import DEFAULT_CAPS, DEFAULT_TEXT_CAPS, Limits, parse_caps
from handoff.people import BadNumber, parse_people, parse_phone, with_pins
from handoff.policy import Contact

AT_LEAST_SECRET = 32
#: An API key from the environment may be anything long enough not to be guessed.
SHORTEST_KEY = 20

#: What the people file says instead of these.
_IN_PEOPLE_FILE = ("HANDOFF_TO_NUMBER", "HANDOFF_PINS", "HANDOFF_ROUNDS", "HANDOFF_RING_SECONDS")
_PLACES = ("TWILIO_EDGE", "TWILIO_REGION")

T = TypeVar("T")


class BadSettings(Exception):
    """Settings that can't work. `problems` has one line per variable, each naming it."""

    def __init__(self, problems: list[str]):
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class EnvironmentKey:
    """An API key from HANDOFF_API_KEYS."""

    agent: str
    operator: bool
    key: str


@dataclass(frozen=True)
class Settings:
    """See docs/running.md. Times are in seconds."""

    public_url: str  # scheme://host[:port][/prefix], without a slash at the end
    redis_url: str
    prefix: str
    secret_keys: tuple[str, ...]  # newest first
    api_keys: tuple[EnvironmentKey, ...]
    people_path: Path | None  # the people file; without one, the contacts of the environment
    contacts: tuple[Contact, ...]  # in the order in which they are rung; none with a people file
    ring_s: int
    rounds: int
    ack_s: int
    limits: Limits
    longest_call_s: int
    keep_closed_days: int
    twilio_account_sid: str
    twilio_auth_tokens: tuple[str, ...]  # the present one first
    twilio_from: str
    twilio_messaging_service: str | None  # sends the texts, instead of that number
    twilio_api_url: str | None
    twilio_place: dict[str, str]  # TWILIO_EDGE and TWILIO_REGION, for Twilio's own library
    allow_private_callbacks: bool
    log_format: str
    waiters_per_worker: int
    proxies: int  # how many of our own stand in front and say who asks (X-Forwarded-For)
    open_console: bool
    dev: bool

    @property
    def text_sender(self) -> str:
        """What texts are sent from: our Messaging Service, else our number. Opt-outs belong to it."""
        return self.twilio_messaging_service or self.twilio_from

    def __repr__(self) -> str:
        return f"<Settings {self.public_url} prefix={self.prefix}>"


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Reads and checks everything. Raises BadSettings with every problem at once."""
    read = _Reader(environ)
    dev = read.flag("HANDOFF_DEV")
    in_file = bool(environ.get("HANDOFF_PEOPLE", "").strip())
    settings = Settings(
        dev=dev,
        public_url=read.one("HANDOFF_PUBLIC_URL", lambda text: _public_url(text, dev)),
        redis_url=read.one("HANDOFF_REDIS_URL", _redis_url, default="redis://127.0.0.1:6379/0"),
        prefix=read.one("HANDOFF_PREFIX", _prefix, default="handoff"),
        secret_keys=read.one("HANDOFF_SECRET_KEY", _secret_keys),
        api_keys=read.one("HANDOFF_API_KEYS", _api_keys, default=""),
        people_path=read.one("HANDOFF_PEOPLE", _path, default="") if in_file else None,
        contacts=() if in_file else read.one("HANDOFF_TO_NUMBER", parse_people),
        ring_s=read.number("HANDOFF_RING_SECONDS", 25, 1, 600),
        rounds=read.number("HANDOFF_ROUNDS", 1, 1, 10),
        ack_s=read.number("HANDOFF_ACK_SECONDS", 300, 30, 86_400),
        limits=Limits(
            calls_per_second=read.one("HANDOFF_CALLS_PER_SECOND", _rate, default="1"),
            number_caps=read.one("HANDOFF_NUMBER_CAPS", parse_caps, default=DEFAULT_CAPS),
            text_caps=read.one("HANDOFF_TEXT_CAPS", parse_caps, default=DEFAULT_TEXT_CAPS),
            calls_a_day=read.number("HANDOFF_CALLS_A_DAY", 1_000, 0, 10_000_000),
            money_a_day=read.one("HANDOFF_MONEY_A_DAY", _money, default="0"),
            price_a_minute=read.one("HANDOFF_PRICE_A_MINUTE", _money, default="0.014"),
        ),
        longest_call_s=read.number("HANDOFF_LONGEST_CALL_S", 600, 60, 14_400),
        keep_closed_days=read.number("HANDOFF_KEEP_CLOSED_DAYS", 30, 1, 3_650),
        twilio_account_sid=read.one("TWILIO_ACCOUNT_SID", _account_sid),
        twilio_auth_tokens=(
            read.one("TWILIO_AUTH_TOKEN", _auth_token),
            *filter(None, [read.one("TWILIO_AUTH_TOKEN_PREVIOUS", str, default="")]),
        ),
        twilio_from=read.one("TWILIO_FROM_NUMBER", parse_phone),
        twilio_messaging_service=read.one("TWILIO_MESSAGING_SERVICE_SID", _service_sid, default="") or None,
        twilio_api_url=read.one("TWILIO_API_URL", lambda text: _api_url(text, dev), default="") or None,
        twilio_place={name: place for name in _PLACES if (place := read.one(name, _place, default=""))},
        allow_private_callbacks=read.flag("HANDOFF_ALLOW_PRIVATE_CALLBACKS"),
        log_format=read.one("HANDOFF_LOG_FORMAT", _log_format, default="json"),
        waiters_per_worker=read.number("HANDOFF_WAITERS_PER_WORKER", 9_000, 1, 100_000),
        proxies=read.number("HANDOFF_PROXIES", 0, 0, 5),
        open_console=read.flag("HANDOFF_OPEN_CONSOLE"),
    )
    if settings.open_console and not dev:
        read.problems.append("HANDOFF_OPEN_CONSOLE: only `handoff dev` may let everybody in")
    for name in _IN_PEOPLE_FILE if in_file else ():
        if environ.get(name, "").strip():
            read.problems.append(f"{name}: is in the people file with HANDOFF_PEOPLE; unset one of the two")
    if settings.contacts and (pins := environ.get("HANDOFF_PINS", "").strip()):
        server_key = (settings.secret_keys or ("",))[0]
        with_pin = read.one(
            "HANDOFF_PINS", lambda text: with_pins(settings.contacts, text, server_key), default=pins
        )
        settings = replace(settings, contacts=with_pin)
    for name in settings.twilio_place if settings.twilio_api_url else ():
        # Twilio's library rewrites every host by them, also one that is not Twilio's.
        read.problems.append(f"{name}: can't be used together with TWILIO_API_URL")
    if not read.problems and any(settings.twilio_from in one.numbers for one in settings.contacts):
        read.problems.append("TWILIO_FROM_NUMBER: is also in HANDOFF_TO_NUMBER; a number can't call itself")
    if read.problems:
        raise BadSettings(read.problems)
    return settings


class _Reader:
    """Collects what is wrong, so that an operator sees all of it at once."""

    def __init__(self, environ: Mapping[str, str]):
        self.environ = environ
        self.problems: list[str] = []

    def one(self, name: str, parse: Callable[[str], T], *, default: str | None = None) -> T:
        text = self.environ.get(name, "").strip()
        if not text:
            if default is None:
                self.problems.append(f"{name}: is not set")
                return None  # type: ignore[return-value]  # never used: a problem refuses the settings
            text = default
        try:
            return parse(text)
        except (ValueError, BadNumber) as error:
            self.problems.append(f"{name}: {error}")
            return None  # type: ignore[return-value]  # never used: a problem refuses the settings

    def number(self, name: str, default: int, low: int, high: int) -> int:
        def parse(text: str) -> int:
            if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
                raise ValueError(f"must be a whole number from {low} to {high}, not {text!r}")
            return int(text)

        return self.one(name, parse, default=str(default))

    def flag(self, name: str) -> bool:
        words = {"": False, "0": False, "no": False, "false": False, "1": True, "yes": True, "true": True}

        def parse(text: str) -> bool:
            if text.lower() not in words:
                raise ValueError(f"must be 1 or 0, not {text!r}")
            return words[text.lower()]

        return bool(self.one(name, parse, default="0"))


def _public_url(text: str, dev: bool) -> str:
    parts = urlsplit(text)
    host = parts.hostname
    odd = any(char in "@?#\\" or char.isspace() or not char.isprintable() for char in text)
    if parts.scheme not in ("http", "https") or not host or odd:
        raise ValueError("must be like https://handoff.example.com, without a query or a password")
    if "_" in host:
        # https://www.twilio.com/docs/voice/api/call-resource: no underscores in a StatusCallback's host.
        raise ValueError("has an underscore in its host, and Twilio sends no callbacks to such hosts")
    if parts.port == 0:
        raise ValueError("has port 0")
    loopback = _loopback(host)
    if not dev and (parts.scheme != "https" or loopback):
        raise ValueError(
            "must be an https address that Twilio can reach from outside (on this machine only, "
            "`handoff dev` needs no such address)"
        )
    return text.rstrip("/")


def _loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified or address.is_private or address.is_link_local


def _rate(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text):
        raise ValueError(f"must be a number such as 1 or 0.5 (0: no limit), not {text!r}")
    return float(text)


def _money(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,4})?", text):
        raise ValueError(f"must be an amount such as 20 or 0.014 (0: no limit), not {text!r}")
    return float(text)


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _redis_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("redis", "rediss", "unix"):
        raise ValueError("must begin with redis://, rediss:// or unix://")
    if parts.port == 0:  # reading it also refuses a port that is no number
        raise ValueError("has port 0")
    return text


def _prefix(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,30}", text):
        raise ValueError("must be 1 to 31 lower-case letters, digits or '-'")
    return text


def _secret_keys(text: str) -> tuple[str, ...]:
    keys = tuple(part.strip() for part in text.split(","))
    if any(len(key) < AT_LEAST_SECRET for key in keys):
        raise ValueError(
            f"needs {AT_LEAST_SECRET} characters or more; make one with: openssl rand -hex 32 "
            "(to rotate: new one first, then a comma and the old one)"
        )
    return keys


def _api_keys(text: str) -> tuple[EnvironmentKey, ...]:
    found = []
    for number, part in enumerate(filter(None, (part.strip() for part in text.split(","))), 1):
        who, _, key = part.partition("=")
        agent, _, scope = who.partition(":")
        if not AGENT_NAME.fullmatch(agent) or scope not in ("", "operator"):
            raise ValueError(f"entry {number} must be like checkout-bot=KEY or ops:operator=KEY")
        if len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError(f"entry {number} has a key with fewer than {SHORTEST_KEY} usable characters")
        found.append(EnvironmentKey(agent=agent, operator=scope == "operator", key=key))
    return tuple(found)


def _account_sid(text: str) -> str:
    if not re.fullmatch(r"AC[0-9a-fA-F]{32}", text):
        raise ValueError("must be AC and 32 hex digits, as on the Twilio console's first page")
    return text


def _service_sid(text: str) -> str:
    if text and not re.fullmatch(r"MG[0-9a-fA-F]{32}", text):
        raise ValueError("must be MG and 32 hex digits, as on the Messaging Service's page")
    return text


def _auth_token(text: str) -> str:
    if len(text) < 16:
        raise ValueError("is too short to be an auth token")
    return text


def _api_url(text: str, dev: bool) -> str:
    if not text:
        return ""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http or https address")
    if parts.scheme != "https" and not (dev and _this_machine(parts.hostname)):
        raise ValueError("must be https; only `handoff dev` may use a dev phone over http, on this machine")
    return text.rstrip("/")


def _this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _place(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]{0,30}", text):
        raise ValueError("must be a name such as dublin or ie1")
    return text


def _log_format(text: str) -> str:
    if text not in ("json", "console"):
        raise ValueError("must be json or console")
    return text
