"""The application in front of a test client, or behind real HTTP, with a clock that only the test moves.

Every answer is looked at on its way back: whatever was asked, it must be one that the service promised.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import redis
from flask import Flask
from flask.testing import FlaskClient
from rq import Queue
from twilio.request_validator import RequestValidator
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import TestResponse

from app import create_app
from handoff import bootstrap, config, links
from handoff.bootstrap import Services
from handoff.models import Event, Handoff
from workers.enqueue import RqEnqueue

AGENT_KEY, SIBLING_KEY, OTHER_KEY, OPERATOR_KEY = ("hk_" + letter * 40 for letter in "abcd")
TOKEN = "a token made up for tests"
SECRET = "0123456789abcdef" * 4
SETTINGS = {
    "HANDOFF_PUBLIC_URL": "https://handoff.example.com",
    "HANDOFF_SECRET_KEY": SECRET,
    "HANDOFF_API_KEYS": (
        f"shopper={AGENT_KEY},shopper={SIBLING_KEY},other={OTHER_KEY},ops:operator={OPERATOR_KEY}"
    ),
    "HANDOFF_TO_NUMBER": "Ada=+12125550123,Ben=+12125550124",
    "TWILIO_ACCOUNT_SID": "AC" + "0123456789abcdef" * 2,
    "TWILIO_AUTH_TOKEN": TOKEN,
    "TWILIO_FROM_NUMBER": "+12125550100",
}
REASON = "A human-verification checkbox is blocking checkout"
#: Where people look: errors are pages there, and not problem documents.
PAGES = ("/h/", "/p/", "/c", "/sign-in", "/sign-out", "/handoffs/", "/console/", "/last")


class Site:
    """One installation's web process. `now` is its clock, in milliseconds."""

    def __init__(self, redis_url: str, **settings: str) -> None:
        prefix = f"web-{secrets.token_hex(4)}"
        environ = SETTINGS | {"HANDOFF_REDIS_URL": redis_url, "HANDOFF_PREFIX": prefix} | settings
        self.now = time.time_ns() // 1_000_000
        self.services: Services = bootstrap.build(config.from_environment(environ), clock=lambda: self.now)
        bootstrap.adopt_keys(self.services)
        self.app: Flask = create_app(self.services)
        # RQ keeps bytes that are no UTF-8.
        self.raw: Any = redis.Redis.from_url(redis_url, decode_responses=True, encoding="latin-1")
        self.anybody = Caller(self, None)
        self.agent, self.sibling = Caller(self, AGENT_KEY), Caller(self, SIBLING_KEY)
        self.other, self.operator = Caller(self, OTHER_KEY), Caller(self, OPERATOR_KEY)

    # What is on record

    def record(self, handoff_id: str) -> Handoff:
        return self.services.handoffs.get(handoff_id)

    def events(self, handoff_id: str) -> list[Event]:
        return self.services.store.events(handoff_id)

    def types(self, handoff_id: str) -> list[str]:
        return [event.type.value for event in self.events(handoff_id)]

    def effects(self, kind: str) -> list[str]:
        """Ids of the outbox's rows of this kind."""
        return [row for row in self.raw.hkeys(self.services.store.keys.effects) if row.startswith(kind + "-")]

    def dump(self) -> dict[str, str]:
        """Everything this installation and its queue keep, byte for byte."""
        return {key: self._dumped(key) for key in sorted(self._keys())}

    def link(self, handoff_id: str, contact: str = "ada") -> str:
        """A contact's link as the text has it, made good as sending the text makes it."""
        made = links.make(SECRET, handoff_id, contact)
        self.services.store.put_link(made, handoff_id, contact)
        return made

    def twilio(self, path: str, **fields: str) -> TestResponse:
        """A form as Twilio sends it, signed."""
        signed = RequestValidator(TOKEN).compute_signature(SETTINGS["HANDOFF_PUBLIC_URL"] + path, fields)
        return self.anybody("POST", path, data=fields, headers={"X-Twilio-Signature": str(signed)})

    def expire(self, handoff_id: str) -> None:
        """Its deadline comes, and the clock says so."""
        self.now = max(self.now, self.record(handoff_id).deadline)
        self.services.handoffs.expire(handoff_id)

    # Processes

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The same application behind real HTTP; gives its address."""
        server = make_server("127.0.0.1", 0, self.app, threaded=True, request_handler=_Quiet)
        server.daemon_threads = True  # type: ignore[attr-defined]  # of socketserver's mix-in
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="web")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            self.stop_waiting()
            server.shutdown()
            thread.join()
            server.server_close()

    def stop_waiting(self) -> None:
        """What a stopping process does first; also ends the reader of wake-ups."""
        self.services.waiting.stop()
        self.raw.xadd(self.services.store.keys.wakes, {"h": "-", "s": "0", "c": "0"})

    def close(self) -> None:
        """Ends everything and leaves nothing in Redis."""
        self.stop_waiting()
        for thread in threading.enumerate():
            if thread.name == "wake-reader":
                thread.join(10)
        for queue in self._queues():
            queue.delete(delete_jobs=True)
        queue.connection.close()
        self.services.store.connections.close()
        if keys := self._keys():
            self.raw.unlink(*keys)
        self.raw.close()

    def _keys(self) -> list[str]:
        prefix = self.services.settings.prefix
        queues = [queue.key for queue in self._queues() if self.raw.exists(queue.key)]
        return [*self.raw.scan_iter("{" + prefix + "}:*", count=1_000), *queues]

    def _queues(self) -> list[Queue]:
        # The connections through which the service itself enqueues, so that they are closed in the end.
        enqueue = cast(RqEnqueue, self.services.enqueue)
        return [enqueue._people, enqueue._callbacks]

    def _dumped(self, key: str) -> str:
        kind = self.raw.type(key)
        if kind == "hash":
            return json.dumps(self.raw.hgetall(key), sort_keys=True)
        if kind == "zset":
            return json.dumps(self.raw.zrange(key, 0, -1, withscores=True))
        if kind == "stream":
            return json.dumps(self.raw.xrange(key))
        if kind == "list":
            return json.dumps(self.raw.lrange(key, 0, -1))
        return json.dumps(sorted(self.raw.smembers(key)) if kind == "set" else self.raw.get(key))


class Caller:
    """Somebody with an API key, or without one."""

    def __init__(self, site: Site, key: str | None) -> None:
        self._site = site
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def __call__(self, method: str, path: str, **options: Any) -> TestResponse:
        """One request; `options` are those of werkzeug's EnvironBuilder. The answer was checked."""
        headers = self.headers | dict(options.pop("headers", {}))
        client: FlaskClient = self._site.app.test_client()
        response = client.open(path, method=method, headers=headers, **options)
        check(response, self._site, method)
        return response

    def get(self, path: str, **options: Any) -> TestResponse:
        return self("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> TestResponse:
        return self("POST", path, json={} if body is None else body, **options)

    def send(self, raw: bytes, path: str = "/v1/handoffs", **options: Any) -> TestResponse:
        """POSTs these very bytes."""
        return self("POST", path, data=raw, content_type="application/json", **options)

    def open(self, *, key: str | None = None, **body: Any) -> dict[str, Any]:
        """Opens a handoff, of kind `clear` unless said otherwise, and answers with its document."""
        headers = {"Idempotency-Key": key} if key else {}
        response = self.post("/v1/handoffs", {"kind": "clear", "reason": REASON} | body, headers=headers)
        assert response.status_code == 201, response.text
        return dict(response.get_json())

    def opened(self, **body: Any) -> str:
        """Opens one and answers with its id."""
        return str(self.open(**body)["id"])

    def open_id(self) -> str:
        """The id of the only handoff that this caller sees."""
        [handoff] = self.get("/v1/handoffs").get_json()["handoffs"]
        return str(handoff["id"])


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


def check(response: TestResponse, site: Site, method: str) -> None:
    """What is true of every answer, whatever was asked."""
    status, headers = response.status_code, response.headers
    assert status != 500, response.text
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] in ("same-origin", "no-referrer")
    path = response.request.path
    prefix = site.app.config["URL_PREFIX"]
    path = path.removeprefix(prefix) if path.startswith(prefix + "/") else path
    if status >= 400 and not path.startswith((*PAGES, "/twilio/", "/readyz")):
        check_problem(response, method)
    if path.startswith("/v1/") and status < 300 and method != "OPTIONS":
        assert headers["Cache-Control"] == "no-store"
    _check_documented(site, path, method, status)


def check_problem(response: TestResponse, method: str = "GET") -> dict[str, Any]:
    """A problem document by RFC 9457, with our stable code."""
    assert response.content_type == "application/problem+json"
    if response.status_code == 405:
        assert response.headers["Allow"]
    if response.status_code == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    if method == "HEAD":
        return {}
    problem: dict[str, Any] = json.loads(response.get_data())
    assert {"type", "title", "status", "detail", "code"} <= set(problem)
    assert problem["status"] == response.status_code
    assert problem["detail"] and problem["code"].replace("_", "").isalnum()
    assert "Traceback" not in problem["detail"] and "\n" not in problem["detail"]
    return problem


def fields(response: TestResponse) -> set[str]:
    """The fields that a 422 names."""
    assert response.status_code == 422, response.text
    return {error["field"] for error in check_problem(response)["errors"]}


def _check_documented(site: Site, path: str, method: str, status: int) -> None:
    """An answer of the API is one that its OpenAPI document tells of."""
    if not path.startswith("/v1/") or method in ("HEAD", "OPTIONS") or status in (308, 405):
        return
    adapter = site.app.url_map.bind("localhost")
    if not adapter.test(path, method):
        assert status == 404
        return
    rule, _ = adapter.match(path, method=method, return_rule=True)
    told = site.app.extensions["openapi"]["paths"][_documented(str(rule))][method.lower()]["responses"]
    assert str(status) in told, f"{method} {rule} answered {status}; documented are {sorted(told)}"


def _documented(rule: str) -> str:
    return rule.replace("<", "{").replace(">", "}")
