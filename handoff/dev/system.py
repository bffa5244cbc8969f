"""What a development system consists of: five programs, their commands and their environment, as data.

Deciding only. supervisor.py starts them; production starts the same programs from the Procfile.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import handoff
from handoff.dev import ports, redis_server
from handoff.dev.folder import Folder, Kept
from handoff.dev.ports import Promises

ROOT = Path(handoff.__file__).resolve().parents[1]

WEB_PORT = 8010
DEVPHONE_PORT = 8020

FROM_NUMBER = "+12125550100"
TO_NUMBERS = "Ada=+12125550123,Ben=+12125550124"


@dataclass(frozen=True)
class Program:
    """One process: its name in messages and files, its command line and its whole environment."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path = ROOT


@dataclass(frozen=True)
class System:
    """The programs in the order in which they start, and where they can be reached."""

    programs: tuple[Program, ...]
    kept: Kept

    @property
    def url(self) -> str:
        return f"http://{ports.LOOPBACK}:{self.kept.web_port}"

    @property
    def devphone_url(self) -> str:
        return f"http://{ports.LOOPBACK}:{self.kept.devphone_port}"

    @property
    def redis_url(self) -> str:
        return redis_server.url(self.kept.redis_port or 0)


def plan(
    folder: Folder,
    environ: Mapping[str, str],
    promises: Promises,
    *,
    port: int | None = None,
    devphone_port: int | None = None,
    web_workers: int = 1,
) -> System:
    """Chooses free ports (the asked one, else the last one, else the next free) and writes the commands.

    Raises redis_server.NoServer, folder.FolderUnusable, or OSError when no port is free.
    """
    kept = _with_ports(folder.kept(), promises, port, devphone_port)
    redis_data = folder.path / "redis"
    redis_data.mkdir(exist_ok=True, mode=0o700)
    redis = redis_server.command(redis_server.find_program(), redis_data, kept.redis_port or 0)
    folder.keep(kept)

    python = sys.executable
    devphone = (python, "-m", "devphone", "--port", str(kept.devphone_port), "--number", FROM_NUMBER)
    web = (python, "-m", "gunicorn", "-c", "gunicorn.conf.py", "app:create_app()")

    plain = _without_accounts(environ)
    kept = replace(
        kept,
        account_sid=environ.get("DEVPHONE_ACCOUNT_SID") or kept.account_sid,
        auth_token=environ.get("DEVPHONE_AUTH_TOKEN") or kept.auth_token,
    )
    folder.keep(kept)
    ours = _service_environment(plain, System((), kept), web_workers)
    credentials = {"DEVPHONE_ACCOUNT_SID": kept.account_sid, "DEVPHONE_AUTH_TOKEN": kept.auth_token}
    return System(
        (
            Program("redis", tuple(redis), plain),
            Program("devphone", devphone, {**plain, **credentials}),
            Program("web", web, ours),
            Program("worker", (python, "-m", "handoff", "worker", "--only", "people"), ours),
            Program("callbacks", (python, "-m", "handoff", "worker", "--only", "callbacks"), ours),
            Program("clock", (python, "-m", "handoff", "clock"), ours),
        ),
        kept,
    )


def _with_ports(kept: Kept, promises: Promises, port: int | None, devphone_port: int | None) -> Kept:
    return replace(
        kept,
        web_port=promises.get(port or kept.web_port or WEB_PORT),
        devphone_port=promises.get(devphone_port or kept.devphone_port or DEVPHONE_PORT),
        redis_port=promises.get(kept.redis_port),
    )


def _without_accounts(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment we were given, without anything of a real Twilio account: no real phone may ring."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("TWILIO_", "DEVPHONE_"))}
    # A proxy meant for the outside must not get what these processes tell each other.
    for name in ("NO_PROXY", "no_proxy"):
        kept[name] = ",".join(filter(None, [kept.get(name), ports.LOOPBACK, "localhost"]))
    kept["PYTHONUNBUFFERED"] = "1"
    return kept


def _service_environment(environ: Mapping[str, str], system: System, web_workers: int) -> dict[str, str]:
    """The settings of web, worker and clock; other HANDOFF_ ones (ring seconds ...) come from outside."""
    kept = system.kept
    api_keys = f"dev={kept.api_key},ops:operator={kept.operator_key}"
    choices = {
        "HANDOFF_TO_NUMBER": TO_NUMBERS,
        "HANDOFF_ALLOW_PRIVATE_CALLBACKS": "1",
        "HANDOFF_LOG_FORMAT": "console",
    }
    return {
        **choices,
        **environ,
        "HANDOFF_DEV": "1",
        "HANDOFF_PUBLIC_URL": system.url,
        "HANDOFF_REDIS_URL": system.redis_url,
        "HANDOFF_SECRET_KEY": kept.secret_key,
        "HANDOFF_API_KEYS": ",".join(filter(None, [api_keys, environ.get("HANDOFF_API_KEYS")])),
        "HANDOFF_WEB_BIND": f"{ports.LOOPBACK}:{kept.web_port}",
        "HANDOFF_WEB_WORKERS": str(web_workers),
        "TWILIO_ACCOUNT_SID": kept.account_sid,
        "TWILIO_AUTH_TOKEN": kept.auth_token,
        "TWILIO_FROM_NUMBER": FROM_NUMBER,
        "TWILIO_API_URL": system.devphone_url,
    }
