"""The form in which a commit travels to lua/commit.lua: guards, writes, and the keys they touch."""

from __future__ import annotations

from handoff.store.keyspace import Keyspace


class Transaction:
    """Collects guards and writes. Keys are declared through `key`, arguments are plain text."""

    def __init__(self, keys: Keyspace):
        # KEYS[1] is always the hash that remembers commands; without a command it is never touched.
        self.keys = [keys.commands("none")]
        self._numbers: dict[str, int] = {}
        self._command = ["", ""]
        self._guards: list[str] = []
        self._writes: list[str] = []
        self._counts = [0, 0]

    def key(self, name: str) -> str:
        """Declares a key; the answer stands for it in `write`."""
        if name not in self._numbers:
            self.keys.append(name)
            self._numbers[name] = len(self.keys)
        return f"@{self._numbers[name]}"

    def remember(self, commands_key: str, command_id: str, outcome: str) -> None:
        """Makes this commit the one that carries out `command_id`; a second one gets this outcome."""
        self.keys[0] = commands_key
        self._command = [command_id, outcome]

    def guard(self, key: str, field: str, expected: str) -> None:
        """Only if this field (with "", the whole string key) holds exactly this; "" means absent."""
        self._guards += [self.key(key)[1:], field, expected]
        self._counts[0] += 1

    def write(self, command: str, *args: str) -> None:
        """A Redis command to run when every guard holds. Arguments made by `key` stand for keys."""
        self._writes += [command, str(len(args)), args[0], *("=" + arg for arg in args[1:])]
        self._counts[1] += 1

    def args(self) -> list[str]:
        """ARGV for the script."""
        return [*self._command, str(self._counts[0]), *self._guards, str(self._counts[1]), *self._writes]
