"""What `handoff dev` says to a person. Standard output for the story, standard error for trouble."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TextIO

from handoff.dev import processes
from handoff.dev.system import System


def say(text: str) -> None:
    """One piece of the story."""
    _print(text, sys.stdout)


def complain(text: str) -> None:
    """Trouble, for people; never on standard output, which may be read by a program."""
    _print(f"handoff dev: {text}", sys.stderr)


def _print(text: str, file: TextIO) -> None:
    # A reader that went away (a closed pipe) is no reason to leave the processes unattended.
    with contextlib.suppress(BrokenPipeError):
        print(text, file=file, flush=True)


def still_waiting(missing: str, log: Path | None) -> str:
    """Why the system is not there yet, with the end of the log that tells most."""
    return f"{missing}; {processes.log_end(log)}" if log else missing


def welcome(plan: System, data: Path) -> str:
    """Where everything is, and one line to try."""
    if plan.tunnel:
        first = "Handoff runs, and rings real phones. Ctrl-C ends all of it."
        phone = f"public        {plan.public_url}   here people and Twilio reach it"
        settings = ""
    else:
        first = "Handoff runs, on this machine only. Ctrl-C ends all of it."
        settings = f"""
For `handoff who`, `handoff call ada` and its other commands, in another terminal:
  . {data}/env
"""
        phone = f"dev phone     {plan.devphone_url}   open it: this is the phone that rings"
    return f"""\
{first}

  {phone}
  service       {plan.url}
  data, logs    {data}
  operator key  {plan.kept.operator_key}   signs in at {plan.public_url or plan.url}/

For your agent:
  export HANDOFF_URL={plan.url}
  export HANDOFF_API_KEY={plan.kept.api_key}
{settings}
Try it:
  curl -s $HANDOFF_URL/v1/handoffs -H "Authorization: Bearer $HANDOFF_API_KEY" \\
    -H 'Content-Type: application/json' -d '{{"kind": "ask", "reason": "Which address should I ship to?"}}'
"""
