"""Twilio's published data, read where it lies: HANDOFF_SHARED, or `shared` beside the repository."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def find(name: str) -> Path | None:
    """Where one file of `shared/twilio` is, if it is there."""
    path = _path(name)
    return path if path.exists() else None


def read(name: str) -> Any:
    """One JSON file of `shared/twilio`. Missing: a visible skip, but a failure when CI is set."""
    if path := find(name):
        return json.loads(path.read_text("utf-8"))
    if os.environ.get("CI"):
        pytest.fail(f"{_path(name)} is missing")
    pytest.skip(f"{_path(name)} is missing; set HANDOFF_SHARED")


def _path(name: str) -> Path:
    return Path(os.environ.get("HANDOFF_SHARED", ROOT.parent / "shared")) / "twilio" / name
