"""What an operator types in a terminal: the commands' own words, and nothing else between them."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

from handoff.dev.redis_server import RunningRedis

ADA = '[contacts.ada]\nname = "Ada"\nnumbers = ["+12125550123"]\n'


def test_the_list_of_keys_tells_how_far_each_goes_and_no_log_comes_between(
    running_redis: RunningRedis, tmp_path: Path
) -> None:
    people = tmp_path / "people.toml"
    people.write_text(ADA)
    settings = {
        "HANDOFF_DEV": "1",
        "HANDOFF_PUBLIC_URL": "http://127.0.0.1:8000",
        "HANDOFF_SECRET_KEY": "0123456789abcdef" * 4,
        "HANDOFF_PEOPLE": str(people),
        "HANDOFF_API_KEYS": f"ops:operator={secrets.token_hex(20)}",
        "HANDOFF_REDIS_URL": running_redis.url,
        "HANDOFF_PREFIX": f"test-{secrets.token_hex(6)}",
        "TWILIO_ACCOUNT_SID": "AC" + "0" * 32,
        "TWILIO_AUTH_TOKEN": "made-up-for-this-test",
        "TWILIO_FROM_NUMBER": "+12125550100",
    }

    def handoff(*words: str) -> str:
        command = [sys.executable, "-m", "handoff", *words]
        ran = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert '"event"' not in ran.stderr, "a log line"
        return ran.stdout

    bounds = ["--policies", "default", "--contacts", "ada", "--urgency", "high", "--share", "50"]
    handoff("keys", "create", "shopper", *bounds)
    told = {line.split()[2]: line for line in handoff("keys", "list").splitlines()}
    assert told["shopper"].endswith("  only policies default  only contacts ada  at most high  50 % of caps")
    assert told["ops"].endswith("good  never used")
