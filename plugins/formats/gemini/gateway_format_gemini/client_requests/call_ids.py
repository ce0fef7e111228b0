"""Ids for function calls, which this API lets both sides leave out.

Calls and results without ids belong together by name, in the order in which they come. The ids
made here depend on nothing but the conversation, so a client that sends it again gets the same.
https://ai.google.dev/api/caching#FunctionCall
"""

import re
from collections import defaultdict, deque

_ODD = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 40


class CallIds:
    """Hands out ids while a conversation is read, from its beginning to its end."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[str]] = defaultdict(deque)
        self._used: set[str] = set()

    def add_call(self, call_id: str | None, name: str) -> str:
        call_id = call_id or self._make(name)
        self._used.add(call_id)
        self._waiting[name].append(call_id)
        return call_id

    def match_result(self, call_id: str | None, name: str) -> str:
        """The id of the call that a result belongs to."""
        waiting = self._waiting[name]
        if not call_id:
            # A result that no call of its name waits for answers the first call that waits at all.
            waiting = waiting or next(filter(None, self._waiting.values()), waiting)
            call_id = waiting.popleft() if waiting else self._make(name)
        elif call_id in waiting:
            waiting.remove(call_id)
        self._used.add(call_id)
        return call_id

    def _make(self, name: str) -> str:
        start = f"call_{_ODD.sub('_', name)[:_LONGEST]}"
        if start not in self._used:
            return start
        number = 2
        while f"{start}_{number}" in self._used:
            number += 1
        return f"{start}_{number}"
