"""What an operator must mend is told to them once, and goes when it is proven to be mended."""

from __future__ import annotations

from devphone.testing import CallOnPhone
from tests.world import ADA, OURS, MakeWorld, World, path_of

SERVICE = "MG" + "0123456789abcdef" * 2


def test_a_bad_number_passes_it_on_and_warns_until_it_is_called_again(world: World) -> None:
    world.phone.faults({"rest_error": {"code": 21211}})
    world.open()
    world.ada.expect_text()
    _settles(world, world.reached(world.ben))
    [told] = _warnings(world)
    assert told["words"] == (
        "Ada’s number …0123 is not a good one (Twilio error 21211): correct it where it is configured."
    )
    world.open()
    _settles(world, world.reached(world.ada))
    assert _warnings(world) == [], "it was picked up"


def test_what_our_account_may_not_do_goes_when_it_may(world: World) -> None:
    world.phone.faults({"rest_error": {"code": 21215}})
    world.open()
    world.ada.expect_text()
    _settles(world, world.reached(world.ben))
    [told] = _warnings(world)
    assert "Calls to Ada at …0123 are not allowed: calls to that country are not enabled" in told["words"]
    dismissed = world.operator.http.delete(f"/v1/warnings/{told['id']}")
    assert dismissed.status_code == 200 and _warnings(world) == []


def test_texts_that_are_filtered_are_told_of_until_one_arrives(world: World) -> None:
    world.ada.behaves("rings", texts="undelivered", error_code=30007)
    world.open()
    call = world.ada.expect_call("Handoff for")
    world.settle()
    [told] = _warnings(world)
    assert told["words"].startswith("Texts to anybody fail: carriers filter our texts")
    _settles(world, call)
    world.forgives_what_rang()
    world.ada.behaves("rings", texts="delivered")
    world.open()
    _settles(world, world.reached(world.ada))
    assert _warnings(world) == []


def test_a_messaging_service_sends_the_texts_and_the_number_calls(make_world: MakeWorld) -> None:
    world = make_world(TWILIO_MESSAGING_SERVICE_SID=SERVICE)
    handoff = world.open()
    call = world.reached(world.ada)
    [text], [rung] = world.creates("Messages"), world.creates()
    assert text["form"]["MessagingServiceSid"] == [SERVICE] and "From" not in text["form"]
    assert rung["form"]["From"] == [OURS]
    world.settle()
    assert world.dispositions(handoff, "text") == [("ada", "delivered")]
    stop = {"From": ADA, "To": OURS, "MessagingServiceSid": SERVICE, "Body": "BASTA", "OptOutType": "STOP"}
    path = path_of(world.services.settings.public_url + "/twilio/texts/inbound")
    assert world.twilio(path, stop | {"MessageSid": "SM1"}).status_code == 200
    _settles(world, call)
    world.open()
    _settles(world, world.ada.expect_call("Handoff for"))
    assert len(world.creates("Messages")) == 1
    assert world.twilio(path, stop | {"MessageSid": "SM2", "OptOutType": "START"}).status_code == 200
    assert world.twilio(path, stop | {"MessageSid": "SM1"}).status_code == 200
    assert _warnings(world) == [], "a STOP that is told again stops nothing again"


def _warnings(world: World) -> list[dict[str, str]]:
    found: list[dict[str, str]] = world.operator.http.get("/v1/warnings").json()["warnings"]
    return found


def _settles(world: World, call: CallOnPhone) -> None:
    """Presses 1 when texts are out, and hangs up."""
    world.settle()
    call.press("1").hears("Thank you").hang_up()
    world.settle()
