"""Reads the answer of a service, whose exchange may need several requests (``ServiceExchange``).

```text
request ──▶ answer ──▶ following? ──▶ delay ──▶ request ──▶ answer … started or nothing following
```

Each request goes the way of the first: the same account, proxy and check of its address.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import cast

from ..contracts.errors import GatewayError, TransportError, UpstreamError
from ..contracts.exchange import (
    Exchange,
    ServiceExchange,
    Step,
    UpstreamRequest,
    UpstreamResponse,
)
from ..metering.request_record import RequestRecord
from ..upstream.redaction import secrets_of
from ..upstream.transport import AddressPolicy, is_over
from .attempt import Attempt
from .context import Collaborators
from .send import send

ERROR_BODY_LIMIT = 64 * 1024
CANCEL_LIMIT = 2.0
"""Seconds for telling a vendor that a job is no longer wanted."""


async def answer_in_steps(
    core: Collaborators,
    attempt: Attempt,
    answering: Awaitable[UpstreamResponse],
    record: RequestRecord,
    limit: int,
) -> None:
    """Read until the client can have something. Raises UpstreamError where there is no answer.

    A job that is given up is cancelled, where its step says how.
    """
    exchange = cast(ServiceExchange, attempt.exchange)
    begun = asyncio.get_running_loop().time()
    request = exchange.request
    deadline: float | None = begun + core.whole_timeout
    cancel: UpstreamRequest | None = None
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                await _read(attempt, request, await answering, record, limit)
                step = exchange.following
                if exchange.started or step is None:
                    break
                deadline = begun + (core.whole_timeout if step.deadline is None else step.deadline)
                cancel = step.cancel
            async with asyncio.timeout_at(deadline):
                await asyncio.sleep(step.delay)
        except BaseException as error:
            # A job that has failed need not be stopped.
            if cancel is not None and exchange.failure is None:
                await cancel_job(core, attempt, cancel)
            if isinstance(error, TimeoutError):
                raise TransportError("The upstream took too long to answer", status=504) from None
            raise
        request, answering = step.request, _send(core, attempt, step)
    if not exchange.started:
        raise UpstreamError("The upstream gave an empty answer")


async def cancel_job(core: Collaborators, attempt: Attempt, request: UpstreamRequest) -> None:
    """Ask the vendor to stop. What it answers changes nothing."""
    provider = attempt.member.target.provider
    with suppress(GatewayError, TimeoutError):
        async with asyncio.timeout(CANCEL_LIMIT):
            response = await send(core, provider, attempt.account, request)
            await response.aclose()


def _send(core: Collaborators, attempt: Attempt, step: Step) -> Awaitable[UpstreamResponse]:
    if step.is_public:
        # No account's proxy and no allowed host: whoever named the address is not trusted.
        return core.network.transport(policy=AddressPolicy.PUBLIC).send(step.request)
    return send(core, attempt.member.target.provider, attempt.account, step.request)


async def _read(
    attempt: Attempt,
    request: UpstreamRequest,
    response: UpstreamResponse,
    record: RequestRecord,
    limit: int,
) -> None:
    """Read one answer until it is for the client, or to its end. Raises UpstreamError.

    ``limit`` is of bytes that are read before any of it is for the client.
    """
    exchange = cast(ServiceExchange, attempt.exchange)
    if record.detail is not None:
        secrets = secrets_of(attempt.account.credential)
        response = record.detail.hear(request, response, secrets)
    attempt.response = response
    try:
        if not 200 <= response.status < 300:
            raise await refusal_of(exchange, response)
        exchange.read_head(response.headers)
        taken, is_last = 0, False
        while not (exchange.started or is_last):
            chunk = await response.next()
            taken += len(chunk)
            is_last = not chunk or is_over(response)
            if taken > limit:
                raise UpstreamError("The upstream's answer is too large")
            attempt.pending += exchange.feed(chunk)
            if is_last:
                attempt.pending += exchange.close()
            if exchange.failure is not None and not exchange.started:
                raise exchange.failure
        if is_last:
            attempt.is_complete = exchange.following is None
            await response.aclose()
    except BaseException:
        await response.aclose()
        raise


async def refusal_of(exchange: Exchange, response: UpstreamResponse) -> UpstreamError:
    """What an answer with an error status says."""
    parts = bytearray()
    # The beginning is enough of an error, and a hostile vendor's may never end.
    while len(parts) <= ERROR_BODY_LIMIT and (chunk := await response.next()):
        parts += chunk
    return exchange.refusal(response.status, response.headers, bytes(parts[:ERROR_BODY_LIMIT]))
