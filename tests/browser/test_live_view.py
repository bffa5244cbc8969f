"""The agent's browser in our own frame: shown after a tap, left alone by updates, gone at the end."""

from __future__ import annotations

import re

from playwright.sync_api import FrameLocator

from .conftest import TakePicture, Visit, places
from .stage import DONE, Stage
from .vendor import Vendor
from .visitor import Visitor

SHOW = re.compile("show me the browser", re.I)


def test_the_frame_shows_the_browser_lets_one_work_in_it_and_goes_at_the_end(
    phone: Visitor, stage: Stage, vendor_page: Vendor, take_picture: TakePicture
) -> None:
    _looks_in(phone, stage, vendor_page)
    box = _browser(phone).get_by_role("button", name="I am human")
    box.tap()
    _browser(phone).get_by_role("button", name="Ticked").wait_for()
    take_picture(phone, "ticked")
    phone.tap(DONE)
    phone.sees("goes on")
    assert phone.page.locator("iframe").count() == 0
    assert vendor_page.referers == [], "where the visitor came from is nobody's business"


def test_what_happens_elsewhere_does_not_load_the_frame_anew(
    phone: Visitor, stage: Stage, vendor_page: Vendor
) -> None:
    _looks_in(phone, stage, vendor_page)
    _browser(phone).get_by_role("button", name="I am human").tap()
    shown = phone.page.locator("time").first.get_attribute("datetime")
    phone.tap(re.compile("10 more minutes"))
    phone.page.locator(f"time:not([datetime='{shown}'])").first.wait_for()
    _browser(phone).get_by_role("button", name="Ticked").wait_for()
    assert vendor_page.loads == 1


def test_the_frame_goes_by_itself_when_somebody_else_settled_it(
    phone: Visitor, stage: Stage, vendor_page: Vendor
) -> None:
    _looks_in(phone, stage, vendor_page)
    stage.world.operator.resolve(stage.handoff)
    phone.sees("goes on")
    assert phone.page.locator("iframe").count() == 0
    phone.open(f"{stage.ada}/view")
    phone.sees("over")
    assert phone.page.locator("iframe").count() == 0


def test_full_size_opens_a_tab_that_knows_nothing_of_us(
    phone: Visitor, stage: Stage, vendor_page: Vendor
) -> None:
    _looks_in(phone, stage, vendor_page)
    phone.tap_into_new_tab(phone.find(re.compile("full size", re.I), "link"))
    assert phone.page.url == vendor_page.url
    assert phone.page.evaluate("[window.opener, document.referrer]") == [None, ""]
    assert vendor_page.referers == []


def test_nobody_sees_the_browser_who_did_not_take_it(
    phone: Visitor, visit: Visit, stage: Stage, vendor_page: Vendor
) -> None:
    stage.opens(live_view_url=vendor_page.url)
    phone.open(f"{stage.ada}/view")
    assert phone.page.locator("iframe").count() == 0
    ben = visit(*places(stage), vendor_page.url)
    ben.open(stage.ben)
    ben.tap(SHOW)
    _browser(ben).get_by_role("button", name="I am human").wait_for()
    phone.open(f"{stage.ada}/view")
    assert phone.page.locator("iframe").count() == 0
    assert vendor_page.loads == 1


def test_nobody_frames_our_page(phone: Visitor, stage: Stage, vendor_page: Vendor) -> None:
    """A site that lays our button under something that one likes to press gets an empty frame."""
    stage.opens()
    vendor_page.page = f"<!doctype html><title>Win a teapot</title><iframe src='{stage.ada}'></iframe>"
    phone.goes_to(vendor_page.url)
    phone.open(vendor_page.url)
    phone.page.wait_for_load_state("networkidle")
    assert phone.page.frame_locator("iframe").get_by_role("button").count() == 0
    phone.forgive("frame|BLOCKED_BY_RESPONSE")


def _looks_in(phone: Visitor, stage: Stage, vendor_page: Vendor) -> None:
    phone.goes_to(vendor_page.url)
    stage.opens(live_view_url=vendor_page.url)
    phone.open(stage.ada)
    phone.tap(SHOW)
    _browser(phone).get_by_role("button", name="I am human").wait_for()


def _browser(phone: Visitor) -> FrameLocator:
    """The vendor's page, in our frame document, in our page."""
    return phone.page.frame_locator("iframe").frame_locator("iframe")
