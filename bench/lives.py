"""Handoffs for store.py: many, made without the service's round trips, and one that lives its whole life."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import handoff.store
from handoff import attempts, ids, lifecycle, links
from handoff.calls import Calls
from handoff.changes import Rules
from handoff.claims import Claims
from handoff.commands import Handoffs
from handoff.effects import EffectKind
from handoff.messages import OpenRequest
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.people import of_environment, parse_people
from handoff.rights import ApiKey
from handoff.states import Disposition, Kind
from handoff.store import Store
from handoff.store.plan import Plan, write
from handoff.store.transaction import Transaction

ADAS = "+12125550123"
RULES = Rules(people=of_environment(parse_people(f"Ada={ADAS},Ben=+12125550124"), ring_s=25, rounds=1))
KEY = ApiKey(id=ids.new_id(ids.API_KEY), hash="0" * 64, agent="checkout-bot", scopes=("agent",), created=0)
ADA = Actor(kind=ActorKind.CONTACT, id="ada", name="Ada")
_REASON = "A human-verification checkbox is blocking checkout of cart 1009"
_BATCH = 500
_RUN = "run-1"


def wanted(number: int = 0) -> OpenRequest:
    """What an agent asks for; each number another time to answer, so that deadlines differ."""
    return OpenRequest.model_validate(
        {
            "kind": Kind.CLEAR,
            "reason": _REASON,
            "live_view_url": "https://browser.example/live/7f3a",
            "timeout_s": 3_600.0 + number % 600,
            "metadata": {"run": "r-1009"},
        }
    )


def open_many(store: Store, count: int, first_ms: int) -> None:
    """Opens `count` handoffs one millisecond apart, through the commit script, hundreds a round trip."""
    client: Any = store.connections.commands
    source = (Path(handoff.store.__file__).parent / "lua" / "commit.lua").read_text()
    script = client.register_script(source)
    for start in range(0, count, _BATCH):
        pipe = client.pipeline(transaction=False)
        for number in range(start, min(start + _BATCH, count)):
            now = first_ms + number
            change = lifecycle.open_handoff(
                wanted(number), agent=KEY.agent, api_key=KEY.id, rules=RULES, now=now
            )
            plan = Plan(changes=[change], idempotency=(KEY.id, f"{number:064d}", "0" * 64))
            tx = Transaction(store.keys)
            write(tx, store.keys, plan, now)
            script(keys=tx.keys, args=tx.args(), client=pipe)
        if any(answer[0] != b"done" and answer[0] != "done" for answer in pipe.execute()):
            raise RuntimeError("a commit was refused")


def whole_life(handoffs: Handoffs, calls: Calls, claims: Claims, secret_key: str) -> Handoff:
    """A handoff as most are: rung, answered, "I'm on it" by key, then done by link; a text went out too."""
    store = handoffs.store
    opened = handoffs.open(wanted(), KEY, ids.random_text(22)).handoff
    call_id = next(one.call for one in opened.attempts if one.call)
    attempt = next(one.id for one in opened.attempts if one.call)
    effect = store.begin(f"{EffectKind.PLACE_CALL}-{call_id}", handoffs.clock(), 60_000, _RUN)
    if effect is None or claims.claim(call_id, effect, _RUN) is None:
        raise RuntimeError("the call could not be claimed")
    calls.placed(call_id, f"CA{ids.random_text(32)}")
    store.finish(effect, handoffs.clock())
    calls.ringing(call_id, None)
    calls.answered(call_id, None)
    calls.keyed(call_id)
    handoffs.acknowledge(
        opened.id, _decision(handoffs, Channel.CALL, Proof.KEYPRESS), f"key-{call_id}", attempt
    )
    calls.pressed(call_id, "2", 1)
    calls.end(call_id, Disposition.NO_INPUT)
    link = links.make(secret_key, opened.id, ADA.id)
    store.put_link(link, opened.id, ADA.id)
    for one in opened.attempts:
        if one.channel is Channel.TEXT:
            _send(handoffs, opened.id, one.id)
    handoffs.resolve(opened.id, _decision(handoffs, Channel.LINK, Proof.LINK), f"form-{ids.random_text(24)}")
    return handoffs.get(opened.id)


def _send(handoffs: Handoffs, handoff_id: str, attempt_id: str) -> None:
    effect = handoffs.store.begin(f"{EffectKind.SEND_TEXT}-{attempt_id}", handoffs.clock(), 60_000, _RUN)
    provider_id = f"SM{ids.random_text(32)}"
    handoffs.change(
        handoff_id, lambda fresh, now: attempts.text_asked(fresh, attempt_id, _RUN, now, number=ADAS)
    )
    handoffs.change(
        handoff_id, lambda fresh, now: attempts.text_accepted(fresh, attempt_id, provider_id, now)
    )
    if effect is not None:
        handoffs.store.finish(effect, handoffs.clock())


def decision(handoffs: Handoffs) -> Decision:
    """Ada says by link that it is done."""
    return _decision(handoffs, Channel.LINK, Proof.LINK)


def _decision(handoffs: Handoffs, channel: Channel, proof: Proof) -> Decision:
    return Decision(by=ADA, channel=channel, proof=proof, at=handoffs.clock())
