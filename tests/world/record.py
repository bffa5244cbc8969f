"""What is on record about a story: at the service, in its Redis, and at the provider.

Only looks, and changes nothing. What happens is world.py's business.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx2

from devphone.testing import DevPhone
from handoff.bootstrap import Services
from handoff.effects import EffectKind
from handoff.models import Event, Handoff

Opened = dict[str, Any]


class OnRecord:
    """The looking half of a world."""

    phone: DevPhone
    services: Services
    prefix: str
    redis: Any  # redis-py's types can't say that this client decodes its answers
    http: httpx2.Client

    def show(self, handoff: str | Opened, **query: Any) -> Opened:
        """The handoff as its agent sees it now."""
        found: Opened = self.http.get(f"/v1/handoffs/{_id(handoff)}", params=query).raise_for_status().json()
        return found

    def events(self, handoff: str | Opened) -> list[Event]:
        """The timeline, oldest first."""
        return self.services.store.events(_id(handoff))

    def types(self, handoff: str | Opened) -> list[str]:
        """What the timeline says, in its own words."""
        return [event.type.value for event in self.events(handoff)]

    def record(self, handoff: str | Opened) -> Handoff:
        """The record itself, with what the API does not show."""
        return self.services.handoffs.get(_id(handoff))

    def dispositions(self, handoff: str | Opened, channel: str = "call") -> list[tuple[str, str | None]]:
        """Contact and disposition of every attempt on this channel, in order."""
        attempts = self.show(handoff)["attempts"]
        return [(one["contact"], one["disposition"]) for one in attempts if one["channel"] == channel]

    def creates(self, kind: str = "Calls", to: str | None = None) -> list[dict[str, Any]]:
        """Requests to the provider for a new call (or, `Messages`, text), to everybody or to one number."""
        posts = [one for one in self.phone.requests() if one["method"] == "POST"]
        asked = [one for one in posts if one["path"].endswith(f"/{kind}.json")]
        return [one for one in asked if to in (None, one["form"]["To"][0])]

    def updates(self) -> list[dict[str, Any]]:
        """Requests to the provider that changed a call."""
        return [one for one in self.phone.requests() if one["method"] == "POST" and "/Calls/" in one["path"]]

    def due_rows(self, *kinds: EffectKind) -> list[str]:
        """Ids of the rows in the outbox, of these kinds if any are named."""
        rows: list[str] = sorted(map(str, self.redis.hkeys(self.key("effects"))))
        return [row for row in rows if not kinds or row.partition("-")[0] in kinds]

    def keys(self) -> list[str]:
        """Every key of this installation, without its prefix."""
        tag = self.key("")
        return sorted(key.removeprefix(tag) for key in self.redis.scan_iter(tag.replace("[", "\\[") + "*"))

    def key(self, name: str) -> str:
        """The full name of a key of this installation."""
        return "{" + self.prefix + "}:" + name


def _id(handoff: str | Opened) -> str:
    return handoff if isinstance(handoff, str) else str(handoff["id"])


def path_of(url: str) -> str:
    """The path and query of an address, as Twilio requests it."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
