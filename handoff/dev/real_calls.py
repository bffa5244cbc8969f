"""What `handoff dev --twilio` needs to know before a real phone rings: the account, and what it can't do.

The settings come from the environment, completed by a file `.env`. Where the facts in the notice come from
is in docs/twilio.md.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handoff.dev.tunnel import Tunnel

NEEDED = ("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM_NUMBER", "HANDOFF_TO_NUMBER")

NOTICE = """\
Real phones will ring, and be billed. What Twilio will not do (more in docs/twilio.md):
  trial account  Reaches verified numbers only. One made since 2026 takes neither our calls nor our own texts:
                 upgrade it first. An older one has people press any key before they hear us; that key answers
                 nothing.  https://www.twilio.com/docs/usage/trials
  US number      Texts are blocked until it is registered (A2P 10DLC: error 30034; toll-free: error 30032).
                 Calls ring all the same.  https://www.twilio.com/docs/messaging/compliance/a2p-10dlc
  any number     Other countries must be allowed first (errors 21215, 21408).
                 https://www.twilio.com/docs/voice/api/dialing-permissions-resources
"""


class NotReady(Exception):
    """Something is missing for real calls; the message says what and where it belongs."""


@dataclass(frozen=True)
class RealCalls:
    """An account (its settings by name, with all other HANDOFF_ and TWILIO_ ones) and a way to reach us."""

    settings: Mapping[str, str]
    tunnel: Tunnel


def settings(environ: Mapping[str, str], file: Path) -> dict[str, str]:
    """All HANDOFF_ and TWILIO_ settings; what the environment says outranks the file, which may be missing.

    Raises NotReady, naming all that is missing at once.
    """
    found = {**_from_file(file), **{name: text for name, text in environ.items() if text.strip()}}
    kept = {name: text for name, text in found.items() if name.startswith(("HANDOFF_", "TWILIO_"))}
    if missing := [name for name in NEEDED if not kept.get(name, "").strip()]:
        raise NotReady(
            f"for real calls {_list(missing)} must be set, in the environment or in {file} "
            "(.env.example explains them, docs/twilio.md how to get them)"
        )
    if kept.get("HANDOFF_OPEN_CONSOLE", "0").lower() not in ("0", "no", "false"):
        raise NotReady("HANDOFF_OPEN_CONSOLE is set, and would let the whole internet in: unset it")
    return kept


def _from_file(file: Path) -> dict[str, str]:
    """NAME=value lines as a shell reads them, with quotes, comments and `export`; no $ is expanded."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise NotReady(f"can't read {file}: {type(error).__name__}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            words = ["a quote is not closed"]
        words = words[1:] if words[:1] == ["export"] else words
        if not words:
            continue
        name, equals, value = words[0].partition("=")
        if len(words) > 1 or not equals or not name.isidentifier():
            # Not the line itself: it may hold a secret.
            raise NotReady(f"{file}, line {number}: must be NAME=value, in quotes where there are blanks")
        found[name] = value
    return found


def _list(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
