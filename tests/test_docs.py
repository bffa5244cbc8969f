"""The documents say what is true: settings, states, errors and commands are held to the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

from handoff import cli, errors, states
from handoff.config import BadSettings, from_environment
from handoff.ladder import NOT_THERE
from handoff.states import Disposition
from voice import dispositions, twilio_errors

ROOT = Path(__file__).parents[1]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def settings_that_are_read() -> set[str]:
    """Every variable that config.py and gunicorn.conf.py ask the environment for."""
    pattern = re.compile(r"\"((?:HANDOFF|TWILIO)_[A-Z_]+)\"")
    return set(pattern.findall(read("handoff/config.py"))) | set(pattern.findall(read("gunicorn.conf.py")))


def test_every_setting_is_in_the_example_and_in_the_docs_and_no_other() -> None:
    example = set(re.findall(r"^#?((?:HANDOFF|TWILIO)_[A-Z_]+)=", read(".env.example"), re.M))
    names = re.findall(r"^\| (`(?:HANDOFF|TWILIO)_[^|]+) \|", read("docs/running.md"), re.M)
    documented = set(re.findall(r"`([A-Z_]+)`", " ".join(names)))
    assert example == settings_that_are_read()
    assert documented == settings_that_are_read()


def test_a_setting_that_is_needed_is_called_needed() -> None:
    with pytest.raises(BadSettings) as found:
        from_environment({})
    named = {problem.partition(":")[0] for problem in found.value.problems}
    needed = set(re.findall(r"^\| `((?:HANDOFF|TWILIO)_[A-Z_]+)` \| needed\b", read("docs/running.md"), re.M))
    assert named == needed


def test_the_drawn_states_are_the_states_of_the_code() -> None:
    assert read("docs/states.md") == states.document(), "run `make docs`"


def test_every_disposition_is_explained_with_what_leads_to_it_and_what_follows() -> None:
    table = [line.strip("|").split("|") for line in read("docs/dispositions.md").splitlines()]
    rows = {Disposition(name.strip(" `")): cells for name, *cells in table if name.startswith(" `")}
    assert list(rows) == list(Disposition)
    for one, (calls, texts, follows) in rows.items():
        assert follows.startswith(" next number") is (one in NOT_THERE), one
        rest = {code for code, row in twilio_errors.CODES.items() if row.disposition is one}
        failed = {code for code, what in dispositions.TEXT_FAILURES.items() if what is one}
        assert codes_in(calls) == rest, one
        assert codes_in(texts) - rest == failed - rest, one
    for (status, _), one in dispositions.UNANSWERED.items():
        assert f"`{status}`" in rows[one][0], one
    for verdict in dispositions.MACHINES:
        assert f"`{verdict}`" in rows[Disposition.VOICEMAIL][0]


def codes_in(cell: str) -> set[int]:
    return {int(code) for code in re.findall(r"\b\d{5}\b", cell)}


def test_every_error_code_is_explained_with_its_status() -> None:
    rows = set(re.findall(r"^\| (\d{3}) \| `([a-z_]+)` \|", read("docs/api.md"), re.M))
    found = [errors.HandoffError]
    for kind in found:
        found += kind.__subclasses__()
    assert rows == {(str(kind.status), kind.code) for kind in found}


def test_every_command_can_say_what_it_does() -> None:
    def commands(group: click.Group) -> list[click.Command]:
        return [
            one
            for command in group.commands.values()
            for one in ([command, *commands(command)] if isinstance(command, click.Group) else [command])
        ]

    for command in commands(cli.main):
        assert command.help, f"{command.name} has no help"


def test_the_readme_names_only_targets_and_files_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))
    assert set(re.findall(r"\bmake ([a-z-]+)\b", read("README.md"))) - {"a", "it"} <= targets
    for name in re.findall(r"\]\(((?!https?:)[^)#]+)", read("README.md")):
        assert (ROOT / name).exists(), name


def test_links_between_the_docs_lead_somewhere() -> None:
    """To a page that there is, and to a heading that it has."""
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "sdk/README.md"]:
        text = page.read_text(encoding="utf-8")
        for name, anchor in re.findall(r"\]\(((?!https?:)[^)#\s]*)(?:#([^)\s]+))?\)", text):
            there = page.parent / name if name else page
            assert there.exists(), f"{page.name}: {name}"
            assert not anchor or anchor in headings(there), f"{page.name}: {name}#{anchor}"


def headings(page: Path) -> set[str]:
    """As GitHub makes addresses of them: https://docs.github.com/en/get-started/writing-on-github."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", one.strip().lower()).replace(" ", "-") for one in found}


def test_the_readmes_python_is_python() -> None:
    for page in ("README.md", "sdk/README.md"):
        for block in re.findall(r"```python\n(.*?)```", read(page), re.S):
            ast.parse(block)


def test_every_public_thing_says_what_it_promises() -> None:
    """Every public function, class and method of the product has a docstring, but for the obvious ones."""
    silent = []
    for folder in ("handoff", "voice", "workers", "sdk/src"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if not ast.get_docstring(tree) and path.name != "__init__.py":
                silent.append(f"{path.relative_to(ROOT)}: the module itself")
            silent += [f"{path.relative_to(ROOT)}: {name}" for name in _silent(tree)]
    assert silent == []


def _silent(tree: ast.Module) -> list[str]:
    """Public functions and classes at the top level of a module that have no docstring."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        node.name
        for node in tree.body
        if isinstance(node, kinds) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
