"""What the program is told at start, checked: the account, its numbers, where to listen, which clock.

From arguments or the environment; refusals are sentences for the person who started it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from .digits import whole
from .numbers import is_e164

DEFAULT_NUMBER = "+12125550100"
MAX_PORT = 65_535


class BadSettings(ValueError):
    """The program can't start like this; the text says why."""


@dataclass(frozen=True)
class Settings:
    """One account. `numbers` (E.164) are those it may call and text from, at least one.

    `calls_per_second` is the rate at which its calls leave the queue; 0 = at once.
    """

    account_sid: str
    auth_token: str
    numbers: tuple[str, ...] = (DEFAULT_NUMBER,)
    host: str = "127.0.0.1"
    port: int = 0
    calls_per_second: float = 1.0


def check(
    environ: Mapping[str, str],
    *,
    account_sid: str | None,
    auth_token: str | None,
    numbers: list[str],
    host: str,
    port: str,
    calls_per_second: str | None = None,
) -> Settings:
    """Settings from arguments, completed by the environment. Raises BadSettings.

    TWILIO_EDGE and TWILIO_REGION are refused, since twilio-python rewrites any host name with them. An auth
    token that could be a real one is refused, since it would open a real account to whoever reads it here.
    """
    for name in ("TWILIO_EDGE", "TWILIO_REGION"):
        if environ.get(name):
            raise BadSettings(f"{name} is set: Twilio's library would not reach this program. Unset it.")
    sid = account_sid or environ.get("DEVPHONE_ACCOUNT_SID", "")
    token = (auth_token or environ.get("DEVPHONE_AUTH_TOKEN", "")).strip()
    if not re.fullmatch(r"AC[0-9a-f]{32}", sid):
        raise BadSettings("the account sid must be AC and 32 hexadecimal digits; make one up")
    if not token:
        raise BadSettings("the auth token is missing; make one up")
    if looks_real(token):
        same = token == environ.get("TWILIO_AUTH_TOKEN", "").strip()
        raise BadSettings(
            f"the auth token {'is TWILIO_AUTH_TOKEN here and ' if same else ''}has 32 hexadecimal digits, "
            "as real ones have: a program that misses this phone would ring real phones with it. "
            "Make up another, such as simulated-1"
        )
    if not is_loopback(host):
        raise BadSettings(f"{host} is not this machine: the dev phone listens on loopback only")
    port_number = whole(port)
    if port_number is None or port_number > MAX_PORT:
        raise BadSettings(f"the port must be a number from 0 (any free one) to {MAX_PORT}, not {port!r}")
    if bad := [number for number in numbers if not is_e164(number)]:
        raise BadSettings(f"not a number of the form +12125550100: {', '.join(bad)}")
    rate = calls_per_second or environ.get("DEVPHONE_CALLS_PER_SECOND") or "1"
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", rate):
        raise BadSettings(f"calls per second must be a number such as 1 or 0.5, 0 for no limit, not {rate!r}")
    return Settings(sid, token, tuple(numbers) or (DEFAULT_NUMBER,), host, port_number, float(rate))


def looks_real(auth_token: str) -> bool:
    """Whether it has the form of Twilio's own: 32 hexadecimal digits.

    https://docs.gitguardian.com/secrets-detection/detectors/specifics/twilio_master_credentials
    """
    return re.fullmatch(r"[0-9a-fA-F]{32}", auth_token) is not None


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine and no other."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
