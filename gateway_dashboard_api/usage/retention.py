"""How long usage is kept, and deleting what is older (A.10)."""

from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from gateway_core.contracts.errors import BadRequest
from gateway_core.http.operations import Guarded
from gateway_core.http.responses import json_answer
from gateway_core.identity.access import Access

from ..admin_context import AdminContext
from ..endpoint import endpoint
from ..requests import check_members, read_json
from .bodies import MOST_DAYS, DaysBody
from .retention_runs import Run, last_run, run

PATH = "/api/data-retention"
PRESETS = (7, 15, 30, 60, 90)


class Retention(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether old rows are deleted every day, and what the last time brought."""

    enabled: bool
    days: int
    presets: tuple[int, ...] = PRESETS
    last_run: Run | None


def routes(admin: AdminContext) -> list[Guarded]:
    return [
        endpoint(
            admin,
            "GET",
            PATH,
            show,
            "read the data retention",
            access=Access.OPERATOR,
            answer=Retention,
        ),
        endpoint(
            admin,
            "POST",
            PATH,
            clean,
            "delete old data",
            access=Access.PROTECTED,
            body=DaysBody,
            answer=Run,
            example={"days": 30},
        ),
    ]


async def show(admin: AdminContext, request: Request) -> Response:
    settings = admin.snapshot.settings
    return json_answer(
        Retention(
            enabled=settings.data_retention_enabled,
            days=settings.data_retention_days,
            last_run=await last_run(admin.stores),
        )
    )


async def clean(admin: AdminContext, request: Request) -> Response:
    body = await read_json(request, dict[str, Any])
    check_members(body, DaysBody.__struct_encode_fields__)
    days = body.get("days")
    if days is None:
        days = admin.snapshot.settings.data_retention_days
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise BadRequest("Invalid days")
    await admin.audit(request, "retention.run", None, {"days": days})
    async with admin.writing():
        await admin.core.ledger.flush()
        done = await run(admin.core, days, "manual")
    return json_answer(done)
