"""The OpenAPI document: sound by itself, complete, true to what is served; and the page that shows it.

That every answer is one which the document tells of is checked at every request of these tests (site.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from handoff.errors import HandoffError
from handoff.messages import OpenRequest
from handoff.states import CloseReason, State
from handoff.views import HandoffView, Problem

from .browser import Page
from .conftest import MakeSite
from .site import Site

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
TYPES = {"null", "boolean", "object", "array", "number", "string", "integer"}
#: Keywords that hold one schema, a list of schemas, or schemas by name (JSON Schema 2020-12).
ONE, MANY, NAMED = (
    {"items", "additionalProperties", "not", "contains", "propertyNames"},
    {"anyOf", "oneOf", "allOf", "prefixItems"},
    {"properties", "$defs", "patternProperties"},
)


@pytest.fixture
def document(site: Site) -> dict[str, Any]:
    answer = site.anybody.get("/openapi.json")
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    return dict(answer.get_json())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all schemas inside it."""
    if not isinstance(schema, dict):
        assert isinstance(schema, bool), schema
        return
    yield schema
    for key, inner in schema.items():
        if key in ONE:
            yield from schemas(inner)
        elif key in MANY:
            for one in inner:
                yield from schemas(one)
        elif key in NAMED:
            for one in inner.values():
                yield from schemas(one)


def every_schema(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for schema in document["components"]["schemas"].values():
        yield from schemas(schema)
    for _, _, operation in operations(document):
        for one in operation.get("parameters", []):
            yield from schemas(one["schema"])
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for media in part.get("content", {}).values():
                yield from schemas(media["schema"])


def test_it_is_openapi_3_1_with_what_that_needs(document: dict[str, Any]) -> None:
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert document["info"]["title"] and document["info"]["version"]
    assert set(document) <= {"openapi", "info", "servers", "paths", "components", "security", "tags"}


def test_every_operation_has_what_openapi_asks_for(document: dict[str, Any]) -> None:
    ids = []
    for path, method, operation in operations(document):
        assert path.startswith("/") and method in METHODS
        assert operation["summary"] and operation["responses"]
        ids.append(operation.get("operationId", (path, method)))
        in_path = {one["name"] for one in operation.get("parameters", []) if one["in"] == "path"}
        assert in_path == set(re.findall(r"{(\w+)}", path))
        for one in operation.get("parameters", []):
            assert one["in"] in ("path", "query", "header", "cookie") and "schema" in one
            assert one["in"] != "path" or one["required"] is True
        names = [(one["name"], one["in"]) for one in operation.get("parameters", [])]
        assert len(names) == len(set(names))
        for code, answer in operation["responses"].items():
            assert re.fullmatch(r"[1-5]\d\d|default", code) and answer["description"]
    assert len(ids) == len(set(ids))


def test_every_schema_is_one_by_json_schema(document: dict[str, Any]) -> None:
    for schema in every_schema(document):
        kinds = schema.get("type", [])
        assert set([kinds] if isinstance(kinds, str) else kinds) <= TYPES
        assert "nullable" not in schema, "that was OpenAPI 3.0"
        assert all(isinstance(name, str) for name in schema.get("required", []))
        assert set(schema.get("required", [])) <= set(schema.get("properties", schema.get("required", [])))
        for bound in ("minimum", "maximum", "minLength", "maxLength"):
            assert isinstance(schema.get(bound, 0), int | float) and not isinstance(
                schema.get(bound, 0), bool
            )
        if "pattern" in schema:
            re.compile(schema["pattern"])
        if "discriminator" in schema:
            assert schema["discriminator"]["propertyName"]


def test_every_reference_leads_to_a_schema(document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name.rpartition("/")[2]) for name in known)
    text = json.dumps(document)
    used = set(re.findall(r'"\$ref": "([^"]+)"', text))
    assert used <= known
    queries = {
        name for name in known if name.endswith("Query")
    }  # they stand in the parameters, field by field
    assert known - used == queries


def test_the_key_is_asked_for_as_it_is_read(document: dict[str, Any]) -> None:
    [(name, scheme)] = document["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"].lower()) == ("http", "bearer")
    for _, _, operation in operations(document):
        asked = operation.get("security", document.get("security"))
        asked = [asked] if isinstance(asked, dict) else asked
        assert asked == [{name: []}]


def test_every_route_of_the_api_is_in_it_and_no_other(site: Site, document: dict[str, Any]) -> None:
    served = {
        (re.sub(r"<(\w+)>", r"{\1}", str(rule)), method.lower())
        for rule in site.app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if str(rule).startswith("/v1/")
    }
    assert {(path, method) for path, method, _ in operations(document)} == served


def test_every_error_is_a_problem_document_and_every_success_is_json(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        for code, answer in operation["responses"].items():
            media = answer.get("content", {})
            if int(code) >= 400:
                schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
                assert media == {"application/problem+json": schema}, (path, method, code)
            elif code != "204":
                assert "$ref" in media["application/json"]["schema"]


def test_what_can_go_wrong_is_told_at_each_call(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        told = set(operation["responses"])
        assert {"401", "422", "503"} <= told, path
        assert ("404" in told) == ("{" in path)
        assert method != "post" or {"400", "413"} <= told
        if path.endswith(("acknowledgement", "resolution", "refusal")):
            assert {"403", "409", "410"} <= told
        if path.endswith(("cancellation", "observation")):
            assert {"409", "410"} <= told
    assert {"200", "201", "403", "409", "410"} <= set(document["paths"]["/v1/handoffs"]["post"]["responses"])


def test_every_status_that_an_error_can_have_is_told_somewhere(document: dict[str, Any]) -> None:
    told = {int(code) for _, _, operation in operations(document) for code in operation["responses"]}
    errors = {kind.status for kind in HandoffError.__subclasses__()} - {429}  # that one is the page's
    assert errors <= told


def test_the_shapes_are_those_that_are_served(site: Site, document: dict[str, Any]) -> None:
    shapes = document["components"]["schemas"]
    opened = site.agent.open()
    assert set(shapes["HandoffView"]["properties"]) == set(HandoffView.model_fields) == set(opened)
    assert set(shapes["HandoffView"]["required"]) == set(opened)
    assert set(shapes["OpenRequest"]["properties"]) == set(OpenRequest.model_fields)
    assert set(shapes["OpenRequest"]["required"]) == {"kind", "reason"}
    assert shapes["OpenRequest"]["additionalProperties"] is False
    assert shapes["State"]["enum"] == [state.value for state in State]
    assert shapes["CloseReason"]["enum"] == [reason.value for reason in CloseReason]
    problem = site.agent.get("/v1/handoffs/none").get_json()
    assert set(problem) <= set(Problem.model_fields) == set(shapes["Problem"]["properties"])


def test_it_says_how_to_ask_for_a_wait_a_page_and_a_repeat(document: dict[str, Any]) -> None:
    paths = document["paths"]
    query = {one["name"] for one in paths["/v1/handoffs"]["get"]["parameters"]}
    assert query == {"state", "agent", "cursor", "limit"}
    assert "wait" in {one["name"] for one in paths["/v1/handoffs/{handoff_id}"]["get"]["parameters"]}
    for path, method, operation in operations(document):
        keys = [one for one in operation.get("parameters", []) if one["name"] == "Idempotency-Key"]
        assert len(keys) == (method == "post"), path
    events = paths["/v1/handoffs/{handoff_id}/events"]["get"]["responses"]
    assert set(events["200"]["content"]) == {"application/json", "text/event-stream"} and "204" in events


def test_the_page_shows_every_path_and_shape_and_loads_nothing_from_elsewhere(
    site: Site, document: dict[str, Any]
) -> None:
    page = Page(site.anybody.get("/docs"))
    assert page.status == 200 and page.response.mimetype == "text/html"
    for path, method, operation in operations(document):
        assert f"{method.upper()} {path}" in page.words
        assert _close(operation["summary"]) in _close(page.words)
    for name, schema in document["components"]["schemas"].items():
        for field in schema.get("properties", {}):
            assert field in page.words, (name, field)
    anchors = {has["id"] for _, has in page.tags if has.get("id")}
    for tag, has in page.tags:
        assert tag not in ("script", "style", "iframe", "img") and "style" not in has
        target = has.get("href") or has.get("src") or "/"
        assert target.startswith(("/", "#")) and not target.startswith("//")
        assert not target.startswith("#") or target[1:] in anchors, target


def _close(text: str) -> str:
    """Words without what stands between them: on the page, code has tags of its own."""
    return "".join(text.replace("`", "").split())


def test_no_other_page_about_the_api_is_served_that_loads_scripts_from_elsewhere(site: Site) -> None:
    """spectree brings pages of its own, which do."""
    for rule in site.app.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and not rule.arguments:
            answer = site.operator.get(str(rule).rstrip("/"))
            assert "<script" not in answer.get_data(as_text=True), rule


def test_it_is_the_same_under_a_path_prefix(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_PUBLIC_URL="https://example.com/tools/handoff")
    opened = site.agent("POST", "/tools/handoff/v1/handoffs", json={"kind": "clear", "reason": "x"})
    assert opened.status_code == 201
    assert opened.headers["Location"].startswith("https://example.com/tools/handoff/v1/handoffs/ho_")
    assert site.agent.get("/tools/handoff/v1/handoffs").status_code == 200
    assert site.agent.get("/tools/handoffx/v1/handoffs").status_code == 404
    assert 'href="/tools/handoff/docs"' in site.anybody.get("/tools/handoff").text
    links = {has.get("href") for _, has in Page(site.anybody.get("/tools/handoff/docs")).tags}
    assert "/tools/handoff/openapi.json" in links
    assert site.anybody.get("/tools/handoff/openapi.json").status_code == 200
    assert site.anybody.get("/tools/handoff/healthz").get_json() == {"status": "ok"}
