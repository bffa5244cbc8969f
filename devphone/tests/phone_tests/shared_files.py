"""Twilio's published data, read where it lies: HANDOFF_SHARED, or `shared` beside the repository."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def read(name: str) -> Any:
    """One JSON file of `shared/twilio`. Missing: a visible skip, but a failure when CI is set."""
    path = Path(os.environ.get("HANDOFF_SHARED", ROOT.parent / "shared")) / "twilio" / name
    if path.exists():
        return json.loads(path.read_text("utf-8"))
    if os.environ.get("CI"):
        pytest.fail(f"{path} is missing")
    pytest.skip(f"{path} is missing; set HANDOFF_SHARED")
