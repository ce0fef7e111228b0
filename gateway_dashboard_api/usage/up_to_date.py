"""Handlers that read the ledger, with the rows of calls that have just ended."""

from functools import wraps

from starlette.requests import Request
from starlette.responses import Response

from ..admin_context import AdminContext
from ..endpoint import Handler


def up_to_date(handler: Handler) -> Handler:
    """The handler, called once the rows that still wait are written: a client that has its answer
    finds its call counted."""

    @wraps(handler)
    async def handle(admin: AdminContext, request: Request) -> Response:
        await admin.core.ledger.settle()
        return await handler(admin, request)

    return handle
