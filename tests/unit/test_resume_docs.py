"""docs/callbacks.md about resume callbacks, held against what is sent.

That its code is Python is checked in tests/test_docs.py.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from handoff.resume import FailureKind, deliver

from .receivers import OLD_SECRET, SECRET, Serve, to

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "callbacks.md").read_text(encoding="utf-8")


def block_of_the_docs(name: str) -> str:
    """The code of this name in docs/callbacks.md."""
    found = re.search(rf"<!-- tested: {name} -->\n```\w*\n(.*?)\n```", DOCS, re.DOTALL)
    assert found, f"docs/callbacks.md has no block {name}"
    return found.group(1)


def test_the_verifier_and_the_vector_in_the_docs_are_what_is_sent(serve: Serve) -> None:
    vector = dict(re.split(r" +", line, maxsplit=1) for line in block_of_the_docs("vector").splitlines())
    scope: dict[str, Any] = {}
    exec(block_of_the_docs("verifier"), scope)
    is_genuine = scope["is_genuine"]
    body, secret, sent_at = vector["body"].encode(), vector["secret"], int(vector["webhook-timestamp"])

    receiver = serve()
    delivery = to(receiver.url(), webhook_id=vector["webhook-id"], body=body, secrets=[OLD_SECRET, secret])
    deliver(delivery, now=datetime.fromtimestamp(sent_at, UTC), allow_private=True)
    [request] = receiver.requests
    assert request.headers["webhook-signature"].split(" ")[1] == vector["webhook-signature"]

    for headers in (vector, request.headers):
        assert is_genuine(headers, body, secret, sent_at + 300)
        assert not is_genuine(headers, body, secret, sent_at + 301)
        assert not is_genuine(headers, body, secret, sent_at - 301)
        assert not is_genuine(headers, body, SECRET, sent_at)
        assert not is_genuine(headers, body + b" ", secret, sent_at)
        fresh = {name: headers[name] for name in ("webhook-id", "webhook-signature")} | {
            "webhook-timestamp": str(sent_at + 600)
        }
        assert not is_genuine(fresh, body, secret, sent_at + 600)


def test_the_docs_name_every_kind_of_failure() -> None:
    table = DOCS.split("A failed try is one of:")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == {str(kind) for kind in FailureKind}
