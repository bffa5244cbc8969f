"""What the gateway sends to Twilio when it places a call or sends a text.

What a failed create is taken for is in test_gateway_failures.py.
"""

from __future__ import annotations

import pytest

from tests.shared_data import shared
from voice.gateway import Gateway, Permanent, Placed

from .twilio_peer import ADA, OURS, SID, STATUS_URL, VOICE_URL, Peer, gateway, ring


def test_it_is_a_gateway() -> None:
    one: Gateway = gateway("http://127.0.0.1:9")
    assert one


def test_a_call_is_asked_for_once_with_four_events_in_fields_of_their_own(peer: Peer) -> None:
    # Telephony cases 13 and 14: one field "initiated ringing ..." or a mis-cased name would lose callbacks.
    assert ring(peer.url) == Placed("CA1")
    assert peer.asked == [
        (
            "POST",
            f"/2010-04-01/Accounts/{SID}/Calls.json",
            {
                "To": [ADA],
                "From": [OURS],
                "Url": [VOICE_URL],
                "Method": ["POST"],
                "FallbackUrl": [VOICE_URL],
                "FallbackMethod": ["POST"],
                "StatusCallback": [STATUS_URL],
                "StatusCallbackEvent": ["initiated", "ringing", "answered", "completed"],
                "StatusCallbackMethod": ["POST"],
                "Timeout": ["25"],
                "TimeLimit": ["600"],
            },
        )
    ]


def test_machine_detection_is_asked_for_in_the_background_only(peer: Peer) -> None:
    # Without the callback's address Twilio would tell the verdict to nobody:
    # https://www.twilio.com/docs/api/errors/21262
    ring(peer.url, machine_url="https://pub.example/machine")
    [(_, _, fields)] = peer.asked
    assert {name: fields[name] for name in fields if "Machine" in name or "Amd" in name} == {
        "MachineDetection": ["DetectMessageEnd"],
        "AsyncAmd": ["true"],
        "AsyncAmdStatusCallback": ["https://pub.example/machine"],
        "AsyncAmdStatusCallbackMethod": ["POST"],
    }


def test_every_field_of_a_create_is_one_that_twilio_knows(peer: Peer) -> None:
    # Telephony case 14, against Twilio's own description: an unknown name would be ignored silently.
    paths = shared("twilio/twilio_api_v2010.json")["paths"]
    ring(peer.url, machine_url="https://pub.example/machine")
    gateway(peer.url).send_text(ADA, "hello", status_url=STATUS_URL, valid_s=60)
    for (_, path, fields), resource in zip(peer.asked, ("Calls", "Messages"), strict=True):
        assert path.endswith(f"/{resource}.json")
        post = paths[f"/2010-04-01/Accounts/{{AccountSid}}/{resource}.json"]["post"]
        known = post["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]["properties"]
        assert set(fields) <= set(known)


@pytest.mark.parametrize(("valid_s", "sent"), [(300, "300"), (0, "1"), (10**6, "36000")])
def test_a_text_is_dropped_when_it_would_come_too_late(peer: Peer, valid_s: int, sent: str) -> None:
    peer.answer = (201, {"sid": "SM1", "status": "queued"})
    placed = gateway(peer.url).send_text(ADA, "hello", status_url=STATUS_URL, valid_s=valid_s)
    assert placed == Placed("SM1")
    ((_, _, fields),) = peer.asked
    assert (fields["Body"], fields["ValidityPeriod"], fields["To"]) == (["hello"], [sent], [ADA])


def test_a_messaging_service_sends_texts_and_calls_nobody(peer: Peer) -> None:
    service = "MG" + "0" * 32
    one = gateway(peer.url, messaging_service=service)
    one.send_text(ADA, "hello", status_url=STATUS_URL, valid_s=60)
    ring(peer.url, messaging_service=service)
    (_, _, text), (_, _, call) = peer.asked
    assert text["MessagingServiceSid"] == [service] and "From" not in text
    assert call["From"] == [OURS] and "MessagingServiceSid" not in call


def test_our_own_number_is_never_called_or_texted(peer: Peer) -> None:
    one = gateway(peer.url)
    with pytest.raises(Permanent):
        one.place_call(OURS, voice_url=VOICE_URL, status_url=STATUS_URL, ring_s=25, time_limit_s=600)
    with pytest.raises(Permanent):
        one.send_text(OURS, "hello", status_url=STATUS_URL, valid_s=60)
    assert peer.asked == []
