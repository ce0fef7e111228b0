"""Rows for a ledger, around a fixed moment."""

from collections.abc import Iterable
from datetime import datetime
from itertools import count
from typing import Any

from admin_gateway import AdminGateway
from collaborators import replace_collaborator

from gateway_core.storage.moments import iso, local_day
from gateway_core.storage.stores.usage import UsageRecord

NOW = datetime(2027, 1, 15, 12, 0, 30).timestamp()
"""A local noon, and half a minute."""
MINUTE, HOUR, DAY = 60, 3600, 24 * 3600
_numbers = count(1)


def row(ago: float = 0, **fields: Any) -> UsageRecord:
    """A call that ended so many seconds before ``NOW``."""
    ended = NOW - ago
    usual = {
        "request_id": f"00000000-0000-4000-8000-{next(_numbers):012}",
        "started_at": iso(ended - 1),
        "finished_at": iso(ended),
        "day": local_day(ended).isoformat(),
        "provider": "acme",
        "model_asked": "acme/large",
        "model_sent": "large",
        "connection_id": "c-1",
        "endpoint": "/v1/chat/completions",
        "http_status": 200,
        "duration_ms": 1000,
    }
    return UsageRecord(**{**usual, **fields})


async def keep(admin: AdminGateway, *rows: UsageRecord) -> None:
    """Write rows, and set the gateway's clock to ``NOW``."""
    replace_collaborator(admin.core, "clock", lambda: NOW)
    await admin.core.stores.usage.insert_many(rows)


def total(parts: dict[str, dict[str, Any]] | Iterable[dict[str, Any]], name: str) -> float:
    """The sum of one figure over all parts."""
    each = parts.values() if isinstance(parts, dict) else parts
    return round(sum(part[name] for part in each), 6)
