"""The operator's pages on a phone and on a desk: axe, targets, reflow, large letters, weight, keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from handoff import opt_outs
from handoff.models import Channel
from handoff.notices import Stopped
from handoff.store import Plan
from tests.world import ADA
from tests.world.world import OPERATOR_KEY

from .chromium import DESKTOP, PHONE, Device
from .conftest import TakePicture, Visit
from .look import too_heavy, unreachable_by_keyboard, wrong_with
from .stage import Stage
from .visitor import Visitor

SCREENS = pytest.mark.parametrize("device", [PHONE, DESKTOP], ids=["phone", "desktop"])


def _open(path: str) -> Callable[[Stage, Visitor], object]:
    return lambda stage, desk: desk.open(stage.world.url + path.replace("ID", stage.handoff))


def _refused(stage: Stage, desk: Visitor) -> None:
    desk.open(f"{stage.world.url}/sign-in")
    desk.write(re.compile("API key"), "hk_" + "x" * 40)
    desk.tap(desk.page.get_by_role("main").get_by_role("button"))
    desk.find(re.compile(""), "alert").first.wait_for()
    desk.forgive("40[13]|422")


def _wrong_code(stage: Stage, desk: Visitor) -> None:
    desk.open(f"{stage.world.url}/c")
    desk.write("code", "482913")
    desk.tap("Open my page")
    desk.sees("opens nothing")
    desk.forgive("40[0-9]|422")


def _refused_by_an_operator(stage: Stage, desk: Visitor) -> None:
    stage.world.operator.refuse(stage.handoff, comment="Not tonight \u202egninrom")
    desk.open(f"{stage.world.url}/handoffs/{stage.handoff}")


def _take(take_picture: TakePicture, desk: Visitor, state: str, scheme: str) -> None:
    take_picture(desk, f"{state} {scheme}")


ANYBODY: dict[str, Callable[[Stage, Visitor], object]] = {
    "front door": _open("/"),
    "sign in": _open("/sign-in"),
    "refused": _refused,
    "contact card": _open("/card"),
    "code": _open("/c"),
    "wrong code": _wrong_code,
}
OPERATORS: dict[str, Callable[[Stage, Visitor], object]] = {
    "list": _open("/"),
    "nothing like that": _open("/?state=declined"),
    "one that is open": _open("/handoffs/ID"),
    "one that is over": _refused_by_an_operator,
}


@SCREENS
@pytest.mark.parametrize("state", ANYBODY)
def test_pages_for_anybody_look_right(
    visit: Visit, stage: Stage, take_picture: TakePicture, device: Device, state: str
) -> None:
    desk = visit(stage.world.url, device=device)
    ANYBODY[state](stage, desk)
    wrong = wrong_with(desk, picture=lambda scheme: take_picture(desk, scheme))
    assert not wrong, "\n".join(wrong)


def test_the_docs_look_right(visit: Visit, stage: Stage, take_picture: TakePicture) -> None:
    phone = visit(stage.world.url, device=PHONE)
    phone.open(f"{stage.world.url}/docs")
    wrong = wrong_with(phone, picture=lambda scheme: take_picture(phone, scheme))
    assert not wrong, "\n".join(wrong)


@SCREENS
def test_the_operators_pages_look_right(
    visit: Visit, stage: Stage, take_picture: TakePicture, device: Device
) -> None:
    """The list, the list with nothing in it, a handoff that is open, and the same when it is over."""
    _night(stage)
    desk = visit(stage.world.url, device=device)
    _signs_in(desk, stage)
    wrong = []
    for state, bring in OPERATORS.items():
        bring(stage, desk)
        found = wrong_with(desk, picture=partial(_take, take_picture, desk, state))
        wrong += [f"{state}: {one}" for one in found]
    assert not wrong, "\n".join(wrong)


def test_they_are_light_on_the_line(visit: Visit, stage: Stage) -> None:
    """Also the list's whole first page."""
    for number in range(24):
        opened = stage.world.open(reason=f"Wall number {number}", notify="none")
        stage.world.operator.cancel(str(opened["id"]))
    _night(stage)
    desk = visit(stage.world.url, device=DESKTOP)
    wrong = [f"front door: {one}" for one in too_heavy(desk, f"{stage.world.url}/")]
    _signs_in(desk, stage)
    wrong += [f"list: {one}" for one in too_heavy(desk, f"{stage.world.url}/")]
    wrong += [f"handoff: {one}" for one in too_heavy(desk, f"{stage.world.url}/handoffs/{stage.handoff}")]
    assert not wrong, "\n".join(wrong)


def test_everything_is_reached_by_tab(visit: Visit, stage: Stage) -> None:
    _night(stage)
    desk = visit(stage.world.url, device=DESKTOP)
    wrong = []
    for path in ("/", "/sign-in", "/card", "/c"):
        desk.open(stage.world.url + path)
        wrong += [f"{path}: {one}" for one in unreachable_by_keyboard(desk)]
    _signs_in(desk, stage)
    for path in ("/", f"/handoffs/{stage.handoff}"):
        desk.open(stage.world.url + path)
        wrong += [f"{path}: {one}" for one in unreachable_by_keyboard(desk)]
    assert not wrong, "\n".join(wrong)


def _night(stage: Stage) -> None:
    """Some handoffs, in several states, and one that is open, which is the stage's own."""
    world = stage.world
    world.operator.resolve(str(world.open(kind="ask", reason="Which size?", notify="none")["id"]), answer="M")
    world.operator.cancel(str(world.open(reason="x" * 200, label="مرحبا", notify="none")["id"]))
    sender = world.services.settings.text_sender
    texts = opt_outs.no_more_texts("ada", "Ada", ADA, sender, Stopped.TEXT, world.now)
    stopped = texts.opt_outs[0].model_copy(update={"channel": Channel.CALL, "key": "call"})
    notices = [texts, opt_outs.kept(stopped, ADA)]
    world.services.store.commit(Plan(notices=notices), world.now)
    stage.opens(label="Order 1009", live_view_url="http://127.0.0.1:9/never-asked")


def _signs_in(desk: Visitor, stage: Stage) -> None:
    desk.open(f"{stage.world.url}/sign-in")
    desk.write(re.compile("API key"), OPERATOR_KEY)
    desk.tap(desk.page.get_by_role("main").get_by_role("button"))
    desk.find(re.compile("Sign out")).wait_for()
