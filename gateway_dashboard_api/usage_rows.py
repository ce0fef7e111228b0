"""Rows of the ledger as they are shown, and the query that chooses them."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.moments import iso, seconds
from gateway_core.storage.stores.request_details import RequestDetail
from gateway_core.storage.stores.usage import Status, UsageRow
from gateway_core.storage.stores.usage_days import LAST_DAY
from gateway_core.storage.stores.usage_reports import Which

from .desk import AdminContext
from .periods import DAY, began, calendar_day
from .usage_stats import Names, dollars, key_facts

Word = Annotated[str, Meta(max_length=256, pattern=r"^[^\x00]*$")]
"""Without NUL, which not every engine can compare with."""
_DATE = 10
"""Characters of a date without a time."""


class RowFilter(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which rows; ``startDate`` and ``endDate`` are local days, both included, or times."""

    provider: Word | None = None
    model: Word | None = None
    connection_id: Word | None = None
    status: Status | None = None
    start_date: Word | None = None
    end_date: Word | None = None


class Tokens(Struct, frozen=True, kw_only=True, rename="camel"):
    input: int
    output: int
    cached: int
    cache_creation: int
    reasoning: int
    estimated: bool


class HistoryRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """One finished call. ``cost`` is in dollars; ``costKnown`` says whether it is right."""

    id: int
    request_id: str
    timestamp: str
    provider: str | None
    model: str | None
    requested_model: str
    connection_id: str | None
    account_name: str | None
    api_key_masked: str | None
    key_name: str
    endpoint: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    cost: float
    cost_known: bool
    latency_ms: int
    ttft_ms: int | None
    status: Status
    http_status: int | None
    error_code: str | None
    stream: bool
    attempts: int
    tokens: Tokens
    combo_id: str | None
    combo_name: str | None


class Latency(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Milliseconds; ``ttft`` is until the first byte."""

    total: int
    ttft: int | None = None


class DetailRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """One finished call with what was said in it, as far as that is kept and may be shown."""

    id: str
    provider: str | None
    model: str | None
    connection_id: str | None
    timestamp: str
    status: Status
    latency: Latency
    tokens: Tokens
    request: Any = None
    provider_request: Any = None
    provider_response: Any = None
    response: Any = None


async def names_of(admin: AdminContext) -> Names:
    """What the operator calls keys, accounts and providers."""
    keys = {key.id: key.name for key in await admin.stores.keys.list()}
    accounts = {one.id: one.name or one.id for one in await admin.stores.connections.list()}
    providers = {spec.id: spec.name for spec in admin.tables.registry.providers.values()}
    return Names(keys, accounts, providers)


def which(admin: AdminContext, asked: RowFilter) -> Which:
    """The rows a query means. Raises BadRequest for dates that make no sense."""
    start, end = asked.start_date, asked.end_date
    since, until = _since(start), _until(end)
    if since is not None and until is not None and until <= since:
        raise BadRequest("startDate must not be after endDate")
    whole = all(text is None or len(text) == _DATE for text in (start, end))
    return Which(
        provider=admin.provider_id(asked.provider) if asked.provider else None,
        model=asked.model,
        connection=asked.connection_id,
        status=asked.status,
        since=since,
        until=until,
        days=(start or "", end or LAST_DAY) if whole else None,
    )


def _since(text: str | None) -> str | None:
    if text is None:
        return None
    return began(calendar_day(text)) if len(text) == _DATE else _moment(text, "startDate")


def _until(text: str | None) -> str | None:
    """A day ends where the next begins; a time is included, to the millisecond."""
    if text is None:
        return None
    try:
        if len(text) == _DATE:
            return began(calendar_day(text) + DAY)
        return iso(seconds(_moment(text, "endDate")) + 0.001)
    except (OverflowError, ValueError):
        raise BadRequest("Invalid endDate") from None


def _moment(text: str, name: str) -> str:
    """A date-time, local unless it names its zone, as the ledger writes times."""
    try:
        return iso(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError, OSError):
        raise BadRequest(f"Invalid {name}") from None


def tokens_of(row: UsageRow) -> Tokens:
    return Tokens(
        input=row.input_tokens,
        output=row.output_tokens,
        cached=row.cached_tokens,
        cache_creation=row.cache_write_tokens,
        reasoning=row.reasoning_tokens,
        estimated=row.estimated,
    )


def history_row(row: UsageRow, names: Names) -> HistoryRow:
    return HistoryRow(
        **key_facts(row.api_key_id, names),
        id=row.id,
        request_id=row.request_id,
        timestamp=row.finished_at,
        provider=row.provider,
        model=row.model_sent,
        requested_model=row.model_asked,
        connection_id=row.connection_id,
        account_name=names.account(row.connection_id) if row.connection_id else None,
        endpoint=row.endpoint,
        prompt_tokens=row.input_tokens,
        completion_tokens=row.output_tokens,
        cached_tokens=row.cached_tokens,
        cost=dollars(row.cost or 0),
        cost_known=row.cost is not None,
        latency_ms=row.duration_ms,
        ttft_ms=row.ttft_ms,
        status=row.status,
        http_status=row.http_status,
        error_code=row.error_code,
        stream=row.stream,
        attempts=row.attempts,
        tokens=tokens_of(row),
        combo_id=row.combo_id,
        combo_name=row.combo_name,
    )


def detail_row(row: UsageRow, said: RequestDetail | None) -> DetailRow:
    parts = {}
    if said is not None:
        parts = {
            "request": said.request,
            "provider_request": said.provider_request,
            "provider_response": said.provider_response,
            "response": said.response,
        }
    return DetailRow(
        id=f"{row.finished_at}-{row.request_id[-6:]}-{row.model_sent or row.model_asked}",
        provider=row.provider,
        model=row.model_sent,
        connection_id=row.connection_id,
        timestamp=row.finished_at,
        status=row.status,
        latency=Latency(total=row.duration_ms, ttft=row.ttft_ms),
        tokens=tokens_of(row),
        **parts,
    )
