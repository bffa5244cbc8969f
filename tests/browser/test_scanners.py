"""What opens links without being asked: previews, mail scanners, headless browsers that run scripts.

They prove nothing and change nothing, however long they stay (promise 4).
"""

from __future__ import annotations

import pytest

from .conftest import Visit, places
from .stage import Stage


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_a_scanner_that_renders_the_page_changes_nothing(visit: Visit, stage: Stage, scripts: bool) -> None:
    stage.opens(live_view_url="http://127.0.0.1:9/never-asked")
    before = stage.record
    events = len(stage.world.events(stage.handoff))
    scanner = visit(*places(stage), scripts=scripts)
    if scripts:
        scanner.page.clock.install(time=stage.world.now / 1000)
    for _ in range(3):
        scanner.open(stage.ada)
        scanner.page.mouse.wheel(0, 2_000)
        scanner.page.keyboard.press("Tab")
    if scripts:
        scanner.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        scanner.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        scanner.page.clock.run_for(60_000)
    for verb in ("acknowledgement", "resolution", "refusal", "extension"):
        scanner.open(f"{stage.ada}/{verb}")
    assert stage.record == before
    assert len(stage.world.events(stage.handoff)) == events
    assert {request.method for request in scanner.requests} == {"GET"}
    scanner.forgive_if_any("404|405")


def test_a_scanner_that_follows_every_link_changes_nothing(visit: Visit, stage: Stage) -> None:
    stage.opens()
    before = stage.record
    scanner = visit(*places(stage))
    scanner.open(stage.ada)
    for link in scanner.page.eval_on_selector_all("a[href]", "(all) => all.map((one) => one.href)"):
        scanner.open(link)
    assert stage.record == before
