"""What a story in the browser begins with: an agent that is blocked, and people who were rung and texted.

Made of tests/world, so that the service, its worker, its clock and the dev phone are the real ones.
"""

from __future__ import annotations

import re
from concurrent.futures import Future
from typing import Any
from urllib.parse import quote

from handoff.models import Handoff
from tests.world import ADA, BEN, World

from .visitor import Visitor

REASON = "A human-verification checkbox is blocking checkout"
QUESTION = "Which address should I ship the teapot to?"
#: What is pressed, whichever apostrophe it has.
DONE, ON_IT = re.compile("It.s done"), re.compile("I.m on it")
#: Everybody's phone rings at once, so that each has a link.
PEOPLE = f"Ada={ADA},Ben={BEN}"


class Stage:
    """One handoff and the links to it. Its end is seen to: what is still open is cancelled."""

    def __init__(self, world: World) -> None:
        """Nothing is open yet."""
        self.world = world
        self.handoff = ""
        self.answer: Future[Any] | None = None

    def blocks(self, **options: Any) -> Stage:
        """An agent blocks in `clear_wall`, and goes on when `answer` is there."""
        self.answer = self.world.agent.clear_wall(options.pop("reason", REASON), **options)
        return self._texted()

    def asks(self, **options: Any) -> Stage:
        """An agent blocks in `ask`."""
        self.answer = self.world.agent.ask(options.pop("reason", QUESTION), **options)
        return self._texted()

    def opens(self, **body: Any) -> Stage:
        """A handoff by one request; nobody waits for it."""
        self.handoff = str(self.world.open(**body)["id"])
        return self._texted() if body.get("notify") != "none" else self

    @property
    def ada(self) -> str:
        """Ada's link."""
        return self._link(ADA)

    @property
    def ben(self) -> str:
        """Ben's link."""
        return self._link(BEN)

    @property
    def record(self) -> Handoff:
        """What is kept now."""
        return self.world.record(self.handoff)

    def by_hand(self, visitor: Visitor, person: str = ADA) -> None:
        """The visitor looks at the phone's page and taps the link in the newest text."""
        visitor.open(f"{self.world.phone.url}/?phone={quote(person)}")
        visitor.tap_into_new_tab(visitor.page.get_by_role("log", name="Texts").get_by_role("link").first)

    def over(self) -> None:
        """The curtain: nothing is left open, and whatever rang was meant to."""
        if self.handoff and not self.record.closed:
            self.world.operator.cancel(self.handoff)
            self.world.settle()
        self.world.forgives_what_rang()

    def _texted(self) -> Stage:
        if not self.handoff:
            self.handoff = self.world.newest()
        self.world.settle()
        return self

    def _link(self, person: str) -> str:
        texts = self.world.phone.state(person)["messages"]
        words = " ".join(str(text["body"]) for text in texts).split()
        return next(word.rstrip(".,)") for word in reversed(words) if word.startswith("http"))
