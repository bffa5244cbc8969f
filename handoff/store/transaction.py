"""The form in which a commit travels to lua/commit.lua: guards, writes, and the keys they touch."""

from __future__ import annotations

import json

from handoff.store.keyspace import Keyspace


class Transaction:
    """Collects guards and writes. Every key is declared to Redis; all other words are plain text."""

    def __init__(self, keys: Keyspace):
        # KEYS[1] is always the hash that remembers commands; without a command it is never touched.
        self.keys = [keys.commands("none")]
        self._numbers: dict[str, int] = {}
        self._command = ["", ""]
        self._guards: list[tuple[int, str, str]] = []
        self._writes: list[tuple[str | int, ...]] = []

    def remember(self, commands_key: str, command_id: str, outcome: str) -> None:
        """Makes this commit the one that carries out `command_id`; a second one gets this outcome."""
        self.keys[0] = commands_key
        self._command = [command_id, outcome]

    def guard(self, key: str, field: str, expected: str) -> None:
        """Only if this field (with "", the whole string key) holds exactly this; "" means absent."""
        self._guards.append((self._number(key), field, expected))

    def write(self, command: str, key: str, *args: str) -> None:
        """A Redis command on this key, to run when every guard holds."""
        self._writes.append((command, self._number(key), *args))

    def args(self) -> list[str]:
        """ARGV for the script."""
        return [*self._command, json.dumps([self._guards, self._writes], ensure_ascii=False)]

    def _number(self, key: str) -> int:
        if key not in self._numbers:
            self.keys.append(key)
            self._numbers[key] = len(self.keys)
        return self._numbers[key]
