"""The checks themselves: a page with everything wrong is found out, and so is a visitor's problem."""

from __future__ import annotations

from .conftest import Visit
from .look import moved, unreachable_by_keyboard, wrong_with
from .vendor import Vendor

BAD = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Bad</title>
<style>p { color: #aaa; font-size: 14px } button { height: 20px } button:focus { outline: 0 }</style>
<main><h1>Bad</h1><p>pale and fixed</p>
<button>tiny</button><button tabindex="2">first</button><button>last</button>
<div style="width: 600px">wide</div></main></html>"""

#: Only what was painted once can be seen to move.
_PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def test_a_bad_page_is_found_out(visit: Visit, vendor_page: Vendor) -> None:
    vendor_page.page = BAD
    hand = visit(vendor_page.url)
    hand.open(vendor_page.url)
    hand.page.evaluate(_PAINTED)
    assert not moved(hand)
    hand.page.evaluate("document.querySelector('h1').style.marginTop = '300px'")
    hand.page.wait_for_function("window.shifted > 0.02")
    assert moved(hand)
    wrong = "\n".join(wrong_with(hand))
    for what in ("color-contrast", 'button "tiny" is 20 px high', "on a screen of 320", "does not grow"):
        assert what in wrong, what
    unreachable = "\n".join(unreachable_by_keyboard(hand))
    assert "does not show that it has the focus" in unreachable
    assert "the order is" in unreachable


def test_what_goes_wrong_in_a_browser_is_a_problem(visit: Visit) -> None:
    hand = visit()
    hand.page.set_content("<script>console.error('oh'); setTimeout(() => { throw new Error('no') })</script>")
    hand.page.set_content("<img src='http://127.0.0.1:9/elsewhere.png'>")
    hand.forgive("console: oh")
    hand.forgive("exception: .*no")
    hand.forgive("elsewhere: GET")
    hand.forgive("failed: GET")
    hand.forgive("console: Failed")
