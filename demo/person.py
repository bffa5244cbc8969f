"""The person: whoever sits at the terminal, or one who does by itself what a person would.

Both act only on the phone and in a browser, as anybody could; neither has a way around Handoff.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2

from demo.browser import Browser, NotOnThePage
from demo.story import Story
from devphone.testing import DevPhone

NAME, NUMBER = "Ada", "+12125550123"
#: What a phone's browser calls itself; walls look at this.
_USER_AGENT = "Mozilla/5.0 (Linux; Android 16; Mobile)"

KEYS = "a answer | h hang up | 0-9 * # press | o open the link, tick the box | d done, on the page | q quit"
#: Nobody reads, thinks and presses within a millisecond, and nobody could follow a story that does.
_THINKING_S = 0.7


def acts_alone(devphone_url: str, story: Story) -> None:
    """Answers the phone, reads the text, opens the link and the agent's page, ticks the box and presses 1.

    Raises AssertionError when the phone does not ring, no text comes or a page is not as it should be.
    """
    phone = DevPhone(devphone_url, timeout_s=20)
    try:
        ada = phone.device(NUMBER)
        call = ada.let_ring()
        time.sleep(_THINKING_S)
        call.answer().hears("checkbox")
        text = ada.expect_text(containing="http")
        time.sleep(_THINKING_S)
        open_and_tick(text.links[-1], story)
        time.sleep(_THINKING_S)
        call.press("1").hears("thank you")
        time.sleep(_THINKING_S)
        call.hang_up()
    finally:
        phone.close()


def open_and_tick(link: str, story: Story) -> None:
    """Opens the link from the text, has the page show the agent's browser, and ticks the box in it.

    Raises AssertionError when a page is not as it should be.
    """
    with _on_the_page(link) as browser:
        story.tell("person", f'{NAME} opens the link: "{browser.heading}"')
        if "Open full size" not in browser.text:
            browser.press("Show me the browser")
            story.tell("person", f'{NAME} presses "Show me the browser" there')
        browser.follow("Open full size")
        story.tell("person", f'{NAME} opens the agent\'s page: "{browser.heading}", and ticks the box')
        browser.press("Confirm", tick=True)
        assert browser.status == 200, f"the shop answers {browser.status}: {browser.text}"


def say_done(link: str, story: Story) -> None:
    """Opens the link from the text and presses "It's done". Raises AssertionError when that can't be."""
    with _on_the_page(link) as browser:
        browser.press("It’s done")
        story.tell("person", f'{NAME} presses "It\'s done" on the page')


@contextmanager
def _on_the_page(link: str) -> Iterator[Browser]:
    browser = Browser(_USER_AGENT)
    try:
        browser.open(link)
        assert browser.status == 200, f"the link answers {browser.status}"
        yield browser
    except (NotOnThePage, httpx2.HTTPError) as error:
        raise AssertionError(str(error)) from error
    finally:
        browser.close()


class AtTheTerminal:
    """Keys from the terminal, acted on as they come, from the start until `close`."""

    def __init__(self, terminal: int, devphone_url: str, story: Story, stop: Callable[[], None]) -> None:
        """`terminal` is a file descriptor; `stop` is called for q."""
        self._terminal, self._story, self._stop = terminal, story, stop
        self._phone = DevPhone(devphone_url)
        # Not a read that waits for ever: a thread inside one can't be ended, nor can Python then.
        self._end_read, self._end_write = os.pipe()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening."""
        os.close(self._end_write)
        self._thread.join(5)
        os.close(self._end_read)
        self._phone.close()

    def _listen(self) -> None:
        while True:
            ready, _, _ = select.select([self._terminal, self._end_read], [], [])
            if self._end_read in ready:
                return
            line = os.read(self._terminal, 1024)
            if not line:  # end of file: nobody types any more, the browser still works
                return
            self._act(line.decode(errors="replace").strip().lower())

    def _act(self, typed: str) -> None:
        try:
            if typed == "a":
                self._do("answer")
            elif typed == "h":
                self._do("hangup")
            elif typed == "o":
                open_and_tick(self._link(), self._story)
            elif typed == "d":
                say_done(self._link(), self._story)
            elif typed == "q":
                self._stop()
            elif typed and set(typed) <= set("0123456789*#"):
                self._do("press", {"digits": typed})
            elif typed:
                self._story.say(f"  {KEYS}")
        except (AssertionError, httpx2.HTTPError) as error:
            self._story.say(f"  ({error})")

    def _do(self, deed: str, body: dict[str, str] | None = None) -> None:
        self._phone.send("POST", f"/phones/{NUMBER}/{deed}", body)

    def _link(self) -> str:
        texts = [text["body"] for text in self._phone.state(NUMBER)["messages"] if text["arrived"]]
        assert texts, "no text has come yet"
        return str(texts[-1].split()[-1])
