"""Who may know whom, read from the source: the arrows of the design, and where the outside is touched."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = ("handoff", "voice", "workers", "app.py", "gunicorn.conf.py")
#: Decided by the domain: the same words in, the same words out.
PURE = (
    "states models rights effects outcomes policy quiet limits proofs routing changes ladder calling_back "
    "attempts late giving_up lifecycle moments notices opt_outs enrolment inbound"
).split()
PURE_MAY_IMPORT = {
    "__future__",
    "collections",
    "dataclasses",
    "enum",
    "hashlib",
    "functools",
    "json",
    "typing",
    "unicodedata",
    "urllib",
    "datetime",
    "pydantic",
    "re",
    "zoneinfo",
}
#: The only modules of the domain's package that may know those who do things.
MAY_KNOW_ALL = {f"handoff/{one}.py" for one in ("bootstrap", "cli", "connecting", "doctor", "rehearsal")}


@cache
def files(*places: str) -> tuple[str, ...]:
    """Python files below these places, as paths from the root; tests are no part of them."""
    found = []
    for place in places:
        path = ROOT / place
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    names = (str(path.relative_to(ROOT)) for path in found if "__pycache__" not in path.parts)
    return tuple(name for name in names if "tests" not in Path(name).parts)


@cache
def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text(encoding="utf-8"), name)


def imports(name: str) -> Iterator[tuple[str, str]]:
    """What a file imports, wherever in it: module and name ("" for the module itself)."""
    package = name.removesuffix(".py").replace("/src/", "/").split("/")[:-1]
    package = package[1:] if name.startswith(("sdk/", "devphone/")) else package
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from ((module, alias.name) for alias in node.names)


def known(name: str) -> set[str]:
    """The modules that a file knows, whichever way it imports them."""
    return {module for module, _ in imports(name)} | {f"{module}.{what}" for module, what in imports(name)}


def tops(name: str) -> set[str]:
    """The first words of all it imports."""
    return {module.partition(".")[0] for module, _ in imports(name)}


def uses(name: str, dotted: str) -> list[int]:
    """Lines in which an attribute such as `os.environ` is used."""
    base, _, attribute = dotted.rpartition(".")
    return [
        node.lineno
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Attribute) and node.attr == attribute and ast.unparse(node.value) == base
    ]


def test_this_test_reads_what_it_thinks_it_reads() -> None:
    assert len(files(*PRODUCT)) > 50
    assert ("handoff.store", "Store") in set(imports("handoff/keys.py"))
    assert "flask" in tops("handoff/web/api.py")
    assert uses("handoff/bootstrap.py", "os.environ")
    assert "devphone.engine.engine" in known("devphone/src/devphone/driver.py")


# What is behind a door is opened in one place


def test_only_the_store_speaks_redis_and_others_know_no_more_than_its_errors() -> None:
    for name in files("handoff", "voice", "workers", "app.py"):
        if name.startswith("handoff/store/"):
            continue
        for module, what in imports(name):
            assert not module.startswith("redis."), name
            assert module != "redis" or not what, f"{name}: write `import redis`, and of it only the errors"
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "redis":
                allowed = {"RedisError"} | ({"Redis"} if _names_a_type(name) else set())
                assert node.attr in allowed, f"{name}:{node.lineno} redis.{node.attr}"


def _names_a_type(name: str) -> bool:
    """Where RQ is handed the connection that the store made, its type has a name."""
    return name.startswith("workers/")


def test_rq_is_known_to_the_workers_only() -> None:
    assert {name for name in files(*PRODUCT) if "rq" in tops(name)} <= set(files("workers"))


def test_twilio_is_known_to_the_voice_and_the_dev_phone_only() -> None:
    knowing = {name for name in files(*PRODUCT, "demo", "sdk/src", "devphone/src") if "twilio" in tops(name)}
    assert knowing <= set(files("voice", "devphone/src"))
    clients = {name for name in knowing if any(one.startswith("twilio.rest") for one in known(name))}
    # The plugin hands other people's tests a client, pointed at the dev phone.
    assert clients == {"voice/twilio_gateway.py", "devphone/src/devphone/pytest_plugin.py"}


def test_flask_is_known_to_the_doors_only() -> None:
    twilio = {name for name in files("voice") if "voice.guarded" in known(name)}
    doors = {"app.py", "voice/guarded.py", *twilio, *files("handoff/web", "devphone/src")}
    assert {name for name in files(*PRODUCT, "sdk/src", "devphone/src") if "flask" in tops(name)} <= doors


def test_gevent_is_known_to_the_web_process_only() -> None:
    """Under it `threading` is gevent's; nothing else has to know."""
    assert {name for name in files(*PRODUCT) if "gevent" in tops(name)} <= {"handoff/web/process.py"}


# Arrows


@pytest.mark.parametrize("module", PURE)
def test_what_decides_is_pure(module: str) -> None:
    name = f"handoff/{module}.py"
    deeper = {f"handoff.{one}" for one in (*PURE, "errors", "ids", "messages", "people", "views")}
    for imported, what in imports(name):
        ours = imported.startswith("handoff")
        target = f"{imported}.{what}" if imported == "handoff" else imported
        if ours:
            assert target in deeper, f"{name} knows {target}"
        elif imported != "time" or module != "moments":
            assert imported.partition(".")[0] in PURE_MAY_IMPORT, f"{name} imports {imported}"


def test_the_domain_reads_no_clock() -> None:
    """`now` is an argument; `now_ms` is handed out by the wiring."""
    for name in files("handoff"):
        if name.startswith(("handoff/dev/", "handoff/web/", "handoff/store/")):
            continue
        for dotted in ("datetime.now", "datetime.utcnow", "datetime.today", "time.time", "date.today"):
            assert not uses(name, dotted), f"{name} reads a clock: {dotted}"
        clock = {what for module, what in imports(name) if module == "handoff.moments"}
        assert "now_ms" not in clock or name == "handoff/bootstrap.py", name
    assert uses("handoff/moments.py", "time.time_ns")
    assert not [
        name for name in files(*PRODUCT) if name != "handoff/moments.py" and uses(name, "time.time_ns")
    ]


def test_the_domain_does_not_know_who_uses_it() -> None:
    for name in files("handoff"):
        if name in MAY_KNOW_ALL or name.startswith(("handoff/dev/", "handoff/web/")):
            continue
        for module in known(name):
            assert not module.startswith(("handoff.web", "voice", "workers", "app", "human", "devphone")), (
                f"{name} knows {module}"
            )
            assert not module.startswith(("handoff.bootstrap", "handoff.cli", "handoff.dev")) or (
                name == "handoff/__main__.py"
            ), f"{name} knows {module}"


def test_the_page_and_the_api_know_neither_voice_nor_workers() -> None:
    for name in files("handoff/web"):
        assert not {"voice", "workers", "rq", "twilio"} & tops(name), name


def test_the_voice_does_not_know_web_and_workers_and_the_workers_do_not_know_web() -> None:
    for name in files("voice"):
        assert "workers" not in tops(name), name
        assert not [one for one in known(name) if one.startswith("handoff.web")], name
    for name in files("workers"):
        assert not [one for one in known(name) if one.startswith("handoff.web") or one == "app"], name


def test_the_store_knows_records_and_no_rules() -> None:
    for name in files("handoff/store"):
        for module, what in imports(name):
            assert (module, what) == ("handoff.lifecycle", "Change") or not module.startswith(
                (
                    "handoff.lifecycle",
                    "handoff.loop",
                    "handoff.commands",
                    "handoff.calls",
                    "handoff.policy",
                    "handoff.config",
                )
            ), f"{name} knows {module}.{what}"


def test_nothing_is_imported_in_circles_at_load_time() -> None:
    """Every module can be the first one imported; a circle makes that depend on luck."""
    at_load: dict[str, set[str]] = {}
    modules = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name
        for name in files("handoff", "voice", "workers")
    }
    for module, name in modules.items():
        found = set()
        for node in tree(name).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        at_load[module] = {one for one in found if one in modules and one != module}
    seen: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        # A package and what is in it may meet: Python runs the package's own file first.
        assert module not in path, " -> ".join([*path, module])
        if module in seen:
            return
        for following in sorted(at_load[module]):
            if not module.startswith(following + "."):
                walk(following, (*path, module))
        seen.add(module)

    for module in sorted(modules):
        walk(module, ())


# Distributions


def test_the_product_never_imports_the_dev_phone_or_the_sdk() -> None:
    for name in files(*PRODUCT):
        assert not {"devphone", "human", "demo", "bench", "tests"} & tops(name), name


def test_the_sdk_needs_nothing_of_the_service() -> None:
    allowed = set(sys.stdlib_module_names) | {"human", "httpx2", "src"}
    for name in files("sdk/src"):
        assert tops(name) - allowed == set(), name


def test_the_dev_phone_knows_nothing_of_handoff() -> None:
    for name in files("devphone/src"):
        assert not {"handoff", "voice", "workers", "human", "app", "redis", "rq"} & tops(name), name


def test_the_dev_phone_signs_with_twilios_library_and_never_with_ours() -> None:
    assert "twilio.request_validator" in known("devphone/src/devphone/webhooks.py")


# The environment


def test_the_environment_is_read_where_the_process_begins_and_nowhere_else() -> None:
    readers = {"handoff/cli.py", "handoff/bootstrap.py", "gunicorn.conf.py"}
    readers |= set(files("handoff/dev"))
    for name in files(*PRODUCT):
        if name not in readers:
            for dotted in ("os.environ", "os.getenv", "os.environb", "os.putenv"):
                assert not uses(name, dotted), f"{name}:{uses(name, dotted)} reads {dotted}"
            assert not {("os", "environ"), ("os", "getenv")} & set(imports(name)), name


# Tests


def _tests() -> list[str]:
    """Every file of tests; this one names what is forbidden."""
    found = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "devphone" / "tests").rglob("*.py")]
    return [str(path.relative_to(ROOT)) for path in found if path != Path(__file__)]


def test_no_test_mocks_patches_or_sleeps() -> None:
    assert len(_tests()) > 40
    for name in _tests():
        assert not [one for one in known(name) if one.startswith("unittest") or one == "mock"], name
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Attribute):
                target = f"{ast.unparse(node.value)}.{node.attr}"
                assert target not in ("time.sleep", "gevent.sleep"), f"{name}:{node.lineno} sleeps"
                assert target not in ("monkeypatch.setattr", "monkeypatch.delattr"), f"{name}:{node.lineno}"


def test_every_module_says_what_it_is_for() -> None:
    for name in files(*PRODUCT, "sdk/src", "devphone/src", "demo"):
        assert not tree(name).body or ast.get_docstring(tree(name)), f"{name} has no first words"
