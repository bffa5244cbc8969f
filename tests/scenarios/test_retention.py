"""What is left of a handoff after its time, and what never is."""

from __future__ import annotations

from handoff.moments import DAY
from tests.world import REASON, MakeWorld, World

#: What keyspace.py says may stay when every handoff is gone.
STAYS = {"keys", "keys:hashes", "seen", "wakes"}


def test_thirty_days_after_the_close_nothing_is_left_but_the_idempotency_key(world: World) -> None:
    opened = world.open(key="refund-1009", reason=REASON)
    page = world.page(world.ada)
    call = world.ada.expect_call("Handoff for")
    page.press("It’s done")
    call.hears("You did it")
    world.advance(60)
    world.advance(30 * 86_400 - 61)
    assert world.show(opened)["state"] == "resolved", "a second early, everything is there"
    world.advance(2)
    assert world.http.get(f"/v1/handoffs/{opened['id']}").status_code == 404
    left = set(world.keys())
    [idem] = [key for key in left if key.startswith("idem:")]
    rates = {key for key in left if key.startswith("rate:")}
    assert left - {idem} - rates <= STAYS, left
    for key in rates:
        assert 0 < world.redis.ttl(world.key(key)) <= 60
    ttl = world.redis.pttl(world.key(idem))
    assert 399 * DAY < ttl <= 400 * DAY
    assert page.read().status == 404
    asked_again = world.post_opening(key="refund-1009", reason=REASON)
    assert (asked_again.status_code, asked_again.json()["code"]) == (410, "answer_deleted")
    world.settle()
    assert len(world.creates()) == 1, "the same key never rings again"


def test_an_open_handoff_is_never_deleted(world: World) -> None:
    opened = world.open(timeout_s=60 * 86_400)
    for person in (world.ada, world.ben, world.cy):
        world.reached(person).hang_up()
        person.let_ring().decline()
    world.advance(59 * 86_400)
    assert world.show(opened)["state"] == "escalating"
    assert world.operator.resolve(opened["id"]).status_code == 200


def test_the_operator_says_how_long_closed_handoffs_are_kept(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_KEEP_CLOSED_DAYS="1")
    handoffs = [world.open(reason=f"Wall {number}") for number in range(3)]
    world.settle()
    for one in handoffs:
        assert world.operator.cancel(one["id"]).status_code == 200
    world.advance(60)
    world.advance(86_400)
    assert {key for key in world.keys() if not key.startswith(("rate:", "idem:"))} <= STAYS
    assert all(world.redis.ttl(world.key(key)) > 0 for key in world.keys() if key not in STAYS)
    assert world.http.get("/v1/handoffs").json() == {"handoffs": [], "next_cursor": None}
    world.forgives_what_rang()


def test_a_late_report_about_something_deleted_brings_nothing_back(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_KEEP_CLOSED_DAYS="1")
    handoff = world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    world.advance(60)
    [call], [text] = world.creates(), world.creates("Messages")
    world.advance(86_400)
    assert world.http.get(f"/v1/handoffs/{handoff['id']}").status_code == 404
    before = world.keys()
    for create, fields in (
        (call, {"CallSid": call["sid"], "CallStatus": "completed"}),
        (text, {"MessageSid": text["sid"], "MessageStatus": "delivered"}),
    ):
        path = create["form"]["StatusCallback"][0].removeprefix(world.url)
        assert world.twilio(path, fields).status_code == 204
    assert world.keys() == before
