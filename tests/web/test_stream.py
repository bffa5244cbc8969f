"""The timeline as server-sent events: replayed, live, ended by the close, and never held back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from handoff.web import waits
from tests.world.waits import until

from .conftest import MakeSite
from .site import AGENT_KEY, Site, check_problem


class Stream:
    """What has come so far; reading blocks until there is more."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def event(self) -> dict[str, Any] | None:
        """The next event, with its data read; None when the stream has ended."""
        found: dict[str, Any] = {}
        for line in self._lines:
            if not line and "data" in found:
                return found | {"data": json.loads(found["data"])}
            name, _, value = line.partition(": ")
            if line and name != "retry":
                found[name] = value
        return None

    def rest(self) -> list[str]:
        """Types of everything up to its end."""
        return [event["event"] for event in iter(self.event, None)]


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    """With room for one who waits."""
    return make_site(HANDOFF_WAITERS_PER_WORKER="1")


@pytest.fixture
def http(site: Site) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {AGENT_KEY}", "Accept": "text/event-stream"}
    with site.serving() as url:
        with httpx2.Client(base_url=url, headers=headers, trust_env=False, timeout=20) as client:
            yield client


@contextmanager
def following(http: httpx2.Client, handoff: str, last: str | None = None) -> Iterator[Stream]:
    headers = {} if last is None else {"Last-Event-ID": last}
    with http.stream("GET", f"/v1/handoffs/{handoff}/events", headers=headers) as response:
        assert response.status_code == 200
        yield Stream(response)


def test_what_happened_comes_at_once_although_nothing_has_ended(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    with following(http, handoff) as stream:
        first, second = stream.event(), stream.event()
        assert first is not None and second is not None
        assert (first["id"], first["event"], second["id"], second["event"]) == (
            "1",
            "opened",
            "2",
            "step_started",
        )
        listed = site.agent.get(f"/v1/handoffs/{handoff}/events").get_json()["events"]
        assert [first["data"], second["data"]] == listed
        site.operator.post(f"/v1/handoffs/{handoff}/refusal")


def test_the_stream_is_marked_so_that_nothing_on_the_way_holds_it_back(
    site: Site, http: httpx2.Client
) -> None:
    handoff = site.agent.opened()
    with following(http, handoff) as stream:
        headers = stream.response.headers
        assert headers["Content-Type"].partition(";")[0] == "text/event-stream"
        assert headers["Cache-Control"] == "no-store" and headers["X-Accel-Buffering"] == "no"
        assert "Content-Length" not in headers
        site.operator.post(f"/v1/handoffs/{handoff}/refusal")


def test_it_goes_on_live_and_ends_with_the_close(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    with following(http, handoff, "2") as stream:
        until(lambda: site.services.waiting.full, 10, "the stream to be followed")
        site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
        first = stream.event()
        assert first is not None and (first["id"], first["event"]) == ("3", "acknowledged")
        site.operator.post(f"/v1/handoffs/{handoff}/resolution")
        assert stream.rest() == ["resolved"]
    until(lambda: not site.services.waiting.full, 10, "it lets go of its place")


def test_after_a_reconnect_it_goes_on_where_it_broke_off(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    for last, rest in {
        "0": ["opened", "step_started", "acknowledged", "declined"],
        "1": ["step_started", "acknowledged", "declined"],
        "3": ["declined"],
    }.items():
        with following(http, handoff, last) as stream:
            assert stream.rest() == rest


def test_when_nothing_is_left_to_say_it_is_204_so_that_asking_ends(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    newest = str(site.record(handoff).seq)
    for last in (newest, "999999999999"):
        answer = http.get(f"/v1/handoffs/{handoff}/events", headers={"Last-Event-ID": last})
        assert (answer.status_code, answer.content) == (204, b"")


def test_a_server_that_stops_ends_every_stream(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    with following(http, handoff, "2") as stream:
        until(lambda: site.services.waiting.full, 10, "the stream to be followed")
        site.services.waiting.stop()
        assert stream.rest() == []


def test_without_room_a_stream_is_503_with_a_time_to_come_back(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    with following(http, handoff):
        until(lambda: site.services.waiting.full, 10, "the stream to be followed")
        answer = site.agent.get(f"/v1/handoffs/{handoff}/events", headers={"Accept": "text/event-stream"})
        assert (answer.status_code, check_problem(answer)["code"]) == (503, "unavailable")
        assert int(answer.headers["Retry-After"]) >= 1
        assert site.agent.get(f"/v1/handoffs/{handoff}/events").status_code == 200
        site.operator.post(f"/v1/handoffs/{handoff}/refusal")


def test_another_agents_stream_is_404(site: Site, http: httpx2.Client) -> None:
    handoff = site.other.opened()
    assert http.get(f"/v1/handoffs/{handoff}/events").status_code == 404


def test_a_quiet_stream_says_something_before_any_proxy_hangs_up() -> None:
    """Load balancers drop what is idle for 30 s; a comment every 15 to 25 s keeps it."""
    assert 5 <= waits.HEARTBEAT_S < 25


def test_a_line_end_in_a_reason_can_not_break_out_of_an_event(site: Site, http: httpx2.Client) -> None:
    handoff = site.agent.opened()
    comment = "a\n\nevent: resolved\ndata: {}\r\rid: 99"
    site.operator.post(f"/v1/handoffs/{handoff}/refusal", {"comment": comment})
    with following(http, handoff, "2") as stream:
        event = stream.event()
        assert event is not None and event["data"]["data"]["comment"] == comment
        assert stream.rest() == []
