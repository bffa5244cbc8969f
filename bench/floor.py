"""The floor: the least a server can do for a blocked agent, as a yardstick for wake.py.

An asyncio server that keeps handoffs in a dictionary: a GET waits on a future, a POST sets it. No keys,
no rules, no events, nothing on disk, one process.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import defaultdict

_TARGET = re.compile(rb"(GET|POST) /v1/handoffs/(\w+)(?:/resolution)?(?:\?wait=(\d+))? ")
_closed: set[bytes] = set()
_waiting: dict[bytes, set[asyncio.Future[None]]] = defaultdict(set)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            if length := re.search(rb"(?i)content-length: (\d+)", head):
                await reader.readexactly(int(length[1]))
            if (asked := _TARGET.match(head)) is None:
                break
            verb, handoff, wait_s = asked.groups()
            if verb == b"POST":
                _closed.add(handoff)
                for future in _waiting.pop(handoff, ()):
                    future.set_result(None)
            elif handoff not in _closed and wait_s:
                future = asyncio.get_running_loop().create_future()
                _waiting[handoff].add(future)
                await asyncio.wait([future], timeout=int(wait_s))
            state = b"resolved" if handoff in _closed else b"escalating"
            body = b'{"id":"%b","state":"%b"}' % (handoff, state)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client is done
    finally:
        writer.close()


async def _run(port: int) -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", port, backlog=4_096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--port", type=int, required=True)
    asyncio.run(_run(arguments.parse_args().port))
