"""Somebody with a browser: opens, taps, types, and is watched all the while.

Every error on the console, every exception in a page, every failed request and every request to a place
that nobody named is a problem, and a test with a problem fails (conftest.py). Whether a page looks right is
looks.py's business.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from re import Pattern
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    WebError,
)
from playwright.sync_api import TimeoutError as TooLate

from .chromium import Device

#: How long anything may take in a browser, in ms: this machine may be busy with other things.
PATIENCE_MS = 10_000
#: A bad line in a train: 400 kbit/s, 400 ms to and fro.
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}

#: Sums up what moved without anybody touching anything (https://web.dev/articles/cls), from the first paint.
#: Chromium's own `hadRecentInput` is also set for half a second after a load on an emulated phone, when most
#: things move; so gestures are noted here. What a press was answered with moves things too, and is what
#: the finger asked for, however late it comes.
_WATCH_LAYOUT = """
window.shifted = 0;
let touched = -Infinity;
for (const gesture of ["pointerdown", "keydown"])
  addEventListener(gesture, () => { touched = performance.now(); }, { capture: true });
const send = window.fetch;
window.fetch = (...asked) => send(...asked).finally(() => {
  if (asked[1]?.method === "POST") touched = performance.now();
});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (entry.startTime - touched > 500) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""

#: Where an open page listens.
_NEWS = re.compile("/news")

_ROLES = Literal["button", "link", "row", "heading", "alert"]


class Visitor:
    """One browser window with cookies of its own. `page` is the tab in front."""

    def __init__(
        self, browser: Browser, device: Device, *, dark: bool, scripts: bool, places: Iterable[str]
    ) -> None:
        """`places` are the addresses that pages may ask for anything; `scripts` False: JavaScript is off."""
        self.device, self.scripts = device, scripts
        self.context: BrowserContext = browser.new_context(
            **device.options, color_scheme="dark" if dark else "light", java_script_enabled=scripts
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.taps = 0
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self._origins = {_origin(place) for place in places}
        self._leaving = False
        if scripts:
            self.context.add_init_script(_WATCH_LAYOUT)
        self.context.on("console", self._on_console)
        self.context.on("weberror", self._on_error)
        self.context.on("request", self._on_request)
        self.context.on("requestfailed", self._on_failure)
        self.page: Page = self.context.new_page()
        self.weight = 0  #: bytes over the wire since the last `open`, headers included
        self.wire = self.context.new_cdp_session(self.page)  #: DevTools' protocol, to the first tab
        self.wire.send("Network.enable")
        self.wire.on("Network.loadingFinished", self._on_loaded)

    # What a person does

    def open(self, url: str) -> Response:
        """Types an address in, once the page before is there. Answers with the document's response."""
        self.page.wait_for_load_state()
        self.weight = 0
        response = self.page.goto(url)
        assert response is not None, url
        return response

    def find(self, name: str | Pattern[str], role: _ROLES = "button") -> Locator:
        """What a screen reader calls so, or part of it."""
        return self.page.get_by_role(role, name=name)

    def tap(self, what: str | Pattern[str] | Locator, role: _ROLES = "button") -> None:
        """One tap (a click, where nothing is touched), as soon as it can be tapped."""
        target = what if isinstance(what, Locator) else self.find(what, role)
        self.taps += 1
        if self.device.touch:
            target.tap()
        else:
            target.click()

    def tap_into_new_tab(self, target: Locator) -> None:
        """Taps a link that opens a tab of its own, and looks at that one from now on."""
        with self.context.expect_page() as opened:
            self.tap(target)
        self.page = opened.value
        self.page.wait_for_load_state()

    def field(self, label: str | Pattern[str]) -> Locator:
        """The field with this label, or part of it."""
        return self.page.get_by_label(label)

    def write(self, label: str | Pattern[str], text: str) -> None:
        """Types into the field with this label, key by key."""
        self.field(label).press_sequentially(text)

    # What a person sees

    def sees(self, words: str, timeout_s: float = PATIENCE_MS / 1000) -> None:
        """Waits until these words are on the page and can be seen. Raises AssertionError."""
        found = self.page.locator("body").get_by_text(words).filter(visible=True).first
        _wait(found, "visible", timeout_s, f"{words!r} is not on the page: {self.words()!r}")

    def sees_no_button(self, timeout_s: float = PATIENCE_MS / 1000) -> None:
        """Waits until there is nothing left to press in the page's main part. Raises AssertionError."""
        found = self.page.get_by_role("main").get_by_role("button").filter(visible=True).first
        _wait(found, "hidden", timeout_s, f"there is still a button: {self.words()!r}")

    def waits_until(self, condition: Callable[[], object], why: str, timeout_s: float = 10) -> None:
        """Waits for something outside of the page, while the browser goes on. Raises AssertionError.

        A wait that keeps this thread to itself also keeps requests that match a route of the test, or did a
        moment ago: Playwright asks here what is to become of them.
        """
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"after {timeout_s:g} s still waiting for: {why}")
            self.page.wait_for_timeout(20)

    def words(self) -> str:
        """All words in sight."""
        return " ".join(self.page.locator("body").inner_text().split())

    def marks_the_page(self) -> None:
        """Leaves a mark in the page that is gone once it was loaded anew."""
        self.page.evaluate("window.marked = true")

    @property
    def still_marked(self) -> bool:
        """Whether this is still the page that was marked."""
        return bool(self.page.evaluate("window.marked === true"))

    # The line

    def slow_line(self) -> None:
        """From now on the first tab's line is bad."""
        self.wire.send("Network.emulateNetworkConditions", SLOW)

    def hears_no_news(self) -> None:
        """From now on what an open page listens for is never answered."""
        self.page.route(_NEWS, lambda _: None)

    def hears_news(self) -> None:
        """From its next request on the page is answered again."""
        self.page.unroute(_NEWS)

    def goes_to(self, place: str) -> None:
        """From now on pages may ask this address as well."""
        self._origins.add(_origin(place))

    def forgive(self, pattern: str) -> None:
        """Problems that this matches were meant. Raises AssertionError when there was none."""
        before = len(self.problems)
        self.forgive_if_any(pattern)
        assert len(self.problems) < before, f"no problem like {pattern!r}, only {self.problems}"

    def forgive_if_any(self, pattern: str) -> None:
        """The same, where it depends on the moment whether there was one."""
        self._catch_up()
        self.problems = [problem for problem in self.problems if not re.search(pattern, problem)]

    # The end

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A screenshot of the tab in front; `whole`: also of what is below the fold."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_load_state()
        self.page.screenshot(path=path, full_page=whole, scale="css", animations="disabled")

    def leave(self) -> None:
        """Closes the window. What a page was still waiting for is no problem."""
        self._catch_up()
        self._leaving = True
        self.context.close()

    def _catch_up(self) -> None:
        """Playwright tells what happened only while it is asked something."""
        for page in self.context.pages:
            page.title()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._problem(f"console: {message.text} ({message.location.get('url', '')})")

    def _on_error(self, error: WebError) -> None:
        self._problem(f"exception: {error.error}")

    def _on_request(self, request: Request) -> None:
        self.requests.append(request)
        if urlsplit(request.url).scheme in ("http", "https", "ws", "wss"):
            if _origin(request.url) not in self._origins:
                self._problem(f"elsewhere: {request.method} {request.url}")

    def _on_loaded(self, event: dict[str, Any]) -> None:
        self.weight += round(event["encodedDataLength"])

    def _on_failure(self, request: Request) -> None:
        why = str(request.failure)
        # A page that is left lets go of what it was waiting for; Chromium calls that a failure, too.
        if why != "net::ERR_ABORTED" or request.resource_type in ("script", "stylesheet"):
            self._problem(f"failed: {request.method} {request.url}: {why}")

    def _problem(self, what: str) -> None:
        if not self._leaving:
            self.problems.append(what)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _wait(found: Locator, state: Any, timeout_s: float, why: str) -> None:
    try:
        found.wait_for(state=state, timeout=timeout_s * 1000)
    except TooLate:
        raise AssertionError(why) from None
