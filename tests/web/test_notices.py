"""Opt-outs and warnings, for operators: over the API and on their list; and nobody else's business."""

from __future__ import annotations

import re

import pytest

from handoff import opt_outs
from handoff.notices import Stopped
from handoff.store import Plan

from .operators_browser import Browser, signed_in
from .site import Site, check_problem

ADA, OURS = "+12125550123", "+12125550100"


@pytest.fixture
def needs(site: Site) -> Site:
    """A site where Ada has texted STOP."""
    notices = opt_outs.no_more_texts("ada", "Ada <b>", ADA, OURS, Stopped.TEXT, site.now)
    site.services.store.commit(Plan(notices=[notices]), site.now)
    return site


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/opt-outs"),
        ("GET", "/v1/warnings"),
        ("DELETE", "/v1/opt-outs/oo_x"),
        ("DELETE", "/v1/warnings/wa_x"),
    ],
)
def test_only_operators_see_and_mend_them(needs: Site, method: str, path: str) -> None:
    assert needs.anybody(method, path).status_code == 401
    refused = needs.agent(method, path)
    assert (refused.status_code, check_problem(refused)["code"]) == (403, "forbidden")
    assert needs.operator(method, path).status_code == (404 if method == "DELETE" else 200)


def test_lifting_one_takes_its_warning_along_and_dismissing_does_not_lift(needs: Site) -> None:
    [told] = needs.operator.get("/v1/warnings").get_json()["warnings"]
    [kept] = needs.operator.get("/v1/opt-outs").get_json()["opt_outs"]
    assert (told["kind"], told["opt_out"], kept["how"]) == ("no_texts", kept["id"], "text")
    assert ADA not in str(told) + str(kept)
    assert needs.operator("DELETE", f"/v1/warnings/{told['id']}").status_code == 200
    assert needs.operator.get("/v1/opt-outs").get_json()["opt_outs"] == [kept]
    assert needs.operator("DELETE", f"/v1/opt-outs/{kept['id']}").get_json() == kept
    assert needs.operator("DELETE", f"/v1/opt-outs/{kept['id']}").status_code == 404
    assert needs.operator.get("/v1/opt-outs").get_json() == {"opt_outs": []}


def test_what_is_seen_again_counts_in_one_row_with_one_id(needs: Site) -> None:
    before = needs.operator.get("/v1/warnings").get_json()["warnings"]
    needs.now += 60_000
    again = opt_outs.no_more_texts("ada", "Ada", ADA, OURS, Stopped.PROVIDER, needs.now)
    needs.services.store.commit(Plan(notices=[again]), needs.now)
    [told] = needs.operator.get("/v1/warnings").get_json()["warnings"]
    assert (told["count"], told["id"], told["first"]) == (2, before[0]["id"], before[0]["first"])
    assert told["last"] > told["first"]
    [kept] = needs.operator.get("/v1/opt-outs").get_json()["opt_outs"]
    assert kept["how"] == "text", "what the provider lets us guess takes nothing from what they said"


def test_the_operators_list_says_it_on_top_and_its_buttons_work_once(needs: Site) -> None:
    operator = signed_in(needs)
    page = operator.get("/")
    assert "Needs you" in page.html
    assert f"Ada &lt;b&gt; must text START to {OURS} before …0123 can be texted again" in page.html
    [dismissal] = re.findall(r'action="(/console/warnings/[^"]+)"', page.html)
    assert operator.post(dismissal, None).status == 403
    assert operator.post(dismissal, "made up").status == 403
    assert "Needs you" in operator.get("/").html
    for _ in range(2):
        assert operator.post(dismissal, page.nonce).status == 303
    assert "Needs you" not in operator.get("/").words


def test_who_is_not_signed_in_presses_in_vain(needs: Site) -> None:
    operator = signed_in(needs)
    page = operator.get("/")
    [dismissal] = re.findall(r'action="(/console/warnings/[^"]+)"', page.html)
    assert Browser(needs).post(dismissal, page.nonce).status == 401
    assert "Needs you" in operator.get("/").words
