"""What one commit holds, and how it is written: records, events, indexes, effects and the wake-up.

Which changes make sense is not decided here, and nothing is sent: `write` fills a Transaction, which
store.py gives to lua/commit.lua. Rows are written in as few commands as they allow, since every word
of a commit is packed here, read there, and written to the append-only file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from handoff.changes import Change
from handoff.effects import TIMERS, Effect
from handoff.models import Call, Handoff, Record
from handoff.moments import DAY
from handoff.notices import Notices
from handoff.outcomes import Outcome
from handoff.states import CLOSED, State
from handoff.store.contacts import EnrolmentChange, write_enrolment
from handoff.store.keyspace import Keyspace
from handoff.store.notices import put_notices
from handoff.store.transaction import Transaction

WAKES_KEPT = 10_000
#: How long a text that came in is known again.
ONCE_MS = DAY
#: An effect handed to the queue by the process that committed it comes back to the clock after this long.
FIRST_LEASE_MS = 5_000
#: What a handoff can have been in before a change: closed ends are never left.
_OPEN_STATES = tuple(state for state in State if state not in CLOSED)


@dataclass
class Plan:
    """What one commit holds beside the changes of handoffs. Everything is optional."""

    changes: Sequence[Change] = ()
    calls: Sequence[Call] = ()  # new versions; `rev` must already be one higher than what was read
    effects: Sequence[Effect] = ()
    drop: Sequence[str] = ()
    finish: Effect | None = None  # the effect being performed: gone if it is still the same row
    take_line: Call | None = None
    free_line: Call | None = None
    enrolment: EnrolmentChange | None = None
    idempotency: tuple[str, str, str] | None = None  # API key id, hash of the key, hash of the body
    unnamed: bool = False  # the idempotency key is one of our own making
    command: tuple[str, str, Outcome] | None = None  # handoff id, command id, outcome
    notices: Sequence[Notices] = ()  # what is kept for operators; those of changes are kept anyway
    once: str | None = None  # hash of what must be acted on once: Stale when it was
    dispatched: set[str] = field(default_factory=set)  # filled in: ids of effects the caller must enqueue

    @property
    def urgent(self) -> set[str]:
        """Ids of those effects that are to be done before all that waits."""
        found = (*self.effects, *(effect for change in self.changes for effect in change.effects))
        return {effect.id for effect in found if effect.urgent}


def write(tx: Transaction, keys: Keyspace, plan: Plan, now: int) -> None:
    """Puts the whole plan into `tx`, and fills in `plan.dispatched`."""
    if plan.command:
        handoff_id, command_id, outcome = plan.command
        tx.remember(keys.commands(handoff_id), command_id, _document(outcome))
    effects, drop = list(plan.effects), list(plan.drop)
    for change in plan.changes:
        _put_handoff(tx, keys, change, plan)
        effects += change.effects
        drop += change.drop
        for call in change.calls:
            _put_call(tx, keys, call, expected="")
        put_notices(tx, keys, change.notices, now)
    put_notices(tx, keys, plan.notices, now)
    if plan.once:
        tx.guard(keys.once(plan.once), "", "")
        tx.write("SET", keys.once(plan.once), "1", "PX", str(ONCE_MS))
    for call in plan.calls:
        _put_call(tx, keys, call, expected=str(call.rev - 1))
    if plan.take_line:
        tx.guard(keys.lines, plan.take_line.number, "")
        tx.write("HSET", keys.lines, plan.take_line.number, plan.take_line.id)
    if plan.free_line:
        tx.guard(keys.lines, plan.free_line.number, plan.free_line.id)
        tx.write("HDEL", keys.lines, plan.free_line.number)
    if plan.enrolment:
        write_enrolment(tx, keys, plan.enrolment)
    if plan.finish:
        # What was read, not what this version would write: a row of an earlier version has fewer fields.
        tx.guard(keys.effects, plan.finish.id, plan.finish.stored or plan.finish.model_dump_json())
        drop.append(plan.finish.id)
    drop_effects(tx, keys, drop)
    _put_effects(tx, keys, effects, now, plan.dispatched)


def drop_effects(tx: Transaction, keys: Keyspace, effect_ids: Sequence[str]) -> None:
    """Takes these rows out of the outbox; those that are not there are no matter."""
    if effect_ids:
        tx.write("ZREM", keys.due, *effect_ids)
        for name in (keys.effects, keys.leases, keys.runs):
            tx.write("HDEL", name, *effect_ids)


def index_name(handoff: Handoff) -> str:
    """A handoff's name in the indexes, which sort by it: the moment of its opening comes first."""
    return f"{handoff.created_at:013d}:{handoff.id}"


def _put_handoff(tx: Transaction, keys: Keyspace, change: Change, plan: Plan) -> None:
    handoff = change.handoff
    key = keys.handoff(handoff.id)
    first = handoff.rev == 1
    tx.guard(key, "rev", "" if first else str(handoff.rev - 1))
    fields = ["doc", _document(handoff), "rev", str(handoff.rev), "state", handoff.state.value]
    if first and plan.idempotency:
        api_key_id, key_hash, body_hash = plan.idempotency
        idem = keys.idempotency(api_key_id, key_hash)
        tx.guard(idem, "", "")
        tx.write("SET", idem, f"{handoff.id}|{body_hash}")
        fields += ["idem", key_hash, *(["unnamed", "1"] if plan.unnamed else [])]
    tx.write("HSET", key, *fields)
    _put_into_indexes(tx, keys, handoff, first=first)
    for contact in change.reached:
        tx.write("ZADD", keys.open_of(contact), "0", index_name(handoff))
    for contact in change.let_go:
        tx.write("ZREM", keys.open_of(contact), index_name(handoff))
    for event in change.events:
        tx.write("RPUSH", keys.events(handoff.id), _document(event))
    closed = "1" if handoff.closed else "0"
    wake = ["h", handoff.id, "s", str(handoff.seq), "c", closed]
    tx.write("XADD", keys.wakes, "MAXLEN", "~", str(WAKES_KEPT), "*", *wake)


def _put_into_indexes(tx: Transaction, keys: Keyspace, handoff: Handoff, *, first: bool) -> None:
    name = index_name(handoff)
    if first:
        for index in keys.indexes(handoff.agent, handoff.state):
            tx.write("ZADD", index, "0", name)
        return
    for agent in (None, handoff.agent):
        for state in _OPEN_STATES:
            if state is not handoff.state:
                tx.write("ZREM", keys.index(agent=agent, state=state), name)
        tx.write("ZADD", keys.index(agent=agent, state=handoff.state), "0", name)


def _put_call(tx: Transaction, keys: Keyspace, call: Call, *, expected: str) -> None:
    key = keys.call(call.id)
    tx.guard(key, "rev", expected)
    tx.write("HSET", key, "doc", _document(call), "rev", str(call.rev))


def _put_effects(
    tx: Transaction, keys: Keyspace, effects: Iterable[Effect], now: int, dispatched: set[str]
) -> None:
    rows = {effect.id: effect for effect in effects}  # of two with one id the newer counts
    if not rows:
        return
    at_once = {row.id for row in rows.values() if row.due <= now and row.kind not in TIMERS}
    dispatched.update(at_once)
    documents, dues = [], []
    for row in rows.values():
        documents += [row.id, row.model_dump_json()]
        dues += [str(now + FIRST_LEASE_MS if row.id in at_once else row.due), row.id]
    tx.write("HSET", keys.effects, *documents)
    tx.write("ZADD", keys.due, *dues)
    tx.write("HDEL", keys.runs, *rows)
    if at_once:
        tx.write("HSET", keys.leases, *(word for row in sorted(at_once) for word in (row, "1")))
    if later := [row for row in rows if row not in at_once]:
        tx.write("HDEL", keys.leases, *later)


def _document(record: Record) -> str:
    """A record as it is kept: what is None is left out, a fifth of a handoff. Reading puts it back."""
    return record.model_dump_json(exclude_none=True)
