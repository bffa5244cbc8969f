"""What Twilio's client says when a request is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from twilio.base.exceptions import TwilioRestException


def refusal(request: Callable[[], object]) -> tuple[int, int]:
    """HTTP status and code with which `request` is refused; fails when it isn't."""
    with pytest.raises(TwilioRestException) as refused:
        request()
    return int(refused.value.status), int(refused.value.code)
