"""A number of the account, in a test: where it sends the calls and texts that come in."""

from __future__ import annotations

from .connection import Connection

__tracebackhide__ = True


class Line:
    """One number of the account."""

    def __init__(self, phone: Connection, number: str) -> None:
        """`number` is E.164."""
        self._phone, self.number = phone, number

    def sends_calls_to(
        self, url: str, *, method: str = "POST", fallback_url: str = "", status_callback: str = ""
    ) -> Line:
        """From now on `url` is asked for TwiML when a person calls; "" = nobody is asked."""
        return self._set(
            voice_url=url,
            voice_method=method,
            voice_fallback_url=fallback_url,
            status_callback=status_callback,
        )

    def sends_texts_to(self, url: str, *, method: str = "POST", fallback_url: str = "") -> Line:
        """From now on `url` is asked for TwiML when a person texts; "" = nobody is asked."""
        return self._set(sms_url=url, sms_method=method, sms_fallback_url=fallback_url)

    def _set(self, **fields: str) -> Line:
        self._phone.send("PUT", f"/numbers/{self.number}", dict(fields))
        return self
