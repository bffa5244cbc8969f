"""The data folder of one development system: its lock, its keys and ports, its process ids, its logs.

Made for its owner only (0700; the files with keys 0600). The keys are made once per folder and kept, so that
a restart knows the same agents, and so are the ports, so that links which were sent still open.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

_POLL_S = 0.05


class FolderInUse(Exception):
    """Another system, or a process that one left behind, works on this folder; the message says which."""


class FolderUnusable(Exception):
    """The folder can't be made, or what is kept in it can't be read; the message says what to do."""


@dataclass(frozen=True)
class Kept:
    """What a development system keeps over its restarts: keys made up for it alone, and its last ports."""

    secret_key: str
    api_key: str
    operator_key: str
    account_sid: str
    auth_token: str
    web_port: int | None = None
    devphone_port: int | None = None
    redis_port: int | None = None


class Folder:
    """An opened data folder. `open` locks it; the lock ends with the last process that inherited `lock`."""

    def __init__(self, path: Path, owner: int, lock: int) -> None:
        self.path = path
        self.lock = lock
        self._owner = owner

    @classmethod
    def open(cls, path: Path, *, patience_s: float = 20) -> Folder:
        """Makes the folder if needed and locks it. Raises FolderInUse or FolderUnusable.

        A running system refuses at once. When only its processes are left (it was killed a moment ago and
        they are still ending), waits up to `patience_s` for them: two Redis must never write one file.
        """
        # Two locks: `owner` is the supervisor's alone, so that it ends with it; `lock` its processes inherit.
        owner = _open(path, "owner")
        if not _try_lock(owner):
            who = os.pread(owner, 20, 0).decode()
            os.close(owner)
            raise FolderInUse(
                f"another `handoff dev` (process {who}) works on {path}: "
                "stop it, or give this one a folder of its own with --data"
            )
        lock = _open(path, "lock")
        deadline = time.monotonic() + patience_s
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                os.close(lock)
                os.close(owner)
                pids = path / "pids.json"
                raise FolderInUse(
                    f"processes of an earlier run still work on {path}: end those that {pids} names"
                )
            time.sleep(_POLL_S)
        os.ftruncate(owner, 0)
        os.pwrite(owner, str(os.getpid()).encode(), 0)
        (path / "logs").mkdir(exist_ok=True)
        return cls(path, owner, lock)

    def close(self) -> None:
        """Gives the folder back; processes that inherited the lock keep it until they end."""
        os.close(self.lock)
        os.close(self._owner)

    def log(self, name: str) -> Path:
        """The log of one process; what the run before wrote is in `NAME.log.1`."""
        return self.path / "logs" / f"{name}.log"

    def set_old_logs_aside(self) -> None:
        """Starts every log anew, so that what it says is of this run."""
        for log in (self.path / "logs").glob("*.log"):
            log.replace(log.with_name(log.name + ".1"))

    def kept(self) -> Kept:
        """The keys and ports of this folder, made up at the first call. Raises FolderUnusable.

        An auth token that could be a real one is renewed, since the dev phone takes none such.
        """
        file = self.path / "dev.json"
        try:
            kept = Kept(**json.loads(file.read_text()))
        except FileNotFoundError:
            kept = _made_up()
        except (ValueError, TypeError, OSError):
            raise FolderUnusable(f"can't read {file}; delete it to get new keys") from None
        else:
            if not looks_real(kept.auth_token):
                return kept
            kept = replace(kept, auth_token=_simulated_token())
        self.keep(kept)
        return kept

    def keep(self, kept: Kept) -> None:
        """Writes down keys and ports, readable by the owner only."""
        _write(self.path / "dev.json", asdict(kept))

    def write_pids(self, pids: Mapping[str, int]) -> None:
        """Tells who runs under which process id now, in `pids.json`."""
        _write(self.path / "pids.json", pids)

    def write_settings(self, settings: Mapping[str, str]) -> None:
        """Keeps the service's settings in `env`, as a shell reads them, and where `handoff` is: `handoff who`
        and its like in another terminal need both."""
        lines = [f"export {name}={shlex.quote(text)}\n" for name, text in sorted(settings.items())]
        lines.append(f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"\n')
        _replace(self.path / "env", "".join(lines))


def _made_up() -> Kept:
    return Kept(
        secret_key=secrets.token_urlsafe(48),
        api_key="hk_" + secrets.token_hex(20),
        operator_key="hk_" + secrets.token_hex(20),
        account_sid="AC" + secrets.token_hex(16),
        auth_token=_simulated_token(),
    )


def _simulated_token() -> str:
    return "simulated-" + secrets.token_hex(16)


def looks_real(auth_token: str) -> bool:
    """Whether it has the form of Twilio's auth tokens: 32 hexadecimal digits."""
    return re.fullmatch(r"[0-9a-fA-F]{32}", auth_token) is not None


def _open(folder: Path, name: str) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise FolderUnusable(f"can't use the data folder {folder}: {error.strerror}") from None


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(file: Path, content: Mapping[str, object]) -> None:
    _replace(file, json.dumps(content, indent=1) + "\n")


def _replace(file: Path, text: str) -> None:
    """Replaces a file in one step, so that no reader ever sees half of it."""
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
    fresh.replace(file)
