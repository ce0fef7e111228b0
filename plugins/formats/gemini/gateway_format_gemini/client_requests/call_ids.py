"""Ids for function calls, which this API lets both sides leave out.

Calls and results without ids belong together by name, in the order they come.
The ids given here depend on nothing but the conversation, so a client that
sends it again gets the same ones.
"""

import re
from collections import defaultdict, deque
from hashlib import blake2s

_ODD = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 40


class CallIds:
    """Hands out ids while a conversation is read, from its beginning to its end."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[str]] = defaultdict(deque)
        self._given: set[str] = set()

    def called(self, call_id: str | None, name: str) -> str:
        call_id = call_id or self._new(name)
        self._given.add(call_id)
        self._waiting[name].append(call_id)
        return call_id

    def answered(self, call_id: str | None, name: str) -> str:
        """The id of the call that a result belongs to."""
        waiting = self._waiting[name]
        if not call_id:
            call_id = waiting.popleft() if waiting else self._new(name)
        elif call_id in waiting:
            waiting.remove(call_id)
        self._given.add(call_id)
        return call_id

    def _new(self, name: str) -> str:
        start = f"call_{_ODD.sub('_', name)[:_LONGEST]}"
        if start not in self._given:
            return start
        number = 2
        while f"{start}_{number}" in self._given:
            number += 1
        return f"{start}_{number}"


def digest(seed: bytes) -> str:
    """Sixteen hexadecimal digits that stand for an answer."""
    return blake2s(seed, digest_size=8).hexdigest()
