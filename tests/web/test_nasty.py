"""Whatever reaches the application gets a precise answer: no input gets a 500, and nothing is half done."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import quote

import pytest

from .site import AGENT_KEY, OPERATOR_KEY, Site

METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW")
PIECES = (
    "..%2f",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%00",
    "%ff%fe",
    "%c0%af",
    "%ed%a0%80",
    "%0d%0aSet-Cookie:%20a=b",
    "%u0041",
    "%",
    "%zz",
    "a" * 20_000,
    "ho_" + "0" * 22,
    "ho_" + "0" * 22 + "%0a",
    "%F0%9F%94%92",
    "{}",
    "*",
    "ho_*",
    "..;/",
    "'%20OR%201=1",
    "{{7*7}}",
    "null",
    "-1",
)
HEADERS: tuple[dict[str, str], ...] = (
    {"Accept": "a" * 60_000},
    {"Accept": "*;q=" + "9" * 400},
    {"Accept-Language": "\x7f\xff"},
    {"Cookie": "a=b; " * 5_000},
    {"Host": "evil.example"},
    {"Host": ""},
    {"Host": "a b"},
    {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher", "X-Forwarded-Prefix": "/../.."},
    {"X-HTTP-Method-Override": "DELETE"},
    {"Content-Length": "-5"},
    {"Content-Length": "nonsense"},
    {"Content-Length": "9" * 30},
    {"Transfer-Encoding": "chunked"},
    {"Transfer-Encoding": "gzip, chunked"},
    {"Content-Encoding": "gzip"},
    {"Content-Type": "application/json; charset=klingon"},
    {"Content-Type": "multipart/form-data"},
    {"Content-Type": "multipart/form-data; boundary=" + "b" * 10_000},
    {"Content-Type": "application/x-www-form-urlencoded; charset=\xff"},
    {"Content-Type": "\x00/\x00"},
    {"Range": "bytes=0-0,1-1"},
    {"If-None-Match": "*"},
    {"If-Modified-Since": "never"},
    {"Expect": "200-maybe"},
    {"Prefer": "wait=" + "9" * 10_000},
    {"Last-Event-ID": "\xff" * 100},
    {"Idempotency-Key": "{}|*\xff"},
    {"Authorization": "Bearer \xff\xfe"},
    {"Authorization": "Digest username=" + "a" * 10_000},
    {"X-Twilio-Signature": "\xff"},
)
QUERIES = (
    "wait=nan",
    "wait=-1",
    "cursor=%00",
    "cursor[]=1",
    "state=escalating&state=nonsense",
    "limit=9999999999999999999999",
    "agent=%00",
    "agent={p}:x",
    "&&&===;;;",
    "%",
    "%ff=%ff",
    "a=" + "b" * 50_000,
    "__proto__[x]=1",
    "nonce=x&answer=y",
    "turn=9999999999999999999&silent=x&held=[]&retry=-1&key=%00",
)


def routes(site: Site, handoff: str, link: str) -> dict[str, str]:
    """Every route of the application, with an address that leads to something."""
    values = {"handoff_id": handoff, "given": link, "filename": "app.css", "_": "refusal", "verb": "refusal"}
    values |= {"call_id": "ca_" + "0" * 22, "attempt_id": "at_" + "0" * 22, "contact_id": "ada"}
    values |= {"key": "1"}
    values |= {"opt_out_id": "oo_" + "0" * 22, "warning_id": "wa_" + "0" * 22}
    found = {}
    for rule in site.app.url_map.iter_rules():
        if not str(rule).startswith("/apidoc"):
            adapter = site.app.url_map.bind("localhost")
            wanted = {name: values[name] for name in rule.arguments}
            method = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})[0]
            found[str(rule)] = adapter.build(rule.endpoint, wanted, method=method)
    return found


@pytest.fixture
def handoff(site: Site) -> str:
    return site.agent.opened()


@pytest.fixture
def paths(site: Site, handoff: str) -> dict[str, str]:
    return routes(site, handoff, site.link(handoff))


def send(site: Site, method: str, path: str, **options: Any) -> int:
    """One request; whatever comes back was checked (and 500 is never right), and its files are closed."""
    answer = site.agent(method, path, **options)
    answer.close()
    return answer.status_code


def test_this_test_reaches_every_route(site: Site, paths: dict[str, str]) -> None:
    assert len(paths) >= 20
    for path in paths.values():
        assert send(site, "OPTIONS", path) == (403 if path.startswith("/twilio/") else 200)


def test_every_method_on_every_route_has_an_answer(site: Site, paths: dict[str, str]) -> None:
    for path in paths.values():
        for method in METHODS:
            assert send(site, method, path) < 500 or path == "/readyz"


def test_strange_pieces_in_every_place_of_a_path_lead_nowhere(site: Site, handoff: str) -> None:
    before = site.record(handoff)
    places = (
        "/{}",
        "/v1/{}",
        "/v1/handoffs/{}",
        "/v1/handoffs/{}/events",
        "/v1/handoffs/{}/resolution",
        f"/v1/handoffs/{handoff}/{{}}",
        "/h/{}",
        "/h/{}/refusal",
        "/static/{}",
        "/twilio/calls/{}/voice",
        "/twilio/texts/{}/{}/status",
    )
    for place in places:
        for piece in PIECES:
            for method in ("GET", "POST"):
                # The test client would read "?" and "#" itself; everything else goes through as it is.
                assert send(site, method, place.replace("{}", piece)) in (308, 400, 403, 404, 405, 429)
    assert site.record(handoff) == before


def test_strange_headers_on_every_route_have_an_answer(site: Site, paths: dict[str, str]) -> None:
    for path in paths.values():
        for headers in HEADERS:
            for method in ("GET", "POST"):
                status = send(site, method, path, headers=headers, data=b"{}" if method == "POST" else None)
                assert status < 500 or path == "/readyz", (method, path, headers)


def test_strange_queries_on_every_route_have_an_answer(site: Site, paths: dict[str, str]) -> None:
    for path in paths.values():
        for query in QUERIES:
            for method in ("GET", "POST"):
                assert send(site, method, f"{path}?{query}") < 500 or path == "/readyz"


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json"],
)
def test_strange_bodies_on_every_route_have_an_answer(
    site: Site, paths: dict[str, str], content_type: str
) -> None:
    luck = random.Random(7)
    bodies = [
        b"",
        b"\x00" * 1_000,
        b"\xff\xfe\xfd",
        bytes(luck.randrange(256) for _ in range(5_000)),
        b"a=" + b"%ff" * 1_000,
        b"&".join(b"k%d=v" % number for number in range(3_000)),
        b"--b\r\n" * 2_000,
        b'--b\r\nContent-Disposition: form-data; name="nonce"; filename="x"\r\n\r\nx\r\n--b--',
        b"[" * 50_000,
        b'{"comment": "\\ud800"}',
        b'{"answer": {"a": []}}',
        b"{" * 10 + b"}" * 10,
        b"x" * 1_048_577,
    ]
    for path in paths.values():
        for body in bodies:
            assert send(site, "POST", path, data=body, content_type=content_type) < 500, (path, body[:20])


def test_a_thousand_random_requests_have_an_answer(site: Site, paths: dict[str, str]) -> None:
    luck = random.Random(20261130)
    known = list(paths.values())
    for _ in range(1_000):
        path = luck.choice(known)
        if luck.random() < 0.5:
            at = luck.randrange(len(path))
            path = (
                path[:at] + quote(bytes(luck.randrange(256) for _ in range(luck.randint(1, 4)))) + path[at:]
            )
        headers = dict(luck.choice(HEADERS))
        if luck.random() < 0.3:
            headers["Authorization"] = f"Bearer {luck.choice((AGENT_KEY, OPERATOR_KEY))}"
        body = bytes(luck.randrange(256) for _ in range(luck.randint(0, 40)))
        status = send(site, luck.choice(METHODS), path, headers=headers, data=body)
        assert status < 500 or path == "/readyz"


def test_a_host_that_is_not_ours_changes_no_address_that_we_give_out(site: Site) -> None:
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    answer = site.agent.post("/v1/handoffs", {"kind": "clear", "reason": "x"}, headers=headers)
    assert answer.headers["Location"].startswith("https://handoff.example.com/v1/")
    link = site.link(answer.get_json()["id"])
    assert "evil" not in site.anybody.get(f"/h/{link}", headers=headers).text


def test_the_front_door_says_what_this_is_and_leads_to_the_docs(site: Site) -> None:
    answer = site.anybody.get("/")
    assert answer.status_code == 200 and 'href="/docs"' in answer.text


def test_an_unknown_address_is_404_and_says_so(site: Site) -> None:
    for path in ("/v1", "/v1/", "/v2/handoffs", "/favicon.ico", "/.env", "/admin", "/h", "/h/"):
        answer = site.agent.get(path)
        assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")
