"""An application in a thread: serves TwiML, notes every webhook, and checks each signature.

Signatures are checked with Twilio's library over the URL that arrived.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlsplit

from flask import Flask, Response, request
from twilio.request_validator import RequestValidator
from werkzeug.serving import WSGIRequestHandler, make_server

EMPTY = "<Response/>"


@dataclass(frozen=True)
class Webhook:
    """One request that arrived. `url` is the wire URL, `fields` the form of a POST or the query of a GET."""

    path: str
    method: str
    url: str
    fields: dict[str, str]
    headers: dict[str, str]
    signed: bool


@dataclass
class Answer:
    """What to answer. With `hold`, only after `release`."""

    body: str | bytes = EMPTY
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str | None = "text/xml"
    hold: bool = False


class Application:
    """A context manager; `url` is where it listens."""

    def __init__(self, token: str) -> None:
        self._validator = RequestValidator(token)
        self._answers: dict[str, deque[Answer]] = defaultdict(deque)
        self._arrived = threading.Condition(threading.RLock())
        self._released = threading.Event()
        self.webhooks: list[Webhook] = []
        app = Flask(__name__)
        app.add_url_rule("/", "any", self._serve, defaults={"path": ""}, methods=["GET", "POST"])
        app.add_url_rule("/<path:path>", "any", self._serve, methods=["GET", "POST"])
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}"

    def __enter__(self) -> Application:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def says(self, path: str, *bodies: str) -> str:
        """Serve these Response contents at `path`, one per request, the last for ever; returns the URL."""
        return self.answers(path, *(Answer(f"<Response>{body}</Response>") for body in bodies))

    def answers(self, path: str, *answers: Answer) -> str:
        """Serve these answers at `path`, one per request, the last for ever; returns the URL."""
        self._answers[path] = deque(answers)
        return self.url + path

    def release(self) -> None:
        """Let held answers go."""
        self._released.set()

    def at(self, path: str) -> list[Webhook]:
        """What arrived at one path so far."""
        with self._arrived:
            return [webhook for webhook in self.webhooks if webhook.path == path]

    def waits_for(self, path: str, count: int = 1, timeout_s: float = 5) -> list[Webhook]:
        """Wait until at least `count` webhooks arrived at `path`."""
        deadline = time.monotonic() + timeout_s
        with self._arrived:
            while len(self.at(path)) < count:
                assert self._arrived.wait(deadline - time.monotonic()), f"{path}: {len(self.at(path))} came"
            return self.at(path)

    def statuses(self, path: str = "/status") -> list[str]:
        """CallStatus or MessageStatus of what arrived there, in order of arrival."""
        return [hook.fields.get("CallStatus") or hook.fields["MessageStatus"] for hook in self.at(path)]

    def _serve(self, path: str) -> Response:
        full = "/" + path
        query = request.environ["QUERY_STRING"]
        url = self.url + urlsplit(request.environ["RAW_URI"]).path + (f"?{query}" if query else "")
        form = request.form if request.method == "POST" else {}
        signature = request.headers.get("X-Twilio-Signature", "")
        fields = (request.form if request.method == "POST" else request.args).to_dict()
        hook = Webhook(
            full,
            request.method,
            url,
            fields,
            {name.lower(): value for name, value in request.headers.items()},
            self._validator.validate(url, form, signature),
        )
        with self._arrived:
            self.webhooks.append(hook)
            waiting = self._answers.get(full)
            answer = Answer(status=204, body="", content_type=None)
            if waiting:
                answer = waiting[0] if len(waiting) == 1 else waiting.popleft()
            self._arrived.notify_all()
        if answer.hold:
            self._released.wait(20)
        response = Response(answer.body, status=answer.status, headers=answer.headers)
        if answer.content_type is None:
            response.headers.pop("Content-Type", None)
        else:
            response.headers["Content-Type"] = answer.content_type
        return response


class _Quiet(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""
