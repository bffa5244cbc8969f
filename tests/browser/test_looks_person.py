"""The person's page in every state it has: axe, targets, reflow, large letters, layout, weight, keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from .chromium import DESKTOP
from .conftest import TakePicture, Visit, places
from .look import too_heavy, unreachable_by_keyboard, wrong_with
from .stage import DONE, ON_IT, REASON, Stage
from .vendor import Vendor
from .visitor import Visitor

#: With bidi controls, a zero-width space and no place to break a line.
ODD = "Approve \u202eevil\u202c payment\u200b to " + "x" * 180 + " مرحبا"

_FOCUSED = "document.activeElement.matches('body') ? '' : document.activeElement.innerText ?? ''"

Bring = Callable[[Stage, Visitor], object]


def _opens(**body: object) -> Bring:
    def bring(stage: Stage, hand: Visitor) -> None:
        stage.opens(**body)
        hand.open(stage.ada)

    return bring


def _then(first: Bring, *more: Callable[[Stage, Visitor], object]) -> Bring:
    def bring(stage: Stage, hand: Visitor) -> None:
        for step in (first, *more):
            step(stage, hand)

    return bring


def _loads_again(stage: Stage, hand: Visitor) -> None:
    hand.open(stage.ada)


def _unreachable(stage: Stage, hand: Visitor) -> None:
    stage.opens(on_exhausted="fail")
    for person in (stage.world.ada, stage.world.ben):
        person.let_ring().busy()
    stage.world.settle()
    hand.open(stage.ada)


def _pin(stage: Stage, hand: Visitor) -> None:
    stage.opens(notify="none")
    hand.open(str(stage.world.show(stage.handoff)["page_url"]))


def _wrong_pin(stage: Stage, hand: Visitor) -> None:
    _pin(stage, hand)
    hand.field(re.compile("name")).fill("Ada")
    hand.field("PIN").fill("000000")
    hand.tap(hand.page.get_by_role("main").get_by_role("button"))
    hand.page.get_by_role("alert").wait_for()
    hand.forgive("403")


def _code(stage: Stage, hand: Visitor) -> None:
    hand.open(f"{stage.world.services.settings.public_url}/c")


def _wrong_code(stage: Stage, hand: Visitor) -> None:
    _code(stage, hand)
    hand.field(re.compile("code")).fill("000000")
    hand.tap(re.compile("Open my page"))
    hand.page.get_by_role("alert").wait_for()
    hand.forgive("403")


def _without_a_line(_: Stage, hand: Visitor) -> None:
    hand.context.set_offline(True)
    hand.tap(DONE)
    hand.sees("Not sent")
    hand.context.set_offline(False)
    hand.forgive("INTERNET_DISCONNECTED")


def _cancelled_by_the_agent(stage: Stage, _: Visitor) -> None:
    stage.world.http.post(f"/v1/handoffs/{stage.handoff}/cancellation", json={}).raise_for_status()


def _observed(stage: Stage, _: Visitor) -> None:
    stage.world.http.post(f"/v1/handoffs/{stage.handoff}/observation", json={}).raise_for_status()


def _says_why(_: Stage, hand: Visitor) -> None:
    hand.tap(hand.page.locator("summary", has_text=re.compile("can.t")))


def _takes_it(_: Stage, hand: Visitor) -> None:
    hand.tap(ON_IT)
    hand.sees("You are on it")


def _refuses(stage: Stage, hand: Visitor) -> None:
    _says_why(stage, hand)
    hand.tap(re.compile("can.t be done"))
    hand.sees_no_button()


STATES: dict[str, Bring] = {
    "open": _opens(label="Order 1009"),
    "question": _opens(kind="ask", reason="Which address should I ship the teapot to?"),
    "odd words": _opens(reason=ODD, label="مرحبا"),
    "saying why": _then(_opens(), _says_why),
    "i am on it": _then(
        _opens(), lambda _, hand: hand.tap(ON_IT), lambda _, hand: hand.sees("You are on it")
    ),
    "another has it": _then(
        _opens(), lambda stage, _: stage.world.operator.acknowledge(stage.handoff), _loads_again
    ),
    "not sent": _then(_opens(), _without_a_line),
    "done": _then(_opens(), lambda _, hand: hand.tap(DONE), lambda _, hand: hand.sees("goes on")),
    "refused": _then(_opens(), _refuses),
    "done by another": _then(
        _opens(), lambda stage, _: stage.world.operator.resolve(stage.handoff), _loads_again
    ),
    "seen to be gone": _then(_opens(), _observed, _loads_again),
    "time ran out": _then(_opens(timeout_s=60), lambda stage, _: stage.world.advance(61), _loads_again),
    "nobody could be reached": _unreachable,
    "withdrawn by the agent": _then(_opens(), _cancelled_by_the_agent, _loads_again),
    "withdrawn by an operator": _then(
        _opens(), lambda stage, _: stage.world.operator.cancel(stage.handoff), _loads_again
    ),
    "who are you": _pin,
    "wrong pin": _wrong_pin,
    "a code": _code,
    "wrong code": _wrong_code,
}


@pytest.mark.parametrize("state", STATES)
def test_the_page_looks_right(phone: Visitor, stage: Stage, take_picture: TakePicture, state: str) -> None:
    STATES[state](stage, phone)
    wrong = wrong_with(phone, picture=lambda scheme: take_picture(phone, scheme))
    assert not wrong, "\n".join(wrong)


def test_the_page_with_the_agents_browser_looks_right(
    phone: Visitor, stage: Stage, vendor_page: Vendor, take_picture: TakePicture
) -> None:
    phone.goes_to(vendor_page.url)
    stage.opens(live_view_url=vendor_page.url)
    phone.open(stage.ada)
    wrong = [f"before: {one}" for one in wrong_with(phone)]
    phone.tap(re.compile("show me the browser", re.I))
    phone.page.frame_locator("iframe").frame_locator("iframe").get_by_role("button").wait_for()
    wrong += [
        f"after: {one}" for one in wrong_with(phone, picture=lambda scheme: take_picture(phone, scheme))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_link_without_anything_behind_it_looks_right(
    phone: Visitor, stage: Stage, take_picture: TakePicture
) -> None:
    phone.open(f"{stage.world.url}/h/" + "x" * 22)
    wrong = wrong_with(phone, picture=lambda scheme: take_picture(phone, scheme))
    assert not wrong, "\n".join(wrong)
    phone.forgive("404")


@pytest.mark.parametrize("kind", ["clear", "ask"])
def test_it_is_light_on_the_line(phone: Visitor, stage: Stage, kind: str) -> None:
    stage.opens(kind=kind, reason=REASON)
    wrong = too_heavy(phone, stage.ada)
    stage.world.operator.cancel(stage.handoff)
    wrong += too_heavy(phone, stage.ada)
    assert not wrong


def test_everything_is_reached_by_tab_and_pressed_by_enter(
    visit: Visit, stage: Stage, vendor_page: Vendor
) -> None:
    stage.blocks(live_view_url=vendor_page.url)
    desk = visit(*places(stage), vendor_page.url, device=DESKTOP)
    desk.open(stage.ada)
    wrong = unreachable_by_keyboard(desk)
    _by_keyboard(desk, "show me the browser")
    desk.sees("You are on it")
    desk.page.frame_locator("iframe").frame_locator("iframe").get_by_role("button").wait_for()
    _by_keyboard(desk, "can.t, because")
    wrong += unreachable_by_keyboard(desk)
    assert not wrong, "\n".join(wrong)
    _by_keyboard(desk, "It.s done")
    desk.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"


def _by_keyboard(desk: Visitor, words: str) -> None:
    """Tab until what says this has the focus, and Enter."""
    desk.page.evaluate("document.activeElement?.blur()")
    for _ in range(30):
        desk.page.keyboard.press("Tab")
        if re.search(words, desk.page.evaluate(_FOCUSED), re.I):
            desk.page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab never comes to {words!r}")
