"""How accounts fare, kept on their rows a few seconds late."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..contracts.errors import GatewayError
from ..storage.failure_log import FailureLog
from .cooldowns import Cooldowns

EVERY = 2.0
"""Seconds between two writes."""

log = logging.getLogger(__name__)

Write = Callable[[Mapping[str, Mapping[str, Any]]], Awaitable[None]]


class CooldownWriter:
    """Writes what is to be noted. What the database does not take is tried again."""

    def __init__(self, health: Cooldowns, write: Write) -> None:
        self._health, self._write = health, write
        self._trouble = FailureLog(
            log,
            "CooldownWriter how accounts fare",
            "Until it works, a gateway that starts anew does not know which of them rest.",
        )

    async def follow(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            await self.write()

    async def write(self) -> None:
        """Never raises for what is wrong with the database."""
        notes = self._health.take_changes()
        if not notes:
            return
        try:
            await self._write(notes)
        except Exception as error:
            self._trouble.met(error)
            if isinstance(error, GatewayError):
                self._health.restore_changes(notes)
        else:
            self._trouble.over()
