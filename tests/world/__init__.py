"""The world of a scenario test: the service, its Redis, its worker and clock, Twilio's double, and people.

Everything is real but the time and the telephone network. What a story needs is imported from here; the
fixtures that make it are in tests/conftest.py.
"""

from .faulty import Cutter, Fails, Killed, refusing_writes
from .people import Agent, Operator, Page
from .processes import Hands, Web
from .record import Opened, path_of
from .waits import in_parallel, until
from .world import ACCOUNT, ADA, AGENT_KEY, BEN, CY, OURS, REASON, TOKEN, MakeWorld, World

__all__ = [
    "ACCOUNT",
    "ADA",
    "AGENT_KEY",
    "BEN",
    "CY",
    "OURS",
    "REASON",
    "TOKEN",
    "Agent",
    "Cutter",
    "Fails",
    "Hands",
    "Killed",
    "MakeWorld",
    "Opened",
    "Operator",
    "Page",
    "Web",
    "World",
    "in_parallel",
    "path_of",
    "refusing_writes",
    "until",
]
