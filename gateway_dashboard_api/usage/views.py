"""The JSON shapes of usage: rows of the ledger and sums of a period."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway_core.storage.stores.request_details import RequestDetail
from gateway_core.storage.stores.usage import FailedAttempt, Status, UsageRow

from ..admin_context import AdminContext
from ..keys.spending import DayStatus
from ..keys.views import AccountRow, Totals
from ..pagination import Pagination
from .statistics import Figures, Names, dollars, key_facts


class Tokens(Struct, frozen=True, kw_only=True, rename="camel"):
    input: int
    output: int
    cached: int
    cache_creation: int
    reasoning: int
    estimated: bool


class AttemptRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """An attempt that gave no answer, so that another one followed."""

    provider: str
    model: str
    connection_id: str | None
    account_name: str | None
    status: int
    error_code: str | None
    error: str | None
    """What the vendor said, without secrets."""
    ended_ms: int
    """Since the request came. The next attempt began then, if it had not to wait."""


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
    error: str | None
    """What the client was answered when the call failed, without secrets."""
    stream: bool
    attempts: int
    failures: tuple[AttemptRow, ...]
    """The attempts before the last one, where there were several; and the last one if it failed."""
    notes: tuple[str, ...]
    """What plugins noted about it, such as what a guardrail did."""
    tokens: Tokens
    units: Mapping[str, float]
    combo_id: str | None
    combo_name: str | None
    dropped: tuple[str, ...]
    """What could not be carried between the two formats, as ``x-gateway-dropped`` names it."""


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
    error: str | None
    dropped: tuple[str, ...] = ()
    request: Any = None
    provider_request: Any = None
    provider_response: Any = None
    response: Any = None


async def names_of(admin: AdminContext) -> Names:
    """Load the names of keys, accounts and providers, deleted ones too."""
    former = await admin.own_stores.former_names.all()
    keys = {key.id: key.name for key in await admin.stores.keys.list()}
    accounts = {
        account.id: account.name or account.id for account in await admin.stores.connections.list()
    }
    providers = {spec.id: spec.name for spec in admin.snapshot.registry.providers.values()}
    return Names(
        keys={**former["key"], **keys},
        accounts={**former["connection"], **accounts},
        providers={**former["node"], **providers},
    )


def tokens_of(row: UsageRow) -> Tokens:
    return Tokens(
        input=row.input_tokens,
        output=row.output_tokens,
        cached=row.cached_tokens,
        cache_creation=row.cache_write_tokens,
        reasoning=row.reasoning_tokens,
        estimated=row.estimated,
    )


def attempt_row(attempt: FailedAttempt, names: Names) -> AttemptRow:
    connection_id = attempt.connection_id
    return AttemptRow(
        provider=attempt.provider,
        model=attempt.model,
        connection_id=connection_id,
        account_name=names.account(connection_id) if connection_id else None,
        status=attempt.status,
        error_code=attempt.code,
        error=attempt.error,
        ended_ms=attempt.ended_ms,
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
        error=row.error,
        stream=row.stream,
        attempts=row.attempts,
        failures=tuple(attempt_row(each, names) for each in row.failures),
        notes=row.notes,
        tokens=tokens_of(row),
        units=row.units or {},
        combo_id=row.combo_id,
        combo_name=row.combo_name,
        dropped=row.dropped,
    )


def detail_row(row: UsageRow, bodies: RequestDetail | None) -> DetailRow:
    parts = {}
    if bodies is not None:
        parts = {
            "request": bodies.request,
            "provider_request": bodies.provider_request,
            "provider_response": bodies.provider_response,
            "response": bodies.response,
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
        error=row.error,
        dropped=row.dropped,
        **parts,
    )


class ComboRow(Figures, frozen=True, kw_only=True, rename="camel"):
    """What went through a combo to one account."""

    combo_id: str
    combo_name: str | None
    connection_id: str | None


class ComboUsage(Struct, frozen=True, kw_only=True):
    """``boundary`` is when the oldest row that is left ended."""

    mode: str = "future-only"
    boundary: str | None
    rows: tuple[ComboRow, ...]
    unattributed: Figures


class Deleted(Struct, frozen=True, kw_only=True, rename="camel"):
    success: bool = True
    deleted: int
    """Rows of the ledger."""
    deleted_details: int


class ProviderName(Struct, frozen=True):
    id: str
    name: str


class ProviderNames(Struct, frozen=True):
    providers: tuple[ProviderName, ...]


class History(Struct, frozen=True, kw_only=True):
    """Rows, newest first; ``total`` counts them all."""

    rows: tuple[HistoryRow, ...]
    total: int
    limit: int
    offset: int


def log_line(row: UsageRow, names: Names) -> str:
    """Format a call as a line: time, model, provider, account, tokens in and out, status, and
    what was dropped if anything was."""
    account = names.account(row.connection_id) if row.connection_id else "-"
    words = (
        row.finished_at,
        row.model_sent or row.model_asked or "-",
        row.provider or "-",
        account,
        str(row.input_tokens),
        str(row.output_tokens),
        row.status if row.error_code is None else f"{row.status} {row.error_code}",
        *((f"dropped {' '.join(row.dropped)}",) if row.dropped else ()),
    )
    # Names come from clients and vendors; a line break in one must not forge another line.
    return " | ".join("".join(c if c.isprintable() else "?" for c in word) for word in words)


class Details(Struct, frozen=True):
    details: tuple[DetailRow, ...]
    pagination: Pagination


class Account(AccountRow, frozen=True, kw_only=True, rename="camel"):
    """``quota`` holds what its vendor last told of it; no vendor is asked."""

    quota: tuple[Mapping[str, Any], ...] = ()


class OwnUsage(Struct, frozen=True, kw_only=True, rename="camel"):
    lifetime: Totals
    daily: DayStatus


class Me(Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str
    is_active: bool
    expires_at: str | None
    created_at: str
    daily_limit_tokens: int | None
    policy: Mapping[str, Any]
    usage: OwnUsage
    connections: tuple[Account, ...]
