"""Twilio's error answers: the exception that views raise and the JSON it becomes."""

from __future__ import annotations

from flask import Response, jsonify

from devphone.journal import DICTIONARY


class TwilioError(Exception):
    """A refusal with a code of Twilio's error dictionary and an HTTP status."""

    def __init__(self, code: int, message: str, status: int = 400) -> None:
        """`message` is for people."""
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


def answer(error: TwilioError) -> Response:
    """The body that twilio-python reads: code, message, more_info, status.

    https://www.twilio.com/docs/usage/twilios-response#response-formats-exceptions
    """
    body = {
        "code": error.code,
        "message": error.message,
        "more_info": f"{DICTIONARY}{error.code}",
        "status": error.status,
    }
    response = jsonify(body)
    response.status_code = error.status
    return response
