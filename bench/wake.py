"""Wake-up: from the person's POST to the agent's return, with thousands of agents blocked.

N agents block over real HTTP (`GET /v1/handoffs/{id}?wait=50`, a kept connection each) on the shipped
gunicorn.conf.py with two web workers and a real Redis that fsyncs every write. They come evenly over one
wait, and ask again when it is over, so that at any moment some do. Handoffs drawn at random are
resolved at random moments, at --rate a second on average, through the operator's endpoint or (--by person)
the form of the person's page. A wake-up is timed from just before the POST is written to the last byte of
the agent's answer, on one clock, in one client process. The same client does the same to an in-memory
asyncio server (floor.py) in the same run. Memory is PSS of all web processes with N waiters minus idle,
divided by N.

Only Redis and web are started: no worker and no clock take anything from the outbox, so no phone rings.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

from bench import figures, places
from bench.agents import Crowd, Round
from bench.client import Poster, request
from bench.places import Web
from handoff import links
from handoff.store import Connections, Keyspace, Store

WEB_WORKERS = 2
POSTERS = 64
#: How long the web processes are left alone before their memory is taken, in s.
REST_S = 3.0
#: The bars: times the floor's, and kB.
P50_BAR, P99_BAR, MEMORY_BAR_KB = 2.0, 5.0, 24.0
PERSON = "ada"


def main() -> int:
    """Measures and reports; 1 when a wake-up was lost, else 0 (a timing decides nothing)."""
    given = _arguments()
    gc.disable()  # the client's own pauses are nobody's figure; what it keeps is small
    places.allow_files(given.waiters)
    with places.data_folder(given.data) as data:
        floor = _floor(given, data)
        with places.web_only(data, WEB_WORKERS) as web:
            ours = asyncio.run(_service(given, web))
    found = {
        "bench": "wake",
        "by": given.by,
        "rate_per_s": given.rate,
        "service": asdict(ours),
        "floor": asdict(floor),
        "p50_times_floor": round(ours.wake.p50 / floor.wake.p50, 2),
        "p99_times_floor": round(ours.wake.p99 / floor.wake.p99, 2),
    }
    figures.report(found, _text(given, ours, floor), as_json=given.json)
    return 1 if ours.lost or floor.lost else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--waiters", type=int, default=8_000, help="agents blocked (8000)")
    parser.add_argument("--resolve", type=int, help="how many of them are let go (half of them)")
    parser.add_argument("--rate", type=float, default=100.0, help="POSTs a second on average (100)")
    parser.add_argument("--by", choices=("operator", "person"), default="operator", help="who POSTs")
    parser.add_argument("--seed", type=int, default=1, help="for which handoffs, and when")
    parser.add_argument("--data", type=Path, help="folder for Redis's file (a fresh temporary one)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    given = parser.parse_args()
    given.resolve = given.resolve or max(1, given.waiters // 2)
    if not 1 <= given.resolve <= given.waiters or given.rate <= 0:
        parser.error("--resolve must be from 1 to --waiters, and --rate above 0")
    return given


def _floor(given: argparse.Namespace, data: Path) -> Round:
    async def run(port: int) -> Round:
        luck = random.Random(given.seed)
        names = [f"ho_{luck.getrandbits(128):032x}" for _ in range(given.waiters)]
        crowd = Crowd(port, names, api_key="none")
        return await _let_go(given, crowd, port, {one: _resolution(one, "none") for one in names})

    with places.floor_server(data) as port:
        return asyncio.run(run(port))


async def _service(given: argparse.Namespace, web: Web) -> Round:
    handoffs = await _open(web, given.waiters)
    if given.by == "person":
        posts = _forms(web, handoffs)
    else:
        posts = {one: _resolution(one, web.kept.operator_key) for one in handoffs}
    await asyncio.sleep(REST_S)
    idle_kb = web.memory_kb()
    crowd = Crowd(web.port, handoffs, web.kept.api_key)
    return await _let_go(given, crowd, web.port, posts, web, idle_kb)


async def _let_go(
    given: argparse.Namespace,
    crowd: Crowd,
    port: int,
    posts: dict[str, bytes],
    web: Web | None = None,
    idle_kb: int = 0,
) -> Round:
    await crowd.block()
    per_waiter = None
    if web is not None:
        await asyncio.sleep(REST_S)
        per_waiter = round((web.memory_kb() - idle_kb) / given.waiters, 2)
    poster = Poster(port)
    await poster.open(POSTERS)
    found = await crowd.resolve(given.resolve, given.rate, given.seed, posts.__getitem__, poster)
    found.memory_kb_per_waiter = per_waiter
    crowd.close()
    poster.close()
    return found


async def _open(web: Web, count: int) -> list[str]:
    poster = Poster(web.port)
    found: list[str] = []

    async def some(share: int) -> None:
        body = json.dumps({"kind": "clear", "reason": "A checkbox is blocking checkout", "timeout_s": 3_600})
        opening = request(
            "POST",
            "/v1/handoffs",
            body,
            Authorization=f"Bearer {web.kept.api_key}",
            Content_Type="application/json",
        )
        for _ in range(share):
            answer = await poster.send(opening)
            if answer.status != 201:
                raise RuntimeError(f"opening was answered {answer.status}: {answer.body[:300]!r}")
            found.append(json.loads(answer.body)["id"])

    ways = 16
    await asyncio.gather(*(some(count // ways + (i < count % ways)) for i in range(ways)))
    poster.close()
    return found


def _resolution(handoff: str, operator_key: str) -> bytes:
    return request("POST", f"/v1/handoffs/{handoff}/resolution", Authorization=f"Bearer {operator_key}")


def _forms(web: Web, handoffs: list[str]) -> dict[str, bytes]:
    """The form on each person's page. The links are kept here, as the worker does when it sends a text."""
    connections = Connections(web.redis_url)
    store = Store(connections, Keyspace("handoff"))
    posts = {}
    for one in handoffs:
        link = links.make(web.kept.secret_key, one, PERSON)
        store.put_link(link, one, PERSON)
        form = "nonce=" + links.make_nonce(web.kept.secret_key, link)
        kind = "application/x-www-form-urlencoded"
        posts[one] = request("POST", f"/h/{link}/resolution", form, Content_Type=kind)
    connections.close()
    return posts


def _text(given: argparse.Namespace, ours: Round, floor: Round) -> str:
    def row(name: str, one: Round) -> list[object]:
        memory = "" if one.memory_kb_per_waiter is None else one.memory_kb_per_waiter
        wake = one.wake
        return [name, wake.p50, wake.p90, wake.p99, wake.most, one.lost, one.refused, one.post.p50, memory]

    heads = ["", "p50 ms", "p90 ms", "p99 ms", "max ms", "lost", "refused", "POST p50 ms", "kB/waiter"]
    ratio = [f"{ours.wake.p50 / floor.wake.p50:.2f} x", f"{ours.wake.p99 / floor.wake.p99:.2f} x"]
    rows: list[list[object]] = [row("service", ours), row("floor", floor)]
    rows.append(["service / floor", ratio[0], "", ratio[1], "", "", "", "", ""])
    rows.append(["bar", f"{P50_BAR:g} x", "", f"{P99_BAR:g} x", "", 0, 0, "", MEMORY_BAR_KB])
    title = f"{given.waiters:,} agents blocked, {given.resolve:,} let go by the {given.by}, {given.rate:g}/s"
    return "\n\n".join(filter(None, [title, figures.table(heads, rows), ours.complaint]))


if __name__ == "__main__":
    sys.exit(main())
