"""The memory: the only package that knows Redis. The key catalogue is keyspace.py.

No rule of the domain lives here: the rules decide in lifecycle.py, and `Store.commit` makes what they
decided atomic. Redis 7.0 or newer, or Valkey.
"""

from handoff.store.codes import Code
from handoff.store.connection import Connections, Persistence
from handoff.store.contacts import EnrolledContacts, EnrolmentChange, News
from handoff.store.keyspace import Keyspace
from handoff.store.notices import OptOuts, Warnings
from handoff.store.pacer import Hold, Pacer
from handoff.store.plan import Plan
from handoff.store.shared_people import SharedPeople, SharedText
from handoff.store.store import Again, Claimed, Done, Link, Opened, Stale, Store, sha256
from handoff.store.wakes import Wake, WakeReader

__all__ = [
    "Again",
    "Claimed",
    "Code",
    "Connections",
    "Done",
    "EnrolledContacts",
    "EnrolmentChange",
    "Hold",
    "Keyspace",
    "Link",
    "News",
    "Opened",
    "OptOuts",
    "Persistence",
    "Pacer",
    "Plan",
    "SharedPeople",
    "SharedText",
    "Stale",
    "Store",
    "Wake",
    "WakeReader",
    "Warnings",
    "sha256",
]
