"""Reads and commits. One compare-and-set for every change: `Store.commit`.

A commit carries new versions of records, and takes effect only if nobody changed them since they were
read; then everything is kept at once: records, events, effects, indexes and the wake-up. Which changes
make sense is not decided here. All moments are milliseconds since 1970, UTC.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import redis
import structlog
from pydantic import ValidationError

from handoff.effects import Effect
from handoff.models import Call, Event, Handoff
from handoff.moments import DAY
from handoff.outcomes import Outcome
from handoff.rights import ApiKey
from handoff.states import CLOSED, State
from handoff.store import listing
from handoff.store.codes import Codes
from handoff.store.connection import ConnectionBroken, Connections
from handoff.store.keyspace import Keyspace
from handoff.store.plan import FIRST_LEASE_MS, Plan, drop_effects, index_name, write
from handoff.store.transaction import Transaction
from handoff.store.wakes import WakeReader, parse

_LUA = Path(__file__).parent / "lua"
COMMANDS_TTL_AFTER_PURGE_MS = 400 * DAY
LONGEST_LEASE_MS = 60_000
#: By how much the clocks of two machines may differ without an effect being taken for one that was put off.
CLOCKS_DIFFER_MS = 2_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Done:
    """Committed."""


@dataclass(frozen=True)
class Again:
    """This very command was committed before, perhaps a moment ago by this very call, whose reply was lost;
    this is the outcome it had. What it left due may still have to be enqueued."""

    outcome: Outcome


@dataclass(frozen=True)
class Stale:
    """A record changed since it was read. Nothing was written: read again, decide again."""


@dataclass(frozen=True)
class Opened:
    """What an idempotency key names: a handoff and the hash of the body it was opened with."""

    handoff: str
    body_hash: str

    @property
    def deleted(self) -> bool:
        return self.handoff == "deleted"


@dataclass(frozen=True)
class Link:
    """Whom a link belongs to."""

    handoff: str
    contact: str


@dataclass(frozen=True)
class Claimed:
    """A due effect, with the number of this claim."""

    effect: Effect
    lease: int


class Store:
    """The installation's memory. Safe to share between threads and greenlets.

    Every method may raise redis.RedisError when Redis can't be reached; web/ and voice/ turn that into
    "not right now", and nothing is half done.
    """

    def __init__(self, connections: Connections, keys: Keyspace):
        self.connections = connections
        self.keys = keys
        # redis-py's types can't say that this client decodes its answers.
        self._redis: Any = connections.commands
        self._commit = self._redis.register_script((_LUA / "commit.lua").read_text())
        self._claim = self._redis.register_script((_LUA / "claim.lua").read_text())
        self._begin = self._redis.register_script((_LUA / "begin.lua").read_text())
        self.codes = Codes(self._redis, keys, self._commit)
        self._listeners: list[Callable[[Handoff], None]] = []
        self._through = self._redis.register_script((_LUA / "through.lua").read_text())

    # Reading

    def read(self, handoff_id: str) -> Handoff | None:
        """The handoff, or None."""
        return parse(self._redis.hget(self.keys.handoff(handoff_id), "doc"))

    def is_closed(self, handoff_id: str) -> bool:
        """Whether the handoff is closed or gone. Costs less than reading it."""
        state = self._redis.hget(self.keys.handoff(handoff_id), "state")
        return state is None or State(state) in CLOSED

    def read_for(self, handoff_id: str, command_id: str) -> tuple[Handoff | None, Outcome | None]:
        """The handoff, and the outcome this command already had, if it was carried out before."""
        pipe = self._redis.pipeline(transaction=False)
        pipe.hget(self.keys.handoff(handoff_id), "doc")
        pipe.hget(self.keys.commands(handoff_id), command_id)
        doc, outcome = pipe.execute()
        return parse(doc), Outcome.model_validate_json(outcome) if outcome else None

    def read_call(self, call_id: str) -> Call | None:
        """The call, or None."""
        doc = self._redis.hget(self.keys.call(call_id), "doc")
        return Call.model_validate_json(doc) if doc else None

    def line_of(self, number: str) -> str | None:
        """The id of the call that has this number's line now."""
        return cast("str | None", self._redis.hget(self.keys.lines, number))

    def events(self, handoff_id: str, *, after: int = 0) -> list[Event]:
        """The timeline, oldest first, from the event after `after`."""
        found = self._redis.lrange(self.keys.events(handoff_id), after, -1)
        return [Event.model_validate_json(event) for event in found]

    def page(
        self, *, agent: str | None, state: State | None, before: str | None, limit: int
    ) -> tuple[list[Handoff], str | None]:
        """A page, newest first, and where the next one begins. Costs the same at any number of handoffs."""
        return listing.page(self._redis, self.keys, agent=agent, state=state, before=before, limit=limit)

    def open_of(self, contact_id: str, limit: int) -> list[Handoff]:
        """Open handoffs for which this contact was reached, at most `limit`, newest first. Costs the same
        however many are closed."""
        return listing.open_of(self._redis, self.keys, contact_id, limit)

    # Committing

    def on_commit(self, listener: Callable[[Handoff], None]) -> None:
        """From now on `listener` gets every handoff that this process changes, once it is committed."""
        self._listeners.append(listener)

    def commit(self, plan: Plan, now: int) -> Done | Again | Stale:
        """Keeps everything in `plan`, or nothing. See Done, Again and Stale."""
        tx = Transaction(self.keys)
        write(tx, self.keys, plan, now)
        answer = self._commit(keys=tx.keys, args=tx.args())
        if answer[0] == "done":
            for change in plan.changes:
                for listener in self._listeners:
                    listener(change.handoff)
            return Done()
        if answer[0] == "again":
            return Again(Outcome.model_validate_json(answer[1]))
        plan.dispatched.clear()
        return Stale()

    # The outbox

    def claim_due(self, now: int, limit: int = 200) -> list[Claimed]:
        """Due effects, each leased to the caller; none is removed. Several clocks may call this."""
        flat = self._claim(
            keys=[self.keys.due, self.keys.leases, self.keys.effects],
            args=[now, limit, FIRST_LEASE_MS, LONGEST_LEASE_MS],
        )
        triples = zip(flat[0::3], flat[1::3], flat[2::3], strict=True)
        rows = [(_effect(doc), int(lease)) for _, lease, doc in triples]
        return [Claimed(effect, lease) for effect, lease in rows if effect is not None]

    def begin(self, effect_id: str, now: int, span_ms: int, run: str) -> Effect | None:
        """Starts a run of an effect that may take `span_ms`; None when it is done, put off, or another
        run has it. `run` names this run, so that asking again after a lost reply is no other run."""
        answer = self._begin(
            keys=[self.keys.due, self.keys.effects, self.keys.runs],
            args=[effect_id, now, span_ms, run, CLOCKS_DIFFER_MS],
        )
        return _effect(answer[1]) if answer[0] == "run" else None

    def postpone(self, effect: Effect, due: int, now: int, *, failed: bool = True) -> None:
        """Puts the effect off until `due`; a try that `failed` is counted."""
        later = effect.model_copy(update={"due": due, "tries": effect.tries + failed, "stored": None})
        self.commit(Plan(finish=effect, effects=[later]), now)

    def finish(self, effect: Effect, now: int) -> None:
        """The effect is done: its row goes, unless it has been written anew meanwhile."""
        self.commit(Plan(finish=effect), now)

    def keep_waiting(self, effect_id: str, due: int) -> None:
        """Puts a due time off, if it is still there and not later already: the agent is seen waiting."""
        self._redis.zadd(self.keys.due, {effect_id: due}, xx=True, gt=True)

    # Idempotency, links, API keys

    def opened(self, api_key_id: str, key_hash: str) -> Opened | None:
        """What this idempotency key names."""
        value = self._redis.get(self.keys.idempotency(api_key_id, key_hash))
        return Opened(*value.split("|", 1)) if value else None

    def put_link(self, link: str, handoff_id: str, contact_id: str) -> None:
        """Makes a link good. Only its hash is kept; doing it twice is doing it once."""
        hashed = sha256(link)
        tx = Transaction(self.keys)
        tx.write("SADD", self.keys.links_of(handoff_id), hashed)
        tx.write("SET", self.keys.link(hashed), f"{handoff_id}|{contact_id}")
        self._commit(keys=tx.keys, args=tx.args())

    def link(self, link: str) -> Link | None:
        """Whom this link belongs to."""
        value = self._redis.get(self.keys.link(sha256(link)))
        return Link(*value.split("|", 1)) if value else None

    def put_api_key(self, key: ApiKey) -> None:
        """Keeps a key's record, new or changed."""
        pipe = self._redis.pipeline(transaction=True)
        pipe.hset(self.keys.api_keys, key.id, key.model_dump_json())
        pipe.hset(self.keys.api_key_hashes, key.hash, key.id)
        pipe.execute()

    def touch_api_key(self, key: ApiKey, now: int) -> None:
        """Notes that a key is in use, unless its record changed since it was read (it may be revoked)."""
        tx = Transaction(self.keys)
        tx.guard(self.keys.api_keys, key.id, key.stored or key.model_dump_json())
        used = key.model_copy(update={"last_used": now})
        tx.write("HSET", self.keys.api_keys, key.id, used.model_dump_json())
        self._commit(keys=tx.keys, args=tx.args())

    def api_key(self, key_id: str) -> ApiKey | None:
        """The record with this id."""
        return _api_key(self._redis.hget(self.keys.api_keys, key_id))

    def api_key_by_hash(self, key_hash: str) -> ApiKey | None:
        """The record of the key with this SHA-256 (hex). Looking a hash up tells nothing about the key."""
        return self.api_key_and_handoff(key_hash, None)[0]

    def api_key_and_handoff(
        self, key_hash: str, handoff_id: str | None
    ) -> tuple[ApiKey | None, Handoff | None]:
        """The same, and the handoff that is asked for with it.

        Nearly every request asks this, so it is one round trip; nothing is kept in the process, since a key
        may be revoked at any time.
        """
        keys = [self.keys.api_key_hashes, self.keys.api_keys]
        if handoff_id is not None:
            keys.append(self.keys.handoff(handoff_id))
        key, handoff = self._through(keys=keys, args=[key_hash])
        return _api_key(key or None), parse(handoff or None)

    def api_keys(self) -> list[ApiKey]:
        """All of them, oldest first."""
        docs = self._redis.hvals(self.keys.api_keys)
        return sorted(map(ApiKey.model_validate_json, docs), key=lambda key: key.created)

    # Wake-ups, signs of life, rates, clean-up

    @contextmanager
    def reading_wakes(self) -> Iterator[WakeReader]:
        """Follows the stream of wake-ups on a connection of its own. Raises ConnectionBroken."""
        client = self.connections.blocking()
        try:
            yield WakeReader(client, self.keys)
        except redis.RedisError as error:
            raise ConnectionBroken(type(error).__name__) from error
        finally:
            client.close()

    def beat(self, who: str, now: int) -> None:
        """A sign of life of `clock` or `worker`."""
        self._redis.hset(self.keys.seen, who, now)

    def seen(self) -> dict[str, int]:
        """When each kind of process was last seen."""
        return {who: int(at) for who, at in self._redis.hgetall(self.keys.seen).items()}

    def over_rate(self, what: str, limit: int, window_s: int) -> bool:
        """Counts one use; True when it is over `limit` in this window. One transaction sets count and TTL,
        so that no counter outlives its window."""
        key = self.keys.rate(what)
        pipe = self._redis.pipeline(transaction=True)
        pipe.set(key, 0, nx=True, ex=window_s)
        pipe.incr(key)
        return int(pipe.execute()[1]) > limit

    def uncount(self, what: str, window_s: int) -> None:
        """Takes back one use that `over_rate` counted: it was no try in vain."""
        pipe = self._redis.pipeline(transaction=True)
        pipe.set(self.keys.rate(what), 1, nx=True, ex=window_s)
        pipe.decr(self.keys.rate(what))
        pipe.execute()

    def purge(self, handoff: Handoff, finish: Effect) -> bool:
        """Deletes a handoff and all that belongs to it; its idempotency key stays as `deleted`.
        False when the handoff changed meanwhile: try again."""
        key = self.keys.handoff(handoff.id)
        idem_hash, unnamed = self._redis.hmget(key, "idem", "unnamed")
        link_hashes = cast("set[str]", self._redis.smembers(self.keys.links_of(handoff.id)))
        tx = Transaction(self.keys)
        tx.guard(key, "rev", str(handoff.rev))
        doomed = [key, self.keys.events(handoff.id), self.keys.commands(handoff.id)]
        doomed += [self.keys.links_of(handoff.id), *map(self.keys.link, sorted(link_hashes))]
        doomed += [self.keys.call(attempt.call) for attempt in handoff.attempts if attempt.call]
        doomed += self.codes.keys_of(handoff.id)
        for one in doomed:
            tx.write("DEL", one)
        for index in self.keys.indexes(handoff.agent, handoff.state):
            tx.write("ZREM", index, index_name(handoff))
        if idem_hash:
            idem = self.keys.idempotency(handoff.api_key, idem_hash)
            if unnamed:  # nobody knows this key, so that nobody can ever come back with it
                tx.write("DEL", idem)
            else:
                tx.write("SET", idem, "deleted|", "PX", str(COMMANDS_TTL_AFTER_PURGE_MS))
        drop_effects(tx, self.keys, [finish.id])
        return bool(self._commit(keys=tx.keys, args=tx.args())[0] == "done")


def _effect(document: str) -> Effect | None:
    """A row as an effect that remembers how it was written. None for one of a newer version of this
    service, which is left for a process that can read it."""
    try:
        return Effect.model_validate_json(document).model_copy(update={"stored": document})
    except ValidationError:
        log.error("effect_not_readable", document=document[:200])
        return None


def _api_key(document: str | None) -> ApiKey | None:
    if document is None:
        return None
    return ApiKey.model_validate_json(document).model_copy(update={"stored": document})


def sha256(text: str) -> str:
    """Hex SHA-256 of a text: how secrets are kept and compared."""
    return hashlib.sha256(text.encode()).hexdigest()
