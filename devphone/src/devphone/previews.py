"""The message app's link previews: it looks at every link of a text before the person does.

Requests only, no more than one phone would make; whether a phone does this is `engine/phones.py`. Like a
real message app it goes wherever the link and its redirects lead, over http or https.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import httpx2

from .time_limit import TimeLimit
from .urls import is_web_url, join

WITHIN_S = 5.0
MAX_REDIRECTS = 10
MAX_BYTES = 512 * 1024
"""More of a page than this is not read."""
APPLE = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) "
    "Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0"
)
"""What Apple's Messages calls itself; https://24ways.org/2019/microbrowsers-are-everywhere/."""
ANDROID = "WhatsApp/2"
"""What Signal and others call themselves; https://github.com/flyerhq/flutter_link_previewer/pull/43."""
VISITS = (("HEAD", APPLE), ("GET", APPLE), ("GET", ANDROID))


@dataclass(frozen=True)
class Visit:
    """One request and its answer: `status` None with a `problem` when there was none."""

    url: str
    method: str
    status: int | None
    problem: str = ""


class Previews:
    """One client for all phones. Nothing is kept: no cookies, no bodies."""

    def __init__(self, transport: httpx2.BaseTransport, within_s: float = WITHIN_S) -> None:
        """`within_s` seconds for each visit, redirects included."""
        self._within_s, self._transport = within_s, transport

    def visits(self, link: str) -> Iterator[Visit]:
        """HEAD once and GET twice, each as it is done, and what their redirects lead to. Never raises."""
        for method, user_agent in VISITS:
            yield from self._follow(link, method, user_agent)

    def _follow(self, url: str, method: str, user_agent: str) -> Iterator[Visit]:
        deadline = time.monotonic() + self._within_s
        for _ in range(MAX_REDIRECTS + 1):
            try:
                status, location = self._once(url, method, user_agent, deadline)
            except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
                # UnicodeError: looking up a host name that no name server could know.
                yield Visit(url, method, None, f"{type(error).__name__}: {error}")
                return
            yield Visit(url, method, status)
            if location is None:
                return
            url = join(url, location)
            if not is_web_url(url):
                return

    def _once(self, url: str, method: str, user_agent: str, deadline: float) -> tuple[int, str | None]:
        """The status, and where it redirects to."""
        client = httpx2.Client(transport=self._transport, trust_env=False)
        headers = {"User-Agent": user_agent, "Accept": "text/html,application/xhtml+xml,*/*"}
        with TimeLimit(deadline) as time_limit:
            request = client.build_request(
                method,
                url,
                headers=headers,
                timeout=time_limit.left_s,
                extensions={"trace": time_limit.trace},
            )
            with closing(client.send(request, stream=True)) as response:
                time_limit.read(response, MAX_BYTES)
        return response.status_code, response.headers.get("location") if response.is_redirect else None
