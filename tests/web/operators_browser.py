"""An operator's browser: it keeps cookies, reads pages and presses their buttons."""

from __future__ import annotations

from typing import Any

from handoff.web.signin import COOKIE

from .browser import Page
from .site import OPERATOR_KEY, Site

HTTPS = "https://handoff.example.com"


class Browser:
    """One browser at one address, as far as it matters here."""

    def __init__(self, site: Site, address: str = "192.0.2.1", base_url: str = HTTPS) -> None:
        self.site, self.address, self.base_url = site, address, base_url
        self._client = site.app.test_client()

    def __call__(self, method: str, path: str, **options: Any) -> Page:
        """One request. What is true of every page is checked."""
        environ = {"REMOTE_ADDR": self.address}
        answer = self._client.open(
            path, method=method, base_url=self.base_url, environ_overrides=environ, **options
        )
        assert answer.status_code < 500, answer.text
        if answer.status_code != 404 or answer.mimetype == "text/html":
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
        if answer.mimetype == "text/html" and answer.status_code != 303 and method != "OPTIONS":
            assert answer.headers["Cache-Control"] == "no-store"
            assert "noindex" in answer.headers["X-Robots-Tag"]
        return Page(answer)

    def get(self, path: str, **options: Any) -> Page:
        return self("GET", path, **options)

    def post(self, path: str, nonce: str | None, **fields: str) -> Page:
        """Sends a form; None sends none of a nonce."""
        return self("POST", path, data=fields if nonce is None else fields | {"nonce": nonce})

    def press(self, path: str, verb: str, **fields: str) -> Page:
        """Loads a page and sends one of its forms."""
        return self.post(f"{path}/{verb}", self.get(path).nonce, **fields)

    def sign_in(self, key: str = OPERATOR_KEY, **fields: str) -> Page:
        return self.post("/sign-in", self.get("/sign-in").nonce, key=key, **fields)

    @property
    def cookie(self) -> str | None:
        found = self._client.get_cookie(COOKIE, domain="handoff.example.com")
        return found.value if found else None

    def use_cookie(self, value: str) -> None:
        """Comes with this very text as its session."""
        self._client.set_cookie(COOKIE, value, domain="handoff.example.com", secure=True)


def signed_in(site: Site) -> Browser:
    """The operator `ops`, in a browser."""
    browser = Browser(site)
    assert browser.sign_in().status == 303
    return browser


def rows(page: Page) -> list[str]:
    """The ids of the handoffs on a page of the list, from the top."""
    return [str(has["id"]) for tag, has in page.tags if tag == "tr" and has.get("id")]


def hrefs(page: Page) -> list[str]:
    return [str(has["href"]) for tag, has in page.tags if tag == "a"]
