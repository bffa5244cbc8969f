"""The terminal's side of the demo: one line for each thing that happens, with the time since the agent began.

Plain ASCII where the terminal knows no more, colours only on a terminal and not with NO_COLOR (no-color.org).
"""

from __future__ import annotations

import os
import shutil
import textwrap
import threading
import time
from typing import TextIO

_COLOURS = {"agent": "36", "phone": "35", "voice": "33", "text": "32", "person": "1", "shop": "34"}
_PLAIN = str.maketrans({"…": "...", "’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "·": "-"})
_INDENT = 19


class Story:
    """Tells what happens, from any thread, one whole piece at a time."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._began: float | None = None
        terminal = out.isatty()
        self._coloured = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._width = min(shutil.get_terminal_size().columns, 110) if terminal else 110

    def begin(self) -> None:
        """Starts the clock that the lines show."""
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since `begin`; 0 before."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def tell(self, who: str, what: str) -> None:
        """One line of the story: who did what, just now."""
        head = f"{f'+{self.seconds:.2f} s':>9}  {who:<6}  "
        wrapped = textwrap.wrap(what, max(30, self._width - _INDENT)) or [""]
        body = ("\n" + " " * _INDENT).join(wrapped)
        self._write(self._colour("2", head[:11]) + self._colour(_COLOURS.get(who, "0"), head[11:]) + body)

    def say(self, text: str = "") -> None:
        """Something beside the story, as it is."""
        self._write(text)

    def _colour(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._coloured else text

    def _write(self, text: str) -> None:
        encoding = self._out.encoding or "ascii"
        if "utf" not in encoding.lower():
            text = text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
        with self._lock:
            print(text, file=self._out, flush=True)
