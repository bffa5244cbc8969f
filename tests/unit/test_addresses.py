"""Which URLs from an agent may be called: by their text, and by what their names lead to."""

from __future__ import annotations

import ipaddress
import itertools
import random
import threading

import pytest

from handoff.addresses import (
    CallFailed,
    FailureKind,
    Lookup,
    UnsafeUrl,
    check_url,
    is_public,
    parse_url,
    resolve,
)

PUBLIC = [
    "https://agent.example/resume",
    "http://agent.example:8080/resume?run=7#top",
    "HTTPS://Agent.Example./",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://[64:ff9b::8.8.8.8]/",
    "https://bücher.example/grüße?wer=Ada",
    "https://127.0.0.1.nip.io/",
    "https://agent_1.example/",
    "https://3.example/",
]
PRIVATE = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0x7f000001/",
    "http://0X7F.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
    "http://127.0.0.1./",
    "http://2130706433./",
    "http://127。0。0。1/",
    "http://10.1.2.3/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://168.63.129.16/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:0A01:0203]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::8.8.8.8]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://localhost/",
    "http://LOCALHOST:6379/",
    "http://localhost./",
    "http://agent.localhost/",
    "http://metadata.google.internal/",
    "http://printer.local/",
    "http://nas.home.arpa/",
    "http://ip6-loopback/",
]
NEVER = [
    "",
    "agent.example/resume",
    "//agent.example/",
    "/resume",
    "ftp://agent.example/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "gopher://agent.example/",
    "http:",
    "http:/agent.example/",
    "http:///resume",
    "http://?x",
    "http://./",
    "http://user@10.0.0.5/",
    "https://user:pw@agent.example/",
    "https://agent.example@127.0.0.1/",
    "https://agent.example\\@127.0.0.1/",
    "https:\\\\agent.example/",
    "https://agent.example:0/",
    "https://agent.example:65536/",
    "https://agent.example:-1/",
    "https://agent.example:http/",
    "https://agent..example/",
    "https://-agent.example/",
    "https://agent.example;x/",
    "https://%31%32%37.0.0.1/",
    "https://1.2.3.4.5/",
    "https://256.1.1.1/",
    "https://0177.0.0.1/",
    "https://0x1ffffffff/",
    "https://agent.0x7f/",
    "https://[::1/",
    "https://[127.0.0.1]/",
    "https://[fe80::1%25eth0]/",
    "https://[v1.x]/",
    "http://１２７.0.0.1/",
    "http://ｌocalhost/",
    "http://①②⑦.0.0.1/",
    "https://agent.example/a b",
    "https://agent.example/\r\nX-Forged: 1",
    "https://agent.example/\t",
    "https://agent.example/\x00",
    "https://agent.example/\u3000",
    "https://agent\u00ad.example/",
    "https://agent.example/\u202e",
    "https://agent.example/\ud800",
    f"https://{'a' * 64}.example/",
    f"https://{'a.' * 127}example/",
    "https://agent.example/" + "a" * 2048,
]


@pytest.mark.parametrize("url", PUBLIC)
def test_a_url_that_may_lead_to_a_public_place_is_taken(url: str) -> None:
    check_url(url, allow_private=False)


#: A machine's own secrets, and link-local: nobody's to call, whatever the operator allows.
METADATA = ("169.254.", "168.63.129.16", "a9fe:a9fe", "[fe80:", "fd00:ec2::254")


@pytest.mark.parametrize("url", PRIVATE)
def test_a_private_place_is_refused_in_every_spelling_unless_the_operator_allows_it(url: str) -> None:
    with pytest.raises(UnsafeUrl, match="^must lead to a public address$"):
        check_url(url, allow_private=False)
    if not any(part in url for part in METADATA):
        check_url(url, allow_private=True)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "100.100.100.200",
        "[fd00:ec2::254]",
        "[fe80::1]",
    ],
)
def test_a_clouds_metadata_is_refused_even_where_private_places_are_allowed(host: str) -> None:
    with pytest.raises(UnsafeUrl):
        check_url(f"http://{host}/latest/meta-data/", allow_private=True)


def test_a_name_that_leads_to_metadata_is_refused_even_where_private_places_are_allowed() -> None:
    with pytest.raises(UnsafeUrl):
        resolve("agent.example", 80, allow_private=True, lookup=answering(["10.0.0.1", "169.254.169.254"]))


@pytest.mark.parametrize("allow_private", [False, True])
@pytest.mark.parametrize("url", NEVER)
def test_what_is_no_plain_http_url_is_refused_always(url: str, allow_private: bool) -> None:
    with pytest.raises(UnsafeUrl, match="^must "):
        check_url(url, allow_private=allow_private)


def test_exactly_2048_characters_are_taken() -> None:
    check_url("https://agent.example/".ljust(2048, "a"), allow_private=False)


def test_the_refusal_quotes_nothing_of_the_url_not_even_in_its_cause() -> None:
    for url in NEVER + [f"http://127.1/?key={word}" for word in ("hunter2", "\ud800hunter2")]:
        with pytest.raises(UnsafeUrl) as refused:
            check_url(url, allow_private=False)
        assert "hunter2" not in str(refused.value)
        assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_no_way_to_write_an_ipv4_address_as_numbers_gets_a_private_one_through() -> None:
    for private in ("127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.1.1"):
        a, b, c, d = (int(part) for part in private.split("."))
        in_parts = (
            [a, b, c, d],
            [a, b, c << 8 | d],
            [a, b << 16 | c << 8 | d],
            [int(ipaddress.ip_address(private))],
        )
        for parts in in_parts:
            for formats in itertools.product(
                ("{}", "0{:o}", "0x{:x}", "0X{:X}", "0x000{:x}"), repeat=len(parts)
            ):
                host = ".".join(form.format(part) for form, part in zip(formats, parts, strict=True))
                for url in (f"http://{host}/", f"http://{host}./", f"http://{host}:8080"):
                    with pytest.raises(UnsafeUrl):
                        check_url(url, allow_private=False)


def test_nothing_but_unsafe_url_is_ever_raised() -> None:
    choice = random.Random(7)
    pieces = [
        *"aZ0.:/@[]%?#\\-_ ~xX",
        "http://",
        "https://",
        "127",
        "0x",
        "::",
        "ffff",
        "ü",
        "。",
        "１",
        "\u200d",
        "\n",
    ]
    taken = 0
    for _ in range(20_000):
        url = choice.choice(["", "http://", "https://"]) + "".join(
            choice.choices(pieces, k=choice.randrange(1, 9))
        )
        try:
            check_url(url, allow_private=True)
            taken += 1
        except UnsafeUrl:
            continue
    assert taken > 100, "the test should also make URLs that are taken"


def test_whatever_the_standard_library_calls_private_is_not_public_here() -> None:
    choice = random.Random(7)
    addresses: list[ipaddress.IPv4Address | ipaddress.IPv6Address] = [
        *(ipaddress.IPv4Address(choice.getrandbits(32)) for _ in range(20_000)),
        *(ipaddress.IPv6Address(choice.getrandbits(128)) for _ in range(5_000)),
        *(ipaddress.IPv6Address(0x20010000 << 96 | choice.getrandbits(121)) for _ in range(5_000)),
    ]
    for address in addresses:
        if address.is_private or address.is_multicast or address.is_reserved or address.is_link_local:
            if address not in ipaddress.ip_network("64:ff9b::/96"):
                assert not is_public(address), address


@pytest.mark.parametrize(
    ("first_private", "last_private"),
    [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ],
)
def test_a_private_block_ends_where_it_ends(first_private: str, last_private: str) -> None:
    first, last = ipaddress.ip_address(first_private), ipaddress.ip_address(last_private)
    assert not is_public(first)
    assert not is_public(last)
    assert is_public(last + 1)
    assert int(first) == 0 or is_public(first - 1)


def test_a_url_is_read_once_and_the_same_for_check_and_call() -> None:
    target = parse_url("HTTPS://Bücher.Example.:443/a/../b?q=ü#part")
    assert (target.scheme, target.host, target.port) == ("https", "xn--bcher-kva.example", 443)
    assert target.path == b"/b?q=%C3%BC"
    assert target.netloc == "xn--bcher-kva.example"
    assert parse_url("http://0x7f.1:8080").host == "127.0.0.1"
    assert parse_url("http://[::1]:8080/").netloc == "[::1]:8080"
    assert parse_url("http://agent.example").path == b"/"


def answering(addresses: list[str]) -> Lookup:
    return lambda _host, _port: addresses


def test_all_addresses_of_a_name_are_returned_in_the_resolvers_order() -> None:
    lookup = answering(["2606:4700::1", "8.8.8.8"])
    found = resolve("agent.example", 443, allow_private=False, lookup=lookup)
    assert found == [("2606:4700::1", 443), ("8.8.8.8", 443)]


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "fc00::1", "64:ff9b::a00:1"]
)
def test_one_private_address_among_public_ones_refuses_the_whole_name(private: str) -> None:
    for answers in (["8.8.8.8", private], [private, "8.8.8.8"], [private]):
        with pytest.raises(UnsafeUrl, match="^must lead to a public address$"):
            resolve("agent.example", 443, allow_private=False, lookup=answering(answers))
        taken = resolve("agent.example", 443, allow_private=True, lookup=answering(answers))
        assert [ip for ip, _ in taken] == answers


def test_an_address_in_the_url_is_not_looked_up() -> None:
    def never(_host: str, _port: int) -> list[str]:
        raise AssertionError("looked up")

    assert resolve("8.8.8.8", 80, allow_private=False, lookup=never) == [("8.8.8.8", 80)]
    with pytest.raises(UnsafeUrl):
        resolve("127.0.0.1", 80, allow_private=False, lookup=never)


def test_a_name_without_an_address_is_a_dns_failure() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError("no such name")

    for lookup in (unknown, answering([])):
        with pytest.raises(CallFailed) as failed:
            resolve("agent.example", 443, allow_private=False, lookup=lookup)
        assert failed.value.kind is FailureKind.DNS_FAILED


def test_the_system_finds_localhost_and_it_is_refused() -> None:
    with pytest.raises(UnsafeUrl):
        resolve("localhost", 80, allow_private=False)
    assert {ip for ip, _ in resolve("localhost", 80, allow_private=True)} <= {"127.0.0.1", "::1"}


def test_a_stuck_resolver_costs_no_more_than_the_time_given() -> None:
    released = threading.Event()

    def stuck(_host: str, _port: int) -> list[str]:
        released.wait(30)
        return ["8.8.8.8"]

    try:
        with pytest.raises(CallFailed) as failed:
            resolve("agent.example", 443, allow_private=False, lookup=stuck, timeout_s=0.05)
        assert failed.value.kind is FailureKind.DNS_FAILED
    finally:
        released.set()
