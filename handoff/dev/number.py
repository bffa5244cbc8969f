"""Has the dev phone send calls and texts to our number to the service, as `handoff connect` has Twilio do."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from handoff.dev.health import TIMEOUT_S
from voice import urls


def leads_here(devphone_url: str, number: str, service_url: str) -> bool:
    """Asks it to; whether it does now. `number` is E.164. Never an exception: it may not be up yet."""
    wanted = {
        "voice_url": service_url + urls.inbound_calls(),
        "status_callback": service_url + urls.inbound_status(),
        "sms_url": service_url + urls.inbound_texts(),
    }
    connection = http.client.HTTPConnection(urlsplit(devphone_url).netloc, timeout=TIMEOUT_S)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("PUT", f"/_devphone/numbers/{number}", json.dumps(wanted), headers)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
