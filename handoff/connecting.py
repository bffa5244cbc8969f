"""Our number's calls and texts lead here: what `handoff connect` does, and what the doctor and `dev` look at.

Nothing here prints. Who calls or texts then is voice/'s business.
"""

from __future__ import annotations

from collections.abc import Iterator

from handoff.bootstrap import Services
from handoff.people import mask
from voice import urls
from voice.gateway import Routes

#: What Twilio itself writes into a new number: nobody's.
#: https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource
_NOBODYS = ("https://demo.twilio.com/",)
_NAMES = {"calls": "calls", "call_status": "the ends of calls", "texts": "texts"}


class Foreign(Exception):
    """The number leads to something else, which was not asked to be given up. The message says to what."""


def ours(public_url: str) -> Routes:
    """Where the number has to lead for this service."""
    return Routes(
        calls=public_url + urls.inbound_calls(),
        call_status=public_url + urls.inbound_status(),
        texts=public_url + urls.inbound_texts(),
    )


def astray(found: Routes, public_url: str) -> list[str]:
    """What does not come here, in words: `calls go nowhere`, `texts go to https://...`."""
    wanted = ours(public_url)
    told = [
        f"{name} go {f'to {there}' if (there := getattr(found, field)) else 'nowhere'}"
        for field, name in _NAMES.items()
        if getattr(found, field) != getattr(wanted, field)
    ]
    return [*told, *([f"a {found.elsewhere} has what comes in"] if found.elsewhere else [])]


def connect(services: Services, *, force: bool = False) -> Iterator[str]:
    """Has our number send calls and texts here; lines that tell what it was and what it is.

    Raises Foreign when it leads to something else, unless `force`; voice.gateway.GatewayError when the
    provider can't be asked or refuses.
    """
    settings, wanted = services.settings, ours(services.settings.public_url)
    sender = services.gateway.sender()
    number = mask(settings.twilio_from)
    if sender is None:
        raise Foreign(f"{number} is no number of this account: nothing that comes in can be sent anywhere")
    before = astray(sender.routes, settings.public_url)
    if not before:
        yield f"{number} leads here already"
        return
    foreign = [url for url in _urls(sender.routes) if url not in _urls(wanted) and not _is_nobodys(url)]
    if (foreign or sender.routes.elsewhere) and not force:
        raise Foreign(
            f"{number} is in use by something else: {'; '.join(before)}. Use --force to have it lead here."
        )
    yield from (f"before: {one}" for one in before)
    services.gateway.connect(wanted)
    yield f"{number} leads here now: calls to {wanted.calls}, texts to {wanted.texts}"


def _urls(routes: Routes) -> list[str]:
    return [url for url in (routes.calls, routes.call_status, routes.texts) if url]


def _is_nobodys(url: str) -> bool:
    return url.startswith(_NOBODYS)
