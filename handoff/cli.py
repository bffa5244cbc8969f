"""The `handoff` command: runs the processes, makes keys, finds what is wrong before the first call.

Thin: each command calls the module that knows how. Together with bootstrap.py the only module that may
know all of them.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import redis

from handoff import keys, resume, states
from handoff.config import BadSettings
from handoff.errors import HandoffError, Invalid
from handoff.models import Urgency
from handoff.moments import rfc3339
from handoff.rights import Rights

if TYPE_CHECKING:
    from handoff.bootstrap import Services


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="handoff")
def main() -> None:
    """An agent blocks, a phone rings, a person lets it go on."""


@main.command()
@click.option(
    "--port", type=click.IntRange(1, 65_535), help="Port of the service; the next free one if taken."
)
@click.option("--devphone-port", type=click.IntRange(1, 65_535), help="Port of the dev phone.")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".handoff"),
    show_default=True,
    help="Where Redis, keys and logs live.",
)
@click.option("--web-workers", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option("--json", "json_output", is_flag=True, help="One line of JSON when everything answers.")
@click.option("--twilio", is_flag=True, help="Ring real phones, through an installed cloudflared or ngrok.")
def dev(
    port: int | None,
    devphone_port: int | None,
    data: Path,
    web_workers: int,
    json_output: bool,
    twilio: bool,
) -> None:
    """Run everything on this machine, with a phone on the screen: no Redis, no Twilio account needed.

    With --twilio real phones ring: the account is in the environment or in .env (see docs/twilio.md).
    """
    from handoff.dev import supervisor

    if twilio and devphone_port:
        raise click.UsageError("--devphone-port: with --twilio there is no dev phone")
    sys.exit(
        supervisor.run(
            port=port,
            devphone_port=devphone_port,
            data=data,
            web_workers=web_workers,
            json_output=json_output,
            twilio=twilio,
        )
    )


@main.command()
@click.option(
    "--only",
    type=click.Choice(["people", "callbacks"]),
    help="Only reach people, or only tell agents, whose servers may be slow.",
)
def worker(only: str | None) -> None:
    """Run a worker: it places calls, sends texts and tells agents. Run as many as you like."""
    from workers import worker as process

    with _plain_errors():
        process.run(only)


@main.command()
def clock() -> None:
    """Run a clock: it brings what is due to the workers, and ends what is over. Any number may run."""
    from workers import clock as process

    with _plain_errors():
        process.run()


@main.command()
@click.option("--offline", is_flag=True, help="Ask neither Redis nor Twilio; only look at the settings.")
def doctor(offline: bool) -> None:
    """Find what is wrong before the first call. Exit code 1 when something is."""
    from handoff import doctor as checks

    sound = True
    for finding in checks.examine(os.environ, offline=offline):
        click.echo(f"{finding.mark}  {finding.what}")
        sound = sound and not finding.wrong
    sys.exit(0 if sound else 1)


@main.command()
@click.option("--policy", help="Another policy than the default one.")
@click.option("--contact", help="One contact, as a request may ask for.")
@click.option(
    "--urgency", type=click.Choice([str(one) for one in Urgency]), default="normal", show_default=True
)
def who(policy: str | None, contact: str | None, urgency: str) -> None:
    """Show who would be rung now, step by step. Nobody is."""
    from handoff import rehearsal

    with _plain_errors():
        services = _services()
        people, now = services.handoffs.rules().people, services.clock()
        opt_outs, sender = services.handoffs.opt_outs, services.settings.text_sender
        told = rehearsal.who(
            people,
            Urgency(urgency),
            now,
            policy=policy,
            contact=contact,
            stopped=opt_outs.from_calls,
            untexted=lambda number: opt_outs.from_texts(number, sender),
        )
        for line in told:
            click.echo(line)


@main.command()
@click.argument("contact")
def call(contact: str) -> None:
    """Place a test call to CONTACT and tell what happens. Exit code 1 when they were not reached."""
    from handoff import rehearsal

    with _plain_errors():
        last = ""
        for last in rehearsal.call(_services(), contact):
            click.echo(last)
    sys.exit(0 if last.endswith(rehearsal.REACHED) else 1)


@main.command()
@click.argument("contact")
def card(contact: str) -> None:
    """Text CONTACT where our contact card is, so that our calls ring through."""
    with _plain_errors():
        services = _services()
        try:
            found = services.enrolments.offer_card(contact)
        except HandoffError as error:
            raise click.ClickException(error.detail) from None
    click.echo(f"{found.name} gets a text as soon as a worker sends it.")


@main.command()
@click.option("--force", is_flag=True, help="Although the number leads to something else now.")
def connect(force: bool) -> None:
    """Have calls and texts to TWILIO_FROM_NUMBER come here."""
    from handoff import connecting
    from voice.gateway import GatewayError

    with _plain_errors():
        try:
            for line in connecting.connect(_services(), force=force):
                click.echo(line)
        except connecting.Foreign as error:
            raise click.ClickException(str(error)) from None
        except GatewayError as error:
            raise click.ClickException(f"Twilio: {error}") from None


@main.command("states")
def print_states() -> None:
    """Print the state machines as docs/states.md has them."""
    click.echo(states.document(), nl=False)


@main.command()
def pin() -> None:
    """Ask for a PIN of 6 to 12 digits and print what the people file keeps of it."""
    from handoff import pins

    given = click.prompt("PIN", hide_input=True, confirmation_prompt=True, err=True)
    try:
        click.echo(f'pin = "{pins.kept(given)}"')
    except ValueError as error:
        raise click.ClickException(str(error)) from None


@main.group("keys")
def keys_group() -> None:
    """API keys: make, list, revoke."""


@keys_group.command("create")
@click.argument("agent")
@click.option("--operator", is_flag=True, help="A key for a person who operates the service.")
@click.option("--policies", metavar="A,B", help="The only escalation policies that it may use.")
@click.option("--contacts", metavar="A,B", help="The only contacts that it may ask for by name.")
@click.option(
    "--urgency",
    type=click.Choice([str(one) for one in Urgency]),
    default=str(Urgency.CRITICAL),
    show_default=True,
    help="The most urgent that it may ask for.",
)
@click.option(
    "--share",
    type=click.IntRange(1, 100),
    default=100,
    show_default=True,
    help="Per cent of each number's caps that its calls may use up.",
)
def keys_create(
    agent: str, operator: bool, policies: str | None, contacts: str | None, urgency: str, share: int
) -> None:
    """Make a key for AGENT. It is shown once."""

    def names(text: str | None) -> tuple[str, ...] | None:
        return None if text is None else tuple(filter(None, (name.strip() for name in text.split(","))))

    rights = Rights(policies=names(policies), contacts=names(contacts), urgency=Urgency(urgency), share=share)

    with _plain_errors():
        services = _services()
        try:
            now = services.clock()
            key, record = keys.create(services.store, agent, operator=operator, now=now, rights=rights)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    click.echo(f"key             {key}\nid              {record.id}")
    if not operator:
        secret = resume.signing_secret(services.settings.secret_keys[0], record.id)
        click.echo(f"signing secret  {secret}")
    click.echo("The key is not shown again.", err=True)


@keys_group.command("list")
def keys_list() -> None:
    """List the keys, without the keys themselves, and how far each goes."""
    with _plain_errors():
        for key in _services().store.api_keys():
            state = f"revoked {rfc3339(key.revoked)}" if key.revoked else "good"
            used = rfc3339(key.last_used) if key.last_used else "never used"
            rights = _rights(key.rights) if "operator" not in key.scopes else ""
            click.echo(f"{key.id}  {'/'.join(key.scopes):8}  {key.agent:24}  {state}  {used}{rights}")


def _rights(rights: Rights) -> str:
    """What the key may not do, as far as anything is kept from it."""
    bounds = [
        rights.policies is not None and f"only policies {', '.join(rights.policies) or 'none'}",
        rights.contacts is not None and f"only contacts {', '.join(rights.contacts) or 'none'}",
        rights.urgency is not Urgency.CRITICAL and f"at most {rights.urgency}",
        rights.share < 100 and f"{rights.share} % of caps",
    ]
    return "".join(f"  {bound}" for bound in bounds if bound)


@keys_group.command("secret")
@click.argument("key_id")
def keys_secret(key_id: str) -> None:
    """Show the secret that callbacks to this key's agent are signed with."""
    with _plain_errors():
        services = _services()
        if services.store.api_key(key_id) is None:
            raise click.ClickException(f"there is no key {key_id}")
        click.echo(resume.signing_secret(services.settings.secret_keys[0], key_id))


@keys_group.command("revoke")
@click.argument("key_id")
def keys_revoke(key_id: str) -> None:
    """Revoke a key, at once and for good."""
    with _plain_errors():
        services = _services()
        if keys.revoke(services.store, key_id, services.clock()) is None:
            raise click.ClickException(f"there is no key {key_id}")
        click.echo(f"{key_id} is revoked")


def _services() -> Services:
    """Of a command that is done in a moment: only trouble is logged, so that its own words stand alone."""
    from handoff import bootstrap

    return bootstrap.from_environment(log_level=logging.WARNING)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What an operator can mend is said in words, without a stack trace."""
    try:
        yield
    except BadSettings as error:
        raise click.ClickException("these settings can't work:\n" + "\n".join(error.problems)) from None
    except Invalid as error:
        raise click.ClickException(error.errors[0].message) from None
    except redis.RedisError as error:
        raise click.ClickException(f"Redis can't be reached: {type(error).__name__}") from None
