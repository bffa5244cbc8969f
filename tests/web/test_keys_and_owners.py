"""Who may do what: wrong keys, agents that are not the owner, operators, requesters who answer."""

from __future__ import annotations

import pytest

from handoff import keys
from handoff.store.store import sha256

from .site import AGENT_KEY, OPERATOR_KEY, Site, check_problem, fields

ROUTES = [
    ("POST", "/v1/handoffs"),
    ("GET", "/v1/handoffs"),
    ("GET", "/v1/handoffs/{id}"),
    ("GET", "/v1/handoffs/{id}/events"),
    ("POST", "/v1/handoffs/{id}/cancellation"),
    ("POST", "/v1/handoffs/{id}/observation"),
    ("POST", "/v1/handoffs/{id}/acknowledgement"),
    ("POST", "/v1/handoffs/{id}/resolution"),
    ("POST", "/v1/handoffs/{id}/refusal"),
    ("GET", "/v1/opt-outs"),
    ("DELETE", "/v1/opt-outs/<opt_out_id>"),
    ("GET", "/v1/warnings"),
    ("DELETE", "/v1/warnings/<warning_id>"),
    ("POST", "/v1/contacts"),
    ("GET", "/v1/contacts"),
    ("GET", "/v1/contacts/ada"),
    ("DELETE", "/v1/contacts/ada"),
    ("POST", "/v1/contacts/ada/verification"),
    ("POST", "/v1/contacts/ada/card"),
]
OPERATORS_ONLY = ("acknowledgement", "resolution", "refusal")
BAD_AUTHORIZATION = {
    "none": None,
    "empty": "",
    "scheme alone": "Bearer",
    "scheme and space": "Bearer ",
    "key alone": AGENT_KEY,
    "wrong scheme": f"Basic {AGENT_KEY}",
    "unknown key": "Bearer hk_" + "z" * 40,
    "key with more": f"Bearer {AGENT_KEY}x",
    "key with less": f"Bearer {AGENT_KEY[:-1]}",
    "two keys": f"Bearer {AGENT_KEY} {AGENT_KEY}",
    "comma": f"Bearer {AGENT_KEY}, Bearer {AGENT_KEY}",
    "quoted": f'Bearer "{AGENT_KEY}"',
    "upper case": f"Bearer {AGENT_KEY.upper()}",
    "a thousand characters": "Bearer " + "k" * 1_000,
    "latin": "Bearer \u00fc\u00e9",
    "placeholder": "Bearer null",
}


def test_this_table_has_every_route_of_the_api(site: Site) -> None:
    rules = {
        (method, str(rule).replace("<handoff_id>", "{id}").replace("<contact_id>", "ada"))
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if str(rule).startswith("/v1/")
    }
    assert rules == set(ROUTES)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_a_good_key_everything_is_401_and_nothing_changes(site: Site, method: str, path: str) -> None:
    path = path.replace("{id}", site.agent.opened())
    before = site.dump()
    for how, text in BAD_AUTHORIZATION.items():
        headers = {} if text is None else {"Authorization": text}
        answer = site.anybody(method, path, headers=headers, data=b"{}" if method == "POST" else None)
        assert answer.status_code == 401, how
        assert check_problem(answer)["code"] == "unauthorized"
    assert site.dump() == before


def test_a_revoked_key_is_401_at_once_and_the_answer_is_that_of_an_unknown_one(site: Site) -> None:
    key, record = keys.create(site.services.store, "shopper", operator=False, now=site.now)
    headers = {"Authorization": f"Bearer {key}"}
    assert site.anybody.get("/v1/handoffs", headers=headers).status_code == 200
    keys.revoke(site.services.store, record.id, site.now)
    revoked = site.anybody.get("/v1/handoffs", headers=headers)
    unknown = site.anybody.get("/v1/handoffs", headers={"Authorization": "Bearer hk_" + "z" * 40})
    assert revoked.status_code == unknown.status_code == 401
    assert revoked.get_data() == unknown.get_data()


@pytest.mark.parametrize("spelling", ["bearer", "BEARER", "Bearer  "])
def test_the_scheme_may_be_spelled_in_any_case(site: Site, spelling: str) -> None:
    headers = {"Authorization": f"{spelling} {AGENT_KEY}"}
    assert site.anybody.get("/v1/handoffs", headers=headers).status_code == 200


@pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if "{id}" in route[1]])
def test_another_agents_handoff_is_404_and_looks_like_none(site: Site, method: str, path: str) -> None:
    before = site.agent.opened()
    absent = path.replace("{id}", "ho_" + "0" * 22)
    data = b"{}" if method == "POST" else None
    site.other.get("/v1/handoffs")  # its key is noted as used
    dumped = site.dump()
    theirs = site.other(method, path.replace("{id}", before), data=data)
    nobodys = site.other(method, absent, data=data)
    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.get_data() == nobodys.get_data()
    assert site.dump() == dumped


def test_two_keys_of_one_agent_see_the_same_handoffs(site: Site) -> None:
    handoff = site.agent.opened()
    assert site.sibling.get(f"/v1/handoffs/{handoff}").status_code == 200
    assert site.sibling.get("/v1/handoffs").get_json()["handoffs"][0]["id"] == handoff


def test_the_agents_name_comes_from_the_key_and_not_from_the_request(site: Site) -> None:
    assert site.agent.open()["agent"] == "shopper"
    answer = site.agent.post("/v1/handoffs", {"kind": "clear", "reason": "x", "agent": "ops"})
    assert fields(answer) == {"agent"}


def test_an_operator_sees_everybodys_and_opens_none(site: Site) -> None:
    handoff = site.agent.opened()
    assert site.operator.get(f"/v1/handoffs/{handoff}").status_code == 200
    refused = site.operator.post("/v1/handoffs", {"kind": "clear", "reason": "x"})
    assert refused.status_code == 403
    assert site.operator.post(f"/v1/handoffs/{handoff}/observation").status_code == 403


@pytest.mark.parametrize("verb", OPERATORS_ONLY)
@pytest.mark.parametrize(
    "body", [{}, {"comment": "x"}, {"decided_by": "cfo@example.org", "channel": "phone"}, {"answer": "yes"}]
)
def test_an_agents_key_can_never_decide_whatever_it_claims(
    site: Site, verb: str, body: dict[str, str]
) -> None:
    handoff = site.agent.opened()
    before = site.dump()
    for caller in (site.agent, site.sibling):
        answer = caller.post(f"/v1/handoffs/{handoff}/{verb}", body)
        assert (answer.status_code, check_problem(answer)["code"]) == (403, "forbidden")
    after = site.dump()
    api_keys = site.services.store.keys.api_keys  # the sibling's key was used for the first time
    assert before | {api_keys: ""} == after | {api_keys: ""}


@pytest.mark.parametrize("verb", OPERATORS_ONLY)
@pytest.mark.parametrize("field", ["decided_by", "by", "channel", "proof", "contact"])
def test_an_operator_can_not_decide_in_somebody_elses_name(site: Site, verb: str, field: str) -> None:
    handoff = site.agent.opened()
    answer = site.operator.post(f"/v1/handoffs/{handoff}/{verb}", {field: "cfo@example.org"})
    assert fields(answer) == {field}
    assert site.types(handoff) == ["opened", "step_started"]


def test_an_operators_decision_is_on_record_as_the_operators(site: Site) -> None:
    handoff = site.agent.opened()
    shown = site.operator.post(f"/v1/handoffs/{handoff}/resolution", {"comment": "seen it"}).get_json()
    key = site.services.store.api_key_by_hash(sha256(OPERATOR_KEY))
    assert key is not None
    settled = shown["settlement"]
    assert settled["by"] == {"kind": "operator", "id": key.id, "name": "ops"}
    assert (settled["channel"], settled["proof"], settled["comment"]) == ("console", "console", "seen it")
    assert site.events(handoff)[-1].by.kind == "operator"
