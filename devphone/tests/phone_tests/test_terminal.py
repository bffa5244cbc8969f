"""The phone in a terminal: rings, texts, keys and words, line by line; and how it ends.

The terminal is a process of its own, typed to and read through pipes, once through a pseudo-terminal.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO

import pytest
from twilio.rest import Client

from devphone import testing

from .conftest import ACCOUNT, ADA, BEN, OURS, TOKEN
from .stub_application import Application

MENU = '<Gather numDigits="1" action="/chosen" input="dtmf speech"><Say>Press 1 or say yes.</Say></Gather>'


class Terminal:
    """The running program, and what it printed."""

    def __init__(self, *arguments: str, stdin: int = subprocess.PIPE) -> None:
        self._printed, self._seen, self._new = "", 0, threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "devphone.terminal", *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        )
        self._reader = threading.Thread(target=self._read, args=[self.process.stdout], daemon=True)
        self._reader.start()

    def types(self, line: str) -> Terminal:
        """One line and Enter."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self

    def sees(self, words: str, timeout_s: float = 10) -> Terminal:
        """Wait for these words, later than those seen before."""
        deadline = time.monotonic() + timeout_s
        with self._new:
            while (at := self._printed.find(words, self._seen)) < 0:
                rest = self._printed[self._seen :]
                assert self._new.wait(deadline - time.monotonic()), f"no {words!r} in {rest!r}"
            self._seen = at + len(words)
        return self

    def ends(self, timeout_s: float = 5) -> tuple[int, str]:
        """Wait for the end: exit code, and what was complained about."""
        assert self.process.stderr is not None
        code = self.process.wait(timeout_s)
        self._reader.join(timeout_s)
        return code, self.process.stderr.read()

    @property
    def printed(self) -> str:
        """All that was printed so far."""
        with self._new:
            return self._printed

    def close(self) -> None:
        """End it, if it has not ended yet."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def _read(self, output: IO[str]) -> None:
        for line in output:
            with self._new:
                self._printed += line
                self._new.notify_all()


Open = Callable[..., Terminal]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens terminals, and closes them at the end."""
    terminals: list[Terminal] = []

    def open_one(*arguments: str, **more: int) -> Terminal:
        terminals.append(Terminal(*arguments, **more))
        return terminals[-1]

    yield open_one
    for terminal in terminals:
        terminal.close()


@pytest.fixture
def terminal(opened: Open, phone: testing.DevPhone) -> Terminal:
    """Attached to the dev phone."""
    return opened(phone.url).sees("SIMULATED")


def test_a_call_is_answered_heard_and_a_key_pressed(
    terminal: Terminal, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    application.says("/chosen", "<Say>Thank you.</Say><Hangup/>")
    client.calls.create(to=ADA, from_=OURS, url=application.says("/voice", MENU))
    terminal.sees(f"{ADA} rings: {OURS} is calling. a = answer").types("a")
    terminal.sees(f"{ADA} is on the line").sees("voice: Press 1 or say yes.").types("1")
    terminal.sees(f"{ADA} you pressed 1").sees("voice: Thank you.")
    phone.device(ADA).missed_call("in-progress").hears("Thank you")
    phone.advance(5)
    terminal.sees(f"{ADA}: the call is over: completed").types("q")
    assert terminal.ends() == (0, "")
    assert application.at("/chosen")[0].fields["Digits"] == "1"


def test_a_person_speaks(
    terminal: Terminal, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    application.says("/chosen", "<Hangup/>")
    client.calls.create(to=ADA, from_=OURS, url=application.says("/voice", MENU))
    terminal.sees("rings").types("a").sees("Press 1 or say yes").types("s yes please").sees("you: yes please")
    phone.advance(20)
    terminal.sees("over: completed")
    phone.device(ADA).missed_call("completed")
    assert application.at("/chosen")[0].fields["SpeechResult"] == "yes please"


def test_a_call_is_declined_another_one_goes_to_voicemail(
    terminal: Terminal, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    url = application.says("/voice", "<Say>Call me back.</Say>")
    client.calls.create(to=ADA, from_=OURS, url=url)
    terminal.sees("rings").types("d").sees("over: no-answer")
    client.calls.create(to=ADA, from_=OURS, url=url)
    terminal.sees("rings").types("v").sees("the mailbox answered")
    phone.device(ADA).missed_call("no-answer")
    phone.device(ADA).expect_call(saying="Call me back")


def test_a_screened_call_is_taken(
    terminal: Terminal, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("screening", after_s=0, listens_s=2)
    url = application.says("/voice", '<Say>The clinic here.</Say><Pause length="60"/>')
    client.calls.create(to=ADA, from_=OURS, url=url)
    terminal.sees("a screener answered").sees("voice: The clinic here.")
    phone.advance(30)
    terminal.sees("a screener has").types("a").sees(f"{ADA} is on the line").types("h").sees(
        "over: completed"
    )
    phone.device(ADA).missed_call("completed")


def test_a_text_is_answered_with_stop(
    terminal: Terminal, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", ""))
    client.messages.create(to=ADA, from_=OURS, body="See https://clinic.example/a?b=1.")
    terminal.sees(f"{ADA} text from {OURS}: See https://clinic.example/a?b=1.").types("t Is ten all right?")
    terminal.sees(f"{ADA} text to {OURS}: Is ten all right?")
    assert application.waits_for("/sms")[0].fields["Body"] == "Is ten all right?"
    for text in phone.state(ADA)["messages"]:
        phone.expect(text["sid"])


def test_the_applications_words_can_not_steer_the_terminal(
    terminal: Terminal, phone: testing.DevPhone, client: Client
) -> None:
    trick = "\x1b]0;owned\x07a\x1b[2Jb\x9b1mc\n12:00:00 +1 rings\r\u202edone"
    client.messages.create(to=ADA, from_=OURS, body=trick)
    terminal.sees("␛]0;owned␇a␛[2Jb\ufffd1mc ⏎ 12:00:00 +1 rings␍\ufffddone")
    phone.device(ADA).expect_text()
    assert not any(char < " " and char != "\n" for char in terminal.printed)


def test_two_phones_ring_and_one_chooses(
    terminal: Terminal, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    url = application.says("/voice", MENU)
    client.calls.create(to=ADA, from_=OURS, url=url)
    terminal.sees(f"{ADA} rings")
    client.calls.create(to=BEN, from_=OURS, url=url)
    terminal.sees(f"{BEN} rings").types("p").sees(f"*1 {ADA}").sees(f" 2 {BEN}")
    terminal.types("p 2").sees(f"Now {BEN}").types("a").sees(f"{BEN} is on the line")
    terminal.types("p 3").sees("from 1 to 2").types("p 1").types("b").sees("over: busy")
    phone.device(ADA).missed_call("busy")
    phone.device(BEN).expect_call(saying="Press 1")


def test_one_phone_only(
    opened: Open, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    terminal = opened(phone.url, "--number", BEN).sees("SIMULATED")
    client.messages.create(to=ADA, from_=OURS, body="for Ada")
    client.messages.create(to=BEN, from_=OURS, body="for Ben")
    terminal.sees("for Ben")
    url = application.says("/voice", "<Say>Good day.</Say>")
    client.calls.create(to=ADA, from_=OURS, url=url)
    phone.device(ADA).expect_call(saying="Good day")
    phone.line(OURS).sends_calls_to(url)
    terminal.types("c").sees(f"{BEN} calls {OURS}").sees("voice: Good day.").types("h").sees("is over")
    assert [hook.fields["From"] for hook in application.at("/voice")] == [OURS, BEN]
    assert ADA not in terminal.printed
    for number in (ADA, BEN):
        phone.device(number).expect_text()
    phone.expect(phone.state(BEN)["calls"][0]["sid"])


def test_what_can_not_be_done_is_said(terminal: Terminal, phone: testing.DevPhone) -> None:
    terminal.types("a").sees("There is no phone yet")
    phone.device(ADA).behaves("rings")
    terminal.types("?").sees("a = answer").types("dance\x1b[2J").sees(r"I don't know 'dance␛[2J'")


def test_a_phone_that_was_added_calls_nobody(opened: Open, phone: testing.DevPhone) -> None:
    terminal = opened(phone.url, "--number", ADA).sees("SIMULATED")
    terminal.types("a").sees(f"{ADA} has no call for that")
    terminal.types("c +15005550009").sees("Not done: ").sees(OURS)


def test_it_ends_with_the_input_and_does_what_was_typed_last(opened: Open, phone: testing.DevPhone) -> None:
    terminal = opened(phone.url, "--number", ADA).sees("SIMULATED")
    assert terminal.process.stdin is not None
    terminal.process.stdin.write("p")
    terminal.process.stdin.close()
    assert terminal.ends() == (0, "")
    assert f"*1 {ADA}" in terminal.printed


def test_ctrl_c_at_a_real_keyboard(opened: Open, phone: testing.DevPhone) -> None:
    ours, theirs = pty.openpty()
    terminal = opened(phone.url, "--number", ADA, stdin=theirs).sees("SIMULATED")
    os.close(theirs)
    os.write(ours, b"p\n")
    terminal.sees(f"*1 {ADA}")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.ends() == (0, "")
    os.close(ours)


def test_the_dev_phone_goes_away(opened: Open) -> None:
    with testing.start(ACCOUNT, TOKEN, numbers=[OURS]) as short_lived:
        terminal = opened(short_lived.url).sees("SIMULATED")
    terminal.sees("The dev phone went away")
    assert terminal.ends() == (1, "")


def test_there_is_no_dev_phone(opened: Open, application: Application) -> None:
    code, complaint = opened(application.url).ends()
    assert (code, "no dev phone at" in complaint) == (1, True)
    code, complaint = opened("http://127.0.0.1:9").ends()
    assert (code, "no dev phone at http://127.0.0.1:9" in complaint) == (1, True)


@pytest.mark.parametrize(
    "place", ["0", "7", "x", "²", "9" * 5_000], ids=["0", "7", "x", "superscript", "long"]
)
def test_a_place_that_no_phone_has_is_answered(
    terminal: Terminal, phone: testing.DevPhone, client: Client, place: str
) -> None:
    client.messages.create(to=ADA, from_=OURS, body="Hello")
    phone.device(ADA).expect_text()
    terminal.sees("Hello").types(f"p {place}").sees("p N: N is a number from 1 to 1")
