"""The system's Chromium, and what a visitor holds in the hand: a phone, a small phone, a desk's screen.

Nothing is downloaded: the browser is the one on the PATH. What is done with it is visitor.py's business.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Device:
    """A screen in CSS pixels, and whether it is touched."""

    width: int
    height: int
    touch: bool = True
    pixels: float = 3

    @property
    def options(self) -> dict[str, Any]:
        """As Playwright's contexts take it."""
        return {
            "viewport": {"width": self.width, "height": self.height},
            "has_touch": self.touch,
            "is_mobile": self.touch,
            "device_scale_factor": self.pixels,
        }


PHONE = Device(390, 844)
DESKTOP = Device(1280, 800, touch=False, pixels=1)


@contextmanager
def launched() -> Iterator[Browser]:
    """A running Chromium. None on the PATH: a skip on a laptop, a failure where CI is set."""
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
