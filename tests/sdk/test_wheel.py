"""The wheel as an agent gets it: installed alone, it imports, is typed, and brings no part of the service."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import human

SDK = Path(__file__).parents[2] / "sdk"
SERVICE_PARTS = {"flask", "redis", "twilio", "rq", "gunicorn", "gevent", "handoff", "pydantic"}


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", tmp_path, SDK)
    (wheel,) = tmp_path.glob("human_sdk-*.whl")
    assert {"human/__init__.py", "human/py.typed"} <= set(zipfile.ZipFile(wheel).namelist())

    venv.create(tmp_path / "agent", with_pip=True)
    python = tmp_path / "agent" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)

    # -I: nothing of this repository may be found by way of the working directory or PYTHONPATH.
    exported = run(python, "-I", "-c", "import human; print(*human.__all__)").split()
    assert exported == human.__all__
    listed = run(python, "-I", "-m", "pip", "list", "--format=freeze").lower()
    installed = {line.split("==")[0] for line in listed.split()}
    assert {"human-sdk", "httpx2"} <= installed
    assert not installed & SERVICE_PARTS
