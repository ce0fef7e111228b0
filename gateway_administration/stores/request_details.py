"""The store of request and response bodies, to read and to delete from."""

from collections.abc import Iterable, Mapping

import msgspec

from gateway_core.storage.database import Row
from gateway_core.storage.stores.request_details import PARTS, RequestDetail, RequestDetailStore


class KeptRequestDetails(RequestDetailStore):
    """Requests and answers, as far as they are kept."""

    async def of(self, request_ids: Iterable[str]) -> Mapping[str, RequestDetail]:
        """The details of requests, by id, as far as there are any."""
        ids = {f"id_{place}": identity for place, identity in enumerate(request_ids)}
        if not ids:
            return {}
        rows = await self._database.fetch(
            "SELECT * FROM request_details WHERE request_id IN "
            f"({', '.join(f':{name}' for name in ids)})",
            **ids,
        )
        return {row["request_id"]: _read(row) for row in rows}

    async def count(self) -> int:
        rows = await self._database.fetch("SELECT count(*) AS total FROM request_details")
        total: int = rows[0]["total"]
        return total

    async def delete(self, since: str | None = None, until: str | None = None) -> int:
        """Remove for good what ended from ``since`` on and before ``until``; gives how many."""
        return await self._database.purge(
            "DELETE FROM request_details WHERE finished_at >= :since AND finished_at < :until",
            since=since or "",
            until=until or "~",
        )


def _read(row: Row) -> RequestDetail:
    return RequestDetail(
        request_id=row["request_id"],
        finished_at=row["finished_at"],
        **{name: msgspec.json.decode(row[name]) for name in PARTS},
    )
