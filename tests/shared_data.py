"""Published data that lies beside the repository: Twilio's lists and vectors, JSON schemas of formats.

Read where it lies, never copied in. The dev phone is another distribution and has a reader of its own.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def shared(name: str) -> Any:
    """The JSON file of this path in HANDOFF_SHARED, or in `shared` beside the repository ("twilio/x.json").

    Missing: the test is skipped and says why, but fails where CI is set.
    """
    if path := find_shared(name):
        return json.loads(path.read_text(encoding="utf-8"))
    if os.environ.get("CI"):
        pytest.fail(f"{_path(name)} is missing")
    pytest.skip(f"{_path(name)} is missing; HANDOFF_SHARED names the folder")


def find_shared(name: str) -> Path | None:
    """Where that file is, if it is there."""
    path = _path(name)
    return path if path.exists() else None


def _path(name: str) -> Path:
    return Path(os.environ.get("HANDOFF_SHARED") or ROOT.parent / "shared") / name
