"""Calls that Twilio has already: hung up, sent elsewhere, looked up, and found again when a create was lost.

How a call is asked for is in test_gateway_creates.py.
"""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import pytest

from voice.gateway import CallReport, Permanent, Unknown

from .twilio_peer import ADA, OURS, SID, VOICE_URL, Peer, gateway


def call(sid: str, created: str, **changed: Any) -> dict[str, Any]:
    """One row of Twilio's list of calls."""
    row = {"sid": sid, "date_created": created, "direction": "outbound-api", "status": "in-progress"}
    return row | {"to": ADA, "from": OURS, "answered_by": None} | changed


def listing(*calls: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """A page of Twilio's list of calls."""
    return 200, {"calls": list(calls), "next_page_uri": None, "page": 0, "page_size": 1000}


def test_hanging_up_does_not_trust_what_the_api_says_first(peer: Peer) -> None:
    # Telephony case 21: no look-up before it, and `completed` ends a ringing call as well.
    peer.answer = (200, call("CA1", "Mon, 30 Nov 2026 03:00:00 +0000", status="queued"))
    gateway(peer.url).hang_up("CA1")
    assert peer.asked == [("POST", f"/2010-04-01/Accounts/{SID}/Calls/CA1.json", {"Status": ["completed"]})]


def test_hanging_up_what_has_ended_is_success(peer: Peer) -> None:
    peer.answer = (400, {"code": 21220, "message": "not in-progress", "status": 400})
    gateway(peer.url).hang_up("CA1")
    with pytest.raises(Permanent) as caught:
        gateway(peer.url).redirect("CA1", VOICE_URL)
    assert caught.value.code == 21220
    peer.answer = (404, {"code": 20404, "message": "not found", "status": 404})
    with pytest.raises(Permanent):
        gateway(peer.url).hang_up("CA1")


def test_a_call_under_way_can_be_sent_elsewhere(peer: Peer) -> None:
    peer.answer = (200, call("CA1", "Mon, 30 Nov 2026 03:00:00 +0000"))
    gateway(peer.url).redirect("CA1", VOICE_URL)
    assert peer.asked[0][2] == {"Url": [VOICE_URL], "Method": ["POST"]}


def test_a_look_up_reports_the_providers_words(peer: Peer) -> None:
    peer.answer = (200, call("CA1", "Mon, 30 Nov 2026 03:00:00 +0000", answered_by="machine_start"))
    report = gateway(peer.url).look_up("CA1")
    assert report == CallReport("CA1", "in-progress", None, "machine_start")
    peer.answer = (200, {"sid": "CA1"})
    with pytest.raises(Unknown):
        gateway(peer.url).look_up("CA1")


SINCE_MS = 1_796_007_601_500  # Mon, 30 Nov 2026 03:00:01.5 UTC


def test_a_lost_call_is_found_among_older_inbound_and_dialled_ones(peer: Peer) -> None:
    peer.answer = listing(
        call("CA-older", "Mon, 30 Nov 2026 03:00:00 +0000"),
        call("CA-ours", "Mon, 30 Nov 2026 03:00:01 +0000"),
        call("CA-inbound", "Mon, 30 Nov 2026 03:00:05 +0000", direction="inbound"),
        call("CA-leg", "Mon, 30 Nov 2026 03:00:06 +0000", direction="outbound-dial"),
    )
    found = gateway(peer.url).find_call(ADA, since_ms=SINCE_MS, now_ms=SINCE_MS)
    assert found == CallReport("CA-ours", "in-progress")
    ((method, path, fields),) = peer.asked
    assert (method, path) == ("GET", f"/2010-04-01/Accounts/{SID}/Calls.json")
    assert (fields["To"], fields["From"], fields["StartTime>"]) == ([ADA], [OURS], ["2026-11-30"])


def test_the_newest_is_found_in_whatever_order_the_rows_come(peer: Peer) -> None:
    rows = [call(f"CA{n}", f"Mon, 30 Nov 2026 03:00:0{n} +0000") for n in (3, 5, 2, 4)]
    peer.answer = listing(*rows)
    found = gateway(peer.url).find_call(ADA, since_ms=SINCE_MS, now_ms=SINCE_MS)
    assert found is not None
    assert found.provider_id == "CA5"


def test_a_call_still_in_the_queue_has_no_start_and_is_found_by_its_status(peer: Peer) -> None:
    waiting = call("CA-waiting", "Mon, 30 Nov 2026 03:00:02 +0000", status="queued", start_time=None)
    peer.answers = [listing(), listing(waiting)]
    found = gateway(peer.url).find_call(ADA, since_ms=SINCE_MS, now_ms=SINCE_MS)
    assert found == CallReport("CA-waiting", "queued")
    assert peer.asked[1][2]["Status"] == ["queued"]
    assert "StartTime>" not in peer.asked[1][2]


def test_a_call_that_never_arrived_is_not_found(peer: Peer) -> None:
    peer.answer = listing(call("CA-older", "Mon, 30 Nov 2026 02:59:59 +0000"), call("CA-undated", ""))
    assert gateway(peer.url).find_call(ADA, since_ms=SINCE_MS, now_ms=SINCE_MS) is None


def test_a_call_that_their_clock_dated_before_we_asked_is_found_when_ours_is_ahead(peer: Peer) -> None:
    """The peer dates its answers with this machine's clock; ours is taken to be 5 s ahead of it."""
    now_ms = int(time.time() * 1000) + 5_000
    dated = formatdate(now_ms // 1000 - 5)
    peer.answer = listing(call("CA-ours", dated))
    found = gateway(peer.url).find_call(ADA, since_ms=now_ms, now_ms=now_ms)
    assert found is not None and found.provider_id == "CA-ours"
    hour_old = listing(call("CA-older", formatdate(now_ms // 1000 - 3_600)))
    peer.answer = hour_old
    assert gateway(peer.url).find_call(ADA, since_ms=now_ms, now_ms=now_ms + 7_200_000) is None
