"""A Chromium for each file of tests, visitors with it, and the stage they come to.

A visitor's problem fails the test by itself, and of a test that failed there is a picture of every window,
in .artefacts/screenshots. (A Chromium for the whole run would leave Playwright's event loop running in
this thread, where the SDK's own tests need one.)
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser

from tests.world import MakeWorld, World

from . import chromium, vendor
from .chromium import PHONE, Device
from .stage import PEOPLE, Stage
from .vendor import Vendor
from .visitor import Visitor

PICTURES = Path(__file__).resolve().parents[2] / ".artefacts" / "screenshots"
_FAILED = pytest.StashKey[bool]()


class Visit(Protocol):
    """A new window, which may ask these addresses (and every world's own) for something."""

    def __call__(
        self, *places: str, device: Device = PHONE, dark: bool = False, scripts: bool = True
    ) -> Visitor: ...


class TakePicture(Protocol):
    """Keeps a picture of a state that is worth looking at, named after the test."""

    def __call__(self, visitor: Visitor, state: str = "") -> None: ...


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_FAILED] = item.stash.get(_FAILED, False) or report.failed
    return report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.launched() as running:
        yield running


@pytest.fixture
def take_picture(request: pytest.FixtureRequest) -> TakePicture:
    def take(visitor: Visitor, state: str = "") -> None:
        name = "-".join(filter(None, [_name(request), state])).replace(" ", "-")
        visitor.picture(PICTURES / f"{name}.png")

    return take


@pytest.fixture
def elsewhere() -> Iterator[ExitStack]:
    """Servers that visitors turn to besides a world's own; enter them here, then they outlast the visit."""
    with ExitStack() as servers:
        yield servers


@pytest.fixture
def visit(
    browser: Browser,
    request: pytest.FixtureRequest,
    take_picture: TakePicture,
    make_world: MakeWorld,
    elsewhere: ExitStack,
) -> Iterator[Visit]:
    assert make_world and elsewhere, (
        "asked for so that all servers are still there when visitors leave: Chromium asks for an icon late, "
        "and a reset connection is a problem on the page"
    )
    visitors: list[Visitor] = []

    def come(*places: str, device: Device = PHONE, dark: bool = False, scripts: bool = True) -> Visitor:
        visitors.append(Visitor(browser, device, dark=dark, scripts=scripts, places=places))
        return visitors[-1]

    yield come
    if request.node.stash.get(_FAILED, False):
        for number, visitor in enumerate(visitors, 1):
            take_picture(visitor, f"failed-{number}")
    for visitor in visitors:
        visitor.leave()
    problems = [problem for visitor in visitors for problem in visitor.problems]
    assert not problems, "in the browser:\n  " + "\n  ".join(problems)


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """Ada and Ben are rung and texted at the same time; Ada has a PIN."""
    return make_world(together=True, HANDOFF_TO_NUMBER=PEOPLE, HANDOFF_PINS="ada=482913")


@pytest.fixture
def stage(world: World) -> Iterator[Stage]:
    stage = Stage(world)
    yield stage
    stage.over()


@pytest.fixture
def phone(visit: Visit, stage: Stage) -> Visitor:
    """A phone in one hand, in daylight, with JavaScript."""
    return visit(*places(stage))


@pytest.fixture
def vendor_page(elsewhere: ExitStack) -> Vendor:
    return elsewhere.enter_context(vendor.serving())


def places(stage: Stage) -> tuple[str, ...]:
    """What pages may ask for something: the service, and the dev phone."""
    return stage.world.url, stage.world.phone.url


def _name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).removeprefix("test_").replace("[", "-").rstrip("]")
