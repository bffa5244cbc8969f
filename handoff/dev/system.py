"""What a development system consists of: its programs, their commands and their environment, as data.

Deciding only. supervisor.py starts them; production starts the same programs from the Procfile. For real
calls a tunnel stands in the place of the dev phone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import handoff
from handoff import config
from handoff.dev import ports, redis_server
from handoff.dev.folder import Folder, Kept, looks_real
from handoff.dev.ports import Promises
from handoff.dev.real_calls import RealCalls
from handoff.dev.tunnel import Tunnel

ROOT = Path(handoff.__file__).resolve().parents[1]

WEB_PORT = 8010
DEVPHONE_PORT = 8020

FROM_NUMBER = "+12125550100"
TO_NUMBERS = "Ada=+12125550123,Ben=+12125550124"

#: The programs that are the service itself; they know its public address.
SERVICE = ("web", "worker", "callbacks", "clock")
_NOT_KNOWN_YET = "https://address-to-come.example"


@dataclass(frozen=True)
class Program:
    """One process: its name in messages and files, its command line and its whole environment."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path = ROOT
    #: Whether it is simply started again when it dies.
    again: bool = True


@dataclass(frozen=True)
class System:
    """The programs in the order in which they start, and where they can be reached.

    `url` is for programs on this machine; `public_url` for people and Twilio, only with a tunnel and once
    that has said it.
    """

    programs: tuple[Program, ...]
    kept: Kept
    tunnel: Tunnel | None = None
    public_url: str = ""

    @property
    def url(self) -> str:
        return f"http://{ports.LOOPBACK}:{self.kept.web_port}"

    @property
    def devphone_url(self) -> str | None:
        return None if self.tunnel else f"http://{ports.LOOPBACK}:{self.kept.devphone_port}"

    @property
    def redis_url(self) -> str:
        return redis_server.url(self.kept.redis_port or 0)

    @property
    def settings(self) -> dict[str, str]:
        """What another program on this machine has to be told to work on the same service."""
        web = next(program for program in self.programs if program.name == "web")
        wanted = ("HANDOFF_", "TWILIO_", "NO_PROXY", "no_proxy")
        return {name: text for name, text in web.env.items() if name.startswith(wanted)}

    def reached_at(self, public_url: str) -> System:
        """The same system, its service told that people and Twilio reach it at this address."""
        programs = tuple(
            replace(program, env={**program.env, "HANDOFF_PUBLIC_URL": public_url})
            if program.name in SERVICE
            else program
            for program in self.programs
        )
        return replace(self, programs=programs, public_url=public_url)


def plan(
    folder: Folder,
    environ: Mapping[str, str],
    promises: Promises,
    *,
    port: int | None = None,
    devphone_port: int | None = None,
    web_workers: int = 1,
    real: RealCalls | None = None,
) -> System:
    """Chooses free ports (the asked one, else the last one, else the next free) and writes the commands.

    With `real` there is a tunnel instead of a dev phone, and the service's address is not known yet.
    Raises redis_server.NoServer, folder.FolderUnusable, OSError when no port is free, or config.BadSettings.
    """
    if looks_real(environ.get("DEVPHONE_AUTH_TOKEN", "")):
        raise config.BadSettings(
            ["DEVPHONE_AUTH_TOKEN: looks like a real one (32 hexadecimal digits); make up another"]
        )
    kept = _with_ports(folder.kept(), promises, port, devphone_port, phone=real is None)
    redis_data = folder.path / "redis"
    redis_data.mkdir(exist_ok=True, mode=0o700)
    redis = redis_server.command(redis_server.find_program(), redis_data, kept.redis_port or 0)
    folder.keep(kept)

    plain = _without_accounts(environ)
    kept = replace(
        kept,
        account_sid=environ.get("DEVPHONE_ACCOUNT_SID") or kept.account_sid,
        auth_token=environ.get("DEVPHONE_AUTH_TOKEN") or kept.auth_token,
    )
    folder.keep(kept)
    system = System((), kept, real.tunnel if real else None)
    if real:
        reaching = _tunnel(real.tunnel, plain, kept)
        ours = _real_environment(plain, real, system, web_workers)
    else:
        reaching = _devphone(plain, kept, environ.get("DEVPHONE_CALLS_PER_SECOND", "0"))
        ours = _screen_environment(plain, system, web_workers)
    python = sys.executable
    web = (python, "-m", "gunicorn", "-c", "gunicorn.conf.py", "app:create_app()")
    programs = (
        Program("redis", tuple(redis), plain),
        reaching,
        Program("web", web, ours),
        Program("worker", (python, "-m", "handoff", "worker", "--only", "people"), ours),
        Program("callbacks", (python, "-m", "handoff", "worker", "--only", "callbacks"), ours),
        Program("clock", (python, "-m", "handoff", "clock"), ours),
    )
    return replace(system, programs=programs)


def _devphone(plain: Mapping[str, str], kept: Kept, calls_per_second: str) -> Program:
    command = (sys.executable, "-m", "devphone", "--port", str(kept.devphone_port), "--number", FROM_NUMBER)
    settings = {
        "DEVPHONE_ACCOUNT_SID": kept.account_sid,
        "DEVPHONE_AUTH_TOKEN": kept.auth_token,
        "DEVPHONE_CALLS_PER_SECOND": calls_per_second,
    }
    return Program("devphone", command, {**plain, **settings})


def _tunnel(tunnel: Tunnel, plain: Mapping[str, str], kept: Kept) -> Program:
    """Without our settings: a program that is not ours needs none of our secrets.

    Never simply started again: its next address is another one, and the service must know it.
    """
    env = {name: text for name, text in plain.items() if not name.startswith("HANDOFF_")}
    return Program("tunnel", tunnel.command(kept.web_port or 0), env, again=False)


def _with_ports(
    kept: Kept, promises: Promises, port: int | None, devphone_port: int | None, *, phone: bool
) -> Kept:
    wanted = devphone_port or kept.devphone_port or DEVPHONE_PORT
    return replace(
        kept,
        web_port=promises.get(port or kept.web_port or WEB_PORT),
        devphone_port=promises.get(wanted) if phone else kept.devphone_port,
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


def _screen_environment(environ: Mapping[str, str], system: System, web_workers: int) -> dict[str, str]:
    """The settings of a service whose phone is on the screen; all of it on loopback."""
    return {
        # A phone on the screen costs nothing and wakes nobody.
        "HANDOFF_CALLS_PER_SECOND": "0",
        "HANDOFF_NUMBER_CAPS": "none",
        "HANDOFF_TEXT_CAPS": "none",
        "HANDOFF_CALLS_A_DAY": "0",
        **_service_environment(environ, system, web_workers),
        "HANDOFF_DEV": "1",
        "HANDOFF_PUBLIC_URL": system.url,
        "TWILIO_ACCOUNT_SID": system.kept.account_sid,
        "TWILIO_AUTH_TOKEN": system.kept.auth_token,
        "TWILIO_FROM_NUMBER": FROM_NUMBER,
        "TWILIO_API_URL": f"http://{ports.LOOPBACK}:{system.kept.devphone_port}",
    }


def _real_environment(
    environ: Mapping[str, str], real: RealCalls, system: System, web_workers: int
) -> dict[str, str]:
    """The settings of a service that rings real phones, but for its public address. Nothing is let off.

    Raises config.BadSettings for an account or a number that can't be.
    """
    ours = {
        "HANDOFF_PROXIES": "1",  # the tunnel says who asks; without it everybody would be 127.0.0.1
        **_service_environment({**environ, **real.settings}, system, web_workers),
        "HANDOFF_DEV": "0",
        # What was opened for the phone on the screen stays there, also in the same data folder.
        "HANDOFF_PREFIX": "handoff-twilio",
        "HANDOFF_PUBLIC_URL": _NOT_KNOWN_YET,
    }
    config.from_environment(ours)
    return ours


def _service_environment(environ: Mapping[str, str], system: System, web_workers: int) -> dict[str, str]:
    """What web, worker and clock are told in either case; other HANDOFF_ settings come from outside."""
    kept = system.kept
    api_keys = f"dev={kept.api_key},ops:operator={kept.operator_key}"
    people = environ.get("HANDOFF_PEOPLE", "").strip()
    choices = {
        **({} if people else {"HANDOFF_TO_NUMBER": TO_NUMBERS}),
        "HANDOFF_ALLOW_PRIVATE_CALLBACKS": "1",
        "HANDOFF_LOG_FORMAT": "console",
    }
    return {
        **choices,
        **environ,
        "HANDOFF_REDIS_URL": system.redis_url,
        "HANDOFF_SECRET_KEY": kept.secret_key,
        "HANDOFF_API_KEYS": ",".join(filter(None, [api_keys, environ.get("HANDOFF_API_KEYS")])),
        "HANDOFF_WEB_BIND": f"{ports.LOOPBACK}:{kept.web_port}",
        "HANDOFF_WEB_WORKERS": str(web_workers),
    }
