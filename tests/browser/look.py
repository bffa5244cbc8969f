"""Whether a page looks and feels right, measured: axe, targets, reflow, keyboard, layout, weight.

Each check answers with what is wrong, so that a test shows all of it at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from .visitor import Visitor

#: The bar for a page without its live view.
HEAVIEST_BYTES = 30_000
#: A quarter of what counts as good (https://web.dev/articles/cls): nothing moves that one would see.
SHIFT = 0.02
#: For a finger; for a mouse, what WCAG 2.2 asks for (2.5.8).
TARGET_PX, MOUSE_TARGET_PX = 44, 24
NARROW_PX = 320

_AXE = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
    "resultTypes": ["violations"],
    "iframes": False,
}

#: What can be pressed or filled in, and is in sight.
_TARGETS = """
const inSight = (one) => {
  const box = one.getBoundingClientRect();
  return one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    && box.width > 1 && box.height > 1 && box.right > 0 && box.bottom + scrollY > 0;
};
const all = "a[href], button, input:not([type=hidden]), select, textarea, summary, iframe, [tabindex='0']";
const targets = () => [...document.querySelectorAll(all)].filter((one) => !one.disabled && inSight(one));
const named = (one) => {
  const words = one.innerText || one.name || one.title || "";
  return `${one.localName} "${words.trim().slice(0, 40)}"`;
};
"""

#: What a finger hits counts, however it is painted. Links within a sentence are as high as its lines (WCAG
#: 2.2, 2.5.8 makes the same exception).
_SMALL = (
    "(least) => {"
    + _TARGETS
    + """
  const inSentence = (one) => one.localName === "a" && one.closest("p, dd, dt") !== null
    && getComputedStyle(one).display === "inline";
  const isHit = (one) => {
    one.scrollIntoView({ block: "center" });
    const box = one.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
    const far = least / 2 - 1;
    return [y - far, y + far].every((at) => one.contains(document.elementFromPoint(x, at)));
  };
  return targets().filter((one) => one.localName !== "iframe" && !inSentence(one))
    .filter((one) => one.getBoundingClientRect().height < least && !isHit(one))
    .map((one) => `${named(one)} is ${one.getBoundingClientRect().height} px high`);
}"""
)

_FORGET_SHIFTS = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  .then(() => { window.shifted = 0; })"""

_COUNT = "() => {" + _TARGETS + "window.walked = targets(); return window.walked.map(named); }"

_FOCUSED = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [window.walked.indexOf(one), ring || style.boxShadow !== "none"];
}"""

_TOO_WIDE = """() => {
  const root = document.documentElement, wide = root.clientWidth;
  if (root.scrollWidth <= wide) return [];
  const over = [...document.body.querySelectorAll("*")]
    .filter((one) => one.getBoundingClientRect().right > wide + 1).slice(0, 3)
    .map((one) => one.outerHTML.slice(0, 80));
  return [`${root.scrollWidth} px on a screen of ${wide}: ${over}`];
}"""


def wrong_with(visitor: Visitor, *, picture: Callable[[str], None] | None = None) -> list[str]:
    """Everything that is wrong with the page in front, light and dark. The window is as before afterwards."""
    page, found = visitor.page, list[str]()
    page.evaluate(AXE_SCRIPT)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if picture:
            picture(scheme)
        found += [f"{scheme}: {problem}" for problem in _axe(page)]
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    found += page.evaluate(_SMALL, TARGET_PX if visitor.device.touch else MOUSE_TARGET_PX)
    found += moved(visitor)
    found += _too_wide(visitor)
    page.evaluate(_FORGET_SHIFTS)  # the screen's own changes of size
    return found


def moved(visitor: Visitor) -> list[str]:
    """Whether things moved under the eye since the page was loaded."""
    shifted = float(visitor.page.evaluate("window.shifted"))
    return [f"the layout shifted by {shifted:.3f}"] if shifted >= SHIFT else []


def too_heavy(visitor: Visitor, url: str) -> list[str]:
    """Whether the page behind this address takes too long to fetch, with all that it loads."""
    visitor.open(url)
    weight = visitor.weight
    assert weight > 500, "nothing was measured"
    return [f"{weight} bytes over the wire"] if weight > HEAVIEST_BYTES else []


def unreachable_by_keyboard(visitor: Visitor) -> list[str]:
    """What Tab does not reach, in the order of the page, and what does not show that it has the focus."""
    page = visitor.page
    page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
    names: list[str] = page.evaluate(_COUNT)
    assert names, "there is nothing to reach on this page"
    reached, found = list[int](), list[str]()
    for _ in range(3 * len(names) + 3):
        page.keyboard.press("Tab")
        at, seen = page.evaluate(_FOCUSED)
        if at < 0 or at in reached:
            continue
        if not seen and not names[at].startswith("iframe"):
            found.append(f"{names[at]} does not show that it has the focus")
        reached.append(at)
        if len(reached) == len(names):
            break
    found += [f"{name} is not reached" for at, name in enumerate(names) if at not in reached]
    # Where Tab begins is where one was last; from there on it goes round in the page's own order.
    first = reached.index(min(reached)) if reached else 0
    if reached[first:] + reached[:first] != sorted(reached):
        found.append(f"the order is {[names[at] for at in reached]}")
    return found


def _axe(page: Page) -> list[str]:
    violations: list[dict[str, Any]] = page.evaluate(
        "(options) => axe.run(document, options).then((all) => all.violations)", _AXE
    )
    return [
        f"axe {one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes'][:3]]}"
        for one in violations
    ]


def _too_wide(visitor: Visitor) -> list[str]:
    """On the narrowest screen, and with letters twice as large on the device's own."""
    page, device = visitor.page, visitor.device
    page.set_viewport_size({"width": NARROW_PX, "height": 568})
    found = [f"narrow: {problem}" for problem in page.evaluate(_TOO_WIDE)]
    page.set_viewport_size({"width": device.width, "height": device.height})
    before = _letter_px(page)
    visitor.wire.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
    if _letter_px(page) < 1.9 * before:
        found.append(f"text does not grow with the reader's letters: {before} px stay {_letter_px(page)} px")
    found += [f"large letters: {problem}" for problem in page.evaluate(_TOO_WIDE)]
    visitor.wire.send("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
    return found


def _letter_px(page: Page) -> float:
    text = "document.querySelector('main p') ?? document.querySelector('main')"
    return float(page.evaluate(f"parseFloat(getComputedStyle({text}).fontSize)"))
