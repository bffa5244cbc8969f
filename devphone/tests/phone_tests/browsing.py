"""A Chromium for tests of the page, somebody who looks at it, and whether everybody can use what is there.

The browser is the one on the PATH; nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

PICTURES = Path(__file__).resolve().parents[3] / ".artefacts" / "screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE_SIZE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
TARGET_PX = 44
"""What a finger hits; WCAG 2.5.5. Links inside a sentence are excepted there."""

_AXE = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "resultTypes": ["violations"],
}
# Notes what moved by itself (https://web.dev/articles/cls) and what would be heard: a machine that runs tests
# has no loudspeaker and no voice.
_WATCH = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift" });
window.tones = [];
window.OscillatorNode = class extends OscillatorNode {
  constructor(context, options) { super(context, options); window.tones.push(options.frequency); }
};
window.words = [];
speechSynthesis.speak = (utterance) => { window.words.push(utterance.text); };
"""
_SMALL = """(least) => [...document.querySelectorAll("button, input:not([type=checkbox]), select, summary")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < least)
  .map((one) => `${one.outerHTML.slice(0, 80)} is ${one.getBoundingClientRect().height} px high`)"""

_TOO_WIDE = """() => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  return [...document.body.querySelectorAll("*")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > root.clientWidth + 1)
    .map((one) => `too wide: ${one.outerHTML.slice(0, 100)}`);
}"""


@contextmanager
def launched() -> Iterator[Browser]:
    """A running Chromium. None on the PATH: a visible skip, but a failure where CI is set."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing = f"none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI"):
            pytest.fail(f"CI is set and there is no browser: {missing}")
        pytest.skip(f"no browser: {missing}")
    # Chromium's sandbox refuses to work for root, which is who runs things in a container.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


class Looker:
    """One window on the dev phone's page. `problems` is whatever a page should not have."""

    def __init__(self, browser: Browser, url: str, dark: bool, options: dict[str, Any]) -> None:
        """`url` is the page; `dark` what the reader's system says."""
        self.problems: list[str] = []
        self._origin = url.split("/?")[0].rstrip("/")
        self._context: BrowserContext = browser.new_context(
            **options, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        self._context.set_default_timeout(5000)
        self._context.add_init_script(_WATCH)
        self._context.on("console", self._on_console)
        self._context.on("weberror", lambda error: self.problems.append(f"exception: {error.error}"))
        self._context.on("request", self._on_request)
        self.page: Page = self._context.new_page()
        self.page.goto(url)
        self.page.locator("#sound").wait_for()

    def wrong(self) -> list[str]:
        """What keeps people from using the page as it is now, and whether it is too wide or moved."""
        page = self.page
        page.evaluate(AXE_SCRIPT)
        found: list[dict[str, Any]] = page.evaluate(
            "(options) => axe.run(document, options).then((all) => all.violations)", _AXE
        )
        wrong = [
            f"axe {one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes'][:3]]}"
            for one in found
        ]
        wrong += page.evaluate(_SMALL, TARGET_PX)
        return wrong + self.too_wide()

    def too_wide(self) -> list[str]:
        """What does not fit the screen's width, if it can be scrolled sideways."""
        found: list[str] = self.page.evaluate(_TOO_WIDE)
        return found

    def picture(self, name: str, whole: bool = False) -> None:
        """Keep a screenshot, for people to look at."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"devphone-{name}.png", full_page=whole, scale="css")

    def sees_it(self, scheme: str) -> None:
        """By day (`light`) or by night (`dark`), whatever the reader's system said before."""
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")

    def narrow(self, letters_px: int) -> None:
        """The smallest screen, for a reader whose letters have this size; 16 is usual, 32 is 200 %."""
        self.page.set_viewport_size({"width": 320, "height": 568})
        sizes = {"standard": letters_px, "fixed": letters_px - 3}
        self._context.new_cdp_session(self.page).send("Page.setFontSizes", {"fontSizes": sizes})

    def moved_while(self) -> float:
        """How much moved by itself since the last time this was asked."""
        wait = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        return float(
            self.page.evaluate(f"{wait}.then(() => {{ const was = shifted; shifted = 0; return was; }})")
        )

    def leave(self) -> None:
        """Close the window."""
        self._context.close()

    def _on_console(self, message: ConsoleMessage) -> None:
        # Chromium says so of every answer from 400 on; a refusal is shown on the page.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(self._origin):
            self.problems.append(f"elsewhere: {request.method} {request.url}")
