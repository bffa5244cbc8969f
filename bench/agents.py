"""Agents who block, and a person who lets them go on at random moments: the work that wake.py measures.

The same for the service and for the floor. Every agent has a connection of its own and asks again when a
wait ended with the handoff still open, as the SDK does.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.client import Answer, Connection, Poster, request
from bench.figures import Spread

WAIT_S = 50
#: How long after the last POST a wake-up may still be on its way before it counts as lost.
PATIENCE_S = 20.0
_RESOLVED = (b'"state":"resolved"', b'"state": "resolved"')


@dataclass
class Agent:
    """One blocked agent."""

    handoff: str
    request: bytes
    connection: Connection | None = None
    posted_at: float | None = None
    woken_at: float | None = None
    cut_off: bool = False


@dataclass
class Round:
    """What one round found."""

    waiters: int
    resolved: int
    lost: int
    refused: int
    wake: Spread
    post: Spread
    complaint: str
    memory_kb_per_waiter: float | None = None


class Crowd:
    """All agents of one round."""

    def __init__(self, port: int, handoffs: Sequence[str], api_key: str) -> None:
        self._port = port
        self.agents = [
            Agent(
                one,
                request("GET", f"/v1/handoffs/{one}?wait={WAIT_S}", Authorization=f"Bearer {api_key}"),
            )
            for one in handoffs
        ]
        self.too_early = 0
        self.complaint = ""

    async def block(self) -> None:
        """Connects every agent and sends its first request, evenly over one wait: agents that came all at
        once would ask again all at once, every time their waits end, which no crowd of agents does."""
        loop = asyncio.get_running_loop()
        began, connecting = loop.time(), []
        for number, agent in enumerate(self.agents):
            await asyncio.sleep(max(0.0, began + number * WAIT_S / len(self.agents) - loop.time()))
            connecting.append(asyncio.create_task(self._connect(loop, agent)))
        await asyncio.gather(*connecting)

    async def resolve(
        self, count: int, rate: float, seed: int, post_for: Callable[[str], bytes], poster: Poster
    ) -> Round:
        """Lets `count` agents, drawn at random, go on at random moments, `rate` a second on average."""
        luck = random.Random(seed)
        drawn = luck.sample(self.agents, count)
        loop = asyncio.get_running_loop()
        due, posts = loop.time() + 0.1, []
        for agent in drawn:
            due += luck.expovariate(rate)
            await asyncio.sleep(max(0.0, due - loop.time()))
            posts.append(asyncio.create_task(_post(agent, post_for(agent.handoff), poster)))
        replies = await asyncio.gather(*posts)
        deadline = loop.time() + PATIENCE_S
        while any(agent.woken_at is None for agent in drawn) and loop.time() < deadline:
            await asyncio.sleep(0.05)
        woken = [agent.woken_at - agent.posted_at for agent in drawn if agent.woken_at and agent.posted_at]
        return Round(
            waiters=len(self.agents),
            resolved=count,
            lost=count - len(woken) + sum(agent.cut_off for agent in self.agents) + self.too_early,
            refused=sum(not 200 <= answer.status < 400 for answer in replies),
            wake=Spread.of(woken),
            post=Spread.of(
                [answer.at - (agent.posted_at or 0) for agent, answer in zip(drawn, replies, strict=True)]
            ),
            complaint=self.complaint,
        )

    def close(self) -> None:
        """Ends every connection."""
        for agent in self.agents:
            if agent.connection is not None:
                agent.connection.close()

    async def _connect(self, loop: asyncio.AbstractEventLoop, agent: Agent) -> None:
        def answered(answer: Answer) -> None:
            self._answered(agent, answer)

        def lost() -> None:
            agent.cut_off = agent.woken_at is None  # who has its answer may be let go

        agent.connection = Connection(answered, lost)
        connection = agent.connection
        await loop.create_connection(lambda: connection, "127.0.0.1", self._port)
        connection.send(agent.request)

    def _answered(self, agent: Agent, answer: Answer) -> None:
        if answer.status != 200:
            agent.cut_off = True
            self.complaint = f"an agent was answered {answer.status}: {answer.body[:200]!r}"
        elif any(state in answer.body for state in _RESOLVED):
            agent.woken_at = answer.at
            self.too_early += agent.posted_at is None
        elif agent.connection is not None:
            agent.connection.send(agent.request)


async def _post(agent: Agent, post: bytes, poster: Poster) -> Answer:
    def sent(at: float) -> None:
        agent.posted_at = at

    return await poster.send(post, sent)
