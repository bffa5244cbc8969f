"""Which addresses a URL from an agent may lead to, and a connection to just those.

The guard against requests forged through us: a URL is checked as text when a handoff is opened, its name is
looked up and checked again when it is called, and the connection goes to the addresses that were checked.
What is sent, and what an answer means, lives in resume.py.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import httpx2

MAX_URL_CHARS = 2048
MAX_ANSWER_BYTES = 16 * 1024
LOOKUP_S = 5.0
_USUAL_PORT = {"http": 80, "https": 443}

_T = TypeVar("_T")
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
#: Where to connect: an IP address as text, never a name, and a port.
Address = tuple[str, int]
#: (host, port) -> every address of that name, as text; raises OSError when there is none.
Lookup = Callable[[str, int], Sequence[str]]

# Written out because `ipaddress.is_global` differs between the Pythons we run on. IANA's registry, then
# multicast, class E, and Azure's platform services, whose address looks public:
# https://www.iana.org/assignments/iana-ipv4-special-registry/
# https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
_NOT_PUBLIC_4 = [
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
        "192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 "
        "198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32"
    ).split()
]
# All public IPv6 is inside this block: https://www.iana.org/assignments/ipv6-address-space/
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
# Inside it: IETF protocols (with Teredo), documentation twice, and 6to4 (hides IPv4; given up by RFC 7526).
_NOT_PUBLIC_6 = [ipaddress.IPv6Network(b) for b in ("2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16")]
# These stand for an IPv4 host: mapped addresses (RFC 4291), and NAT64's well-known prefix (RFC 6052), which
# a machine with only IPv6 gets from its resolver for ordinary names.
_STANDS_FOR_4 = [ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96")]

# Where clouds keep a machine's own secrets. Refused whatever is allowed otherwise: no agent lives there.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html (also on IPv6);
# 100.100.100.200 is Alibaba's, and the rest of link-local is nobody's to call.
_METADATA = [
    ipaddress.ip_network(block)
    for block in (
        "169.254.0.0/16",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "fd00:ec2::254/128",
        "fe80::/10",
    )
]

# RFC 6761, RFC 6762, RFC 8375, ICANN's `internal` (metadata services use it), and what hosts files add.
_PRIVATE_NAME = re.compile(
    r"(.+\.)?(localhost|local|home\.arpa|internal|localdomain|ip6-(localhost|loopback))"
)
_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
# A host whose last label is a number is an IPv4 address or nothing:
# https://url.spec.whatwg.org/#ends-in-a-number-checker
_ENDS_IN_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")


class UnsafeUrl(ValueError):
    """A URL that we don't call. The message says what it must be, without naming a field or quoting it."""


class FailureKind(StrEnum):
    """Every way in which a call can fail; closed, so that each can be counted, shown and explained."""

    UNSAFE_ADDRESS = "unsafe_address"
    DNS_FAILED = "dns_failed"
    CONNECT_FAILED = "connect_failed"
    TLS_FAILED = "tls_failed"
    TIMED_OUT = "timed_out"
    REDIRECTED = "redirected"
    REFUSED = "refused"  # 4xx
    SERVER_ERROR = "server_error"  # 5xx
    PROTOCOL_ERROR = "protocol_error"
    RESPONSE_TOO_LARGE = "response_too_large"  # no status within the first 16 kB; never after a 2xx


class CallFailed(Exception):
    """A call did not come to an answer. `detail` may be shown to the agent."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True)
class Target:
    """A URL taken apart once, so that what is checked and what is called can't differ."""

    scheme: str
    host: str  # lower case ASCII, no brackets, no trailing dot; an address in its ordinary spelling
    port: int
    path: bytes  # with the query

    @property
    def netloc(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _USUAL_PORT[self.scheme] else f"{host}:{self.port}"


def check_url(url: str, *, allow_private: bool) -> None:
    """Refuse a URL that we would never call, as far as its text alone shows it; nothing is looked up.

    Refused: other schemes than http and https, user names, odd characters, over 2048 characters, bad ports;
    and, unless `allow_private`, every spelling of a host that is not public (`127.1`, `0x7f000001`,
    `[::ffff:7f00:1]`, `localhost.`); link-local and metadata addresses always. A name that is private only
    once looked up is refused by `resolve`.
    Raises `UnsafeUrl`, whose message goes on from the name of a field: "must ...".
    """
    host = parse_url(url).host
    address = _as_address(host)
    private = bool(_PRIVATE_NAME.fullmatch(host)) if address is None else not is_public(address)
    if (private and not allow_private) or (address is not None and is_metadata(address)):
        raise UnsafeUrl("must lead to a public address")


def parse_url(url: str) -> Target:
    """Take a URL apart by the one reading that the check and the call share; raises `UnsafeUrl`."""
    if len(url) > MAX_URL_CHARS:
        raise UnsafeUrl(f"must have at most {MAX_URL_CHARS} characters")
    # Some readers take a backslash for a slash: what two of them see differently is refused.
    if any(char in " \\" or not char.isprintable() for char in url):
        raise UnsafeUrl("must hold no spaces, control characters or backslashes")
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        # Without its cause, which repeats parts of the URL.
        raise UnsafeUrl("must be a valid URL") from None
    if parsed.scheme not in _USUAL_PORT:
        raise UnsafeUrl("must begin with https:// or http://")
    if parsed.userinfo:
        raise UnsafeUrl("must hold no user name or password")
    port = _USUAL_PORT[parsed.scheme] if parsed.port is None else parsed.port
    if not 1 <= port <= 65535:
        raise UnsafeUrl("must use a port from 1 to 65535")
    return Target(parsed.scheme, _plain_host(parsed.raw_host.decode("ascii")), port, parsed.raw_path)


def _plain_host(host: str) -> str:
    host = host.removesuffix(".")  # the DNS root, no part of the name in a certificate (RFC 6066, 3)
    address = _as_address(host)
    if address is not None:
        return str(address)
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise UnsafeUrl("must name a valid host")
    return host


def _as_address(host: str) -> IpAddress | None:
    """The address that a host is in itself, in any spelling the C library takes; None for a name."""
    try:
        if ":" in host and "%" not in host:  # an interface of ours (RFC 6874) is no place outside
            return ipaddress.IPv6Address(host)
        if _ENDS_IN_NUMBER.fullmatch(host):
            return ipaddress.IPv4Address(socket.inet_aton(host))
    except (ValueError, OSError):
        raise UnsafeUrl("must name a valid host") from None
    return None


def is_public(address: IpAddress) -> bool:
    """Whether an address is one of the public Internet; what stands for an IPv4 host is judged as that."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in block for block in _NOT_PUBLIC_4)
    if any(address in block for block in _STANDS_FOR_4):
        return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _PUBLIC_6 and not any(address in block for block in _NOT_PUBLIC_6)


def is_metadata(address: IpAddress) -> bool:
    """Whether it is link-local or a cloud's metadata service, in any spelling."""
    if isinstance(address, ipaddress.IPv6Address) and any(address in block for block in _STANDS_FOR_4):
        address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return any(address.version == block.version and address in block for block in _METADATA)


def system_lookup(host: str, port: int) -> list[str]:
    """Every address the system's resolver has for a name, in the order it prefers."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def resolve(
    host: str, port: int, *, allow_private: bool, lookup: Lookup = system_lookup, timeout_s: float = LOOKUP_S
) -> list[Address]:
    """The checked addresses of a host: connect to these, and don't look the name up again.

    One private address among public ones refuses the whole name. Nobody publishes such a mix by accident, and
    keeping the public ones would let the name's owner try until some reader, somewhere, takes the other.
    Raises `UnsafeUrl`, or `CallFailed` (`dns_failed`) when there is no address or no answer in `timeout_s`.
    """
    literal = _as_address(host)
    texts = [str(literal)] if literal else _in_time(lambda: list(lookup(host, port)), timeout_s)
    if not texts:
        raise CallFailed(FailureKind.DNS_FAILED, "the name has no address")
    found = [ipaddress.ip_address(text) for text in texts]
    if any(map(is_metadata, found)) or not (allow_private or all(map(is_public, found))):
        # Which address it was stays here: it would map the operator's network for whoever asks.
        raise UnsafeUrl("must lead to a public address")
    return [(text, port) for text in texts]


def _in_time(look_up: Callable[[], list[str]], timeout_s: float) -> list[str]:
    """The resolver has no time limit of its own: a stuck one costs a waiting thread, not the caller."""
    found: list[str] = []

    def run() -> None:
        with suppress(OSError):  # what it found is empty then, and the caller says so
            found.extend(look_up())

    thread = threading.Thread(target=run, name="lookup", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise CallFailed(FailureKind.DNS_FAILED, "the resolver gave no answer in time")
    return found
