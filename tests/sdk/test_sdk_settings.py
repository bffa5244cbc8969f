"""Where the address and the key come from, what is refused about them, and that the key stays unseen."""

from __future__ import annotations

import traceback

import httpx2
import pytest

import human

from .conftest import API_KEY, HandClock
from .peer import Peer, answered, replies


def test_the_environment_is_enough(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDOFF_URL", f" {peer.url}/ ")
    monkeypatch.setenv("HANDOFF_API_KEY", API_KEY + "\n")
    peer.outcome = answered("yes")
    with human.Client() as client:
        assert client.ask("Go on?") == "yes"
    assert peer.opened[0].path == "/v1/handoffs"
    assert peer.opened[0].headers["authorization"] == f"Bearer {API_KEY}"


def test_an_argument_beats_the_environment(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDOFF_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HANDOFF_API_KEY", "hk_of_the_environment")
    peer.outcome = answered("yes")
    with human.Client(peer.url, API_KEY) as client:
        assert client.ask("Go on?") == "yes"
    assert peer.opened[0].headers["authorization"] == f"Bearer {API_KEY}"


def test_a_server_below_a_path_is_asked_below_that_path(peer: Peer) -> None:
    peer.outcome = answered("yes")
    with human.Client(f"{peer.url}/handoff/", API_KEY) as client:
        assert client.ask("Go on?") == "yes"
    assert peer.opened[0].path == "/handoff/v1/handoffs"


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_a_missing_setting_is_named_with_every_way_to_give_it(
    monkeypatch: pytest.MonkeyPatch, empty: str | None
) -> None:
    if empty is not None:
        monkeypatch.setenv("HANDOFF_URL", empty)
    with pytest.raises(human.InvalidRequest, match="HANDOFF_URL is not set.*human.configure.url") as error:
        human.Client(api_key=API_KEY)
    assert error.value.code == "not_configured"
    with pytest.raises(human.InvalidRequest, match="HANDOFF_API_KEY is not set.*api_key="):
        human.Client("https://handoff.example")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "does not start with"),
        ("handoff.example", "does not start with"),
        ("localhost:8000", "does not start with"),
        ("ftp://handoff.example", "does not start with"),
        ("https://", "does not start with"),
        ("https://[::1", "is not a URL"),
        ("https://handoff.example:port", "is not a URL"),
        ("https://hush:hush@handoff.example", "user name or password"),
        ("https://handoff.example/?key=hush", "a query or a fragment"),
        ("https://handoff.example/#hush", "a query or a fragment"),
    ],
)
def test_an_address_that_cannot_work_is_refused_where_it_is_given(url: str, words: str) -> None:
    with pytest.raises(human.InvalidRequest, match=f"argument url=.*{words}") as error:
        human.Client(url, API_KEY)
    assert "hush" not in str(error.value)


@pytest.mark.parametrize("key", ["", "hk hush", "hk_hush\r\nX-Evil: 1", "hk_hüsh", "hk_hush\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_quoted(key: str) -> None:
    with pytest.raises(human.InvalidRequest, match="API key from the argument api_key=") as error:
        human.Client("https://handoff.example", key)
    assert "sh" not in str(error.value).replace("should", "")


def test_the_key_is_in_no_repr_and_in_no_traceback(peer: Peer, clock: HandClock) -> None:
    peer.then(replies(500), replies(401))
    client = human.Client(peer.url, API_KEY, _clock=clock.as_clock())
    with pytest.raises(human.InvalidRequest) as error:
        client.ask("Go on?")
    client.close()
    with pytest.raises(human.ConnectionFailed) as after:
        client.ask("Go on?")
    seen = [repr(client), repr(vars(client)), repr(client._http.headers), str(after.value)]
    for caught in (error.value, after.value):
        seen += traceback.TracebackException.from_exception(caught, capture_locals=True).format()
    assert peer.url in repr(client)
    assert API_KEY not in "".join(seen)


def test_a_transport_of_ones_own_carries_the_requests() -> None:
    asked: list[str] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(401)

    with human.Client("https://handoff.example", API_KEY, transport=httpx2.MockTransport(handle)) as client:
        with pytest.raises(human.InvalidRequest):
            client.ask("Go on?")
    assert asked == ["https://handoff.example/v1/handoffs"]
