"""Asking interceptors. With none installed nothing here is called."""

import asyncio
import logging
from collections.abc import Sequence

from msgspec.structs import asdict

from ..contracts.errors import GatewayError
from ..contracts.interceptor import Interceptor
from ..contracts.provider import Call
from ..storage.usage import UsageRecord

LIMIT = 5.0
"""Seconds one interceptor may take."""

log = logging.getLogger(__name__)


async def before(interceptors: Sequence[Interceptor], call: Call) -> Call:
    """The call that all of them agree to. Raises GatewayError when one refuses it."""
    for interceptor in interceptors:
        try:
            async with asyncio.timeout(LIMIT):
                call = await interceptor.before(call)
        except GatewayError:
            raise
        except Exception as error:
            log.exception("interceptor %s failed", type(interceptor).__name__)
            if interceptor.required:
                raise GatewayError("A required check could not be made") from error
    return call


async def after(interceptors: Sequence[Interceptor], record: UsageRecord) -> None:
    """Show a finished call to all of them. The client has its answer: a failure is only logged."""
    for interceptor in interceptors:
        try:
            async with asyncio.timeout(LIMIT):
                await interceptor.after(asdict(record))
        except Exception:
            log.exception("interceptor %s failed", type(interceptor).__name__)
