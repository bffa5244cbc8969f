"""The data folder of `handoff dev`: one system at a time, keys that stay, nothing that others can read."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from handoff import config
from handoff.dev import system
from handoff.dev.folder import Folder, FolderInUse, FolderUnusable
from handoff.dev.ports import Promises


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    opened = Folder.open(tmp_path / "data")
    yield opened
    opened.close()


def test_a_new_folder_gets_keys_of_its_own(folder: Folder, tmp_path: Path) -> None:
    other = Folder.open(tmp_path / "other")
    try:
        assert folder.kept().api_key != other.kept().api_key
        assert folder.kept().secret_key != other.kept().secret_key
    finally:
        other.close()


def test_the_keys_look_as_the_service_and_twilios_library_expect(folder: Folder) -> None:
    kept = folder.kept()
    assert len(kept.secret_key) >= 32
    assert kept.account_sid.startswith("AC") and len(kept.account_sid) == 34
    assert len(kept.auth_token) >= 16
    assert not set(kept.api_key + kept.operator_key) & set(",=:")


def test_a_folder_opened_again_knows_its_keys_and_ports(tmp_path: Path) -> None:
    first = Folder.open(tmp_path)
    kept = replace(first.kept(), web_port=8010)
    first.keep(kept)
    first.close()

    again = Folder.open(tmp_path)
    assert again.kept() == kept
    again.close()


def test_no_token_of_ours_could_be_mistaken_for_a_real_one(folder: Folder) -> None:
    assert folder.kept().auth_token.startswith("simulated-")


@pytest.mark.parametrize("real", ["0123456789abcdef" * 2, "0123456789ABCDEF" * 2])
def test_an_old_folder_whose_token_looks_real_gets_another_and_keeps_the_rest(
    folder: Folder, real: str
) -> None:
    old = replace(folder.kept(), auth_token=real, web_port=8010)
    folder.keep(old)
    renewed = folder.kept()
    assert renewed.auth_token.startswith("simulated-")
    assert replace(renewed, auth_token=real) == old
    assert folder.kept() == renewed


def test_a_token_from_outside_that_looks_real_is_refused_and_not_kept(folder: Folder) -> None:
    kept = folder.kept()
    with pytest.raises(config.BadSettings, match="DEVPHONE_AUTH_TOKEN: looks like a real one"):
        system.plan(folder, {"DEVPHONE_AUTH_TOKEN": "0123456789abcdef" * 2}, Promises())
    assert folder.kept() == kept


def test_nobody_else_on_the_machine_reads_the_keys(folder: Folder) -> None:
    folder.kept()
    folder.write_pids({"web": 1})
    folder.write_settings({"HANDOFF_DEV": "1"})
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    for name in ("dev.json", "pids.json", "env", "lock"):
        assert stat.S_IMODE((folder.path / name).stat().st_mode) == 0o600


def test_a_shell_reads_the_settings_as_they_are(folder: Folder) -> None:
    settings = {"HANDOFF_TO_NUMBER": "Ada O'Hara=+12125550123", "HANDOFF_PREFIX": "$(date) `date`"}
    folder.write_settings(settings)
    script = '. "$1" && printf "%s\\n" "$HANDOFF_TO_NUMBER" "$HANDOFF_PREFIX" "${PATH%%:*}"'
    told = subprocess.run(["sh", "-c", script, "sh", folder.path / "env"], capture_output=True, text=True)
    assert told.stdout.splitlines() == [*settings.values(), str(Path(sys.executable).parent)]


def test_a_second_system_on_the_same_folder_is_refused_at_once_and_told_by_whom(folder: Folder) -> None:
    with pytest.raises(FolderInUse, match=r"another `handoff dev` \(process \d+\).*--data"):
        Folder.open(folder.path)


def test_processes_that_a_killed_system_left_behind_keep_the_folder(tmp_path: Path) -> None:
    killed = Folder.open(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1, pass_fds=[killed.lock]) as orphan:
        killed.close()
        with pytest.raises(FolderInUse, match=r"earlier run.*pids\.json"):
            Folder.open(tmp_path, patience_s=0)
        orphan.kill()
    Folder.open(tmp_path, patience_s=5).close()


def test_a_spoilt_key_file_is_named_and_not_silently_replaced(folder: Folder) -> None:
    (folder.path / "dev.json").write_text('{"secret_key": ')
    with pytest.raises(FolderUnusable, match=r"dev\.json; delete it"):
        folder.kept()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderUnusable, match="file/data"):
        Folder.open(tmp_path / "file" / "data")


def test_logs_of_the_run_before_are_set_aside(folder: Folder) -> None:
    folder.log("web").write_text("of the first run")
    folder.set_old_logs_aside()
    assert not folder.log("web").exists()
    assert (folder.path / "logs" / "web.log.1").read_text() == "of the first run"


def test_process_ids_are_told_as_json(folder: Folder) -> None:
    folder.write_pids({"web": 41})
    folder.write_pids({"web": 42})
    assert json.loads((folder.path / "pids.json").read_text()) == {"web": 42}
