"""The shapes of answers about accounts, nodes and models.

A row that shows whatever else is stored has more members than its shape names;
such a row is put together where it is made, and its shape here says what can
be relied on.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from .bodies import TestStatus
from .probes.findings import Diagnosis
from .probes.model_list import Listed


class Success(Struct, frozen=True):
    """It is done."""

    success: bool = True


class Message(Struct, frozen=True):
    message: str


class ConnectionShape(Struct, frozen=True, kw_only=True, rename="camel"):
    """An account without its secrets, with whatever else is known of it."""

    id: str
    provider: str
    auth_type: str
    name: str | None
    email: str | None
    priority: int
    is_active: bool
    test_status: TestStatus
    provider_specific_data: dict[str, Any]
    can_discover_models: bool
    created_at: str
    updated_at: str


class OneConnection(Struct, frozen=True):
    connection: ConnectionShape


class Connections(Struct, frozen=True):
    connections: tuple[ConnectionShape, ...]


class PagePlace(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a page stands in its list."""

    page: int
    page_size: int
    total_items: int
    total_pages: int
    has_next: bool
    has_prev: bool


class ConnectionPage(Struct, frozen=True):
    connections: tuple[ConnectionShape, ...]
    pagination: PagePlace


class Validity(Struct, frozen=True, kw_only=True):
    valid: bool
    error: str | None


class NodeValidity(Validity, frozen=True, kw_only=True):
    """``method`` is how it was found to be good; ``dimensions`` are those of an embedding."""

    method: str | UnsetType = UNSET
    dimensions: int | UnsetType = UNSET


class ConnectionTest(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a vendor said to an account."""

    valid: bool
    error: str | None
    refreshed: bool = False
    latency_ms: int
    status_code: int | None
    diagnosis: Diagnosis


class BatchedTest(Struct, frozen=True, kw_only=True, rename="camel"):
    """The same, for one of many accounts."""

    provider: str
    connection_id: str
    connection_name: str | None
    auth_type: str
    valid: bool
    latency_ms: int
    error: str | None
    diagnosis: Diagnosis
    status_code: int | None
    tested_at: str


class BatchSummary(Struct, frozen=True, kw_only=True):
    total: int
    passed: int
    failed: int


class ConnectionBatch(Struct, frozen=True, kw_only=True, rename="camel"):
    mode: str | None
    provider_id: str | None
    results: tuple[BatchedTest, ...]
    tested_at: str
    summary: BatchSummary


class UpstreamModels(Struct, frozen=True, kw_only=True, rename="camel"):
    provider: str
    connection_id: str
    models: tuple[Listed, ...]


class NodeShape(Struct, frozen=True, kw_only=True, rename="camel"):
    """One of the operator's own endpoints, with whatever else its type needs."""

    id: str
    type: str
    name: str
    prefix: str
    api_type: str | None
    base_url: str | None
    icon_url: str | None
    created_at: str
    updated_at: str


class OneNode(Struct, frozen=True):
    node: NodeShape


class Nodes(Struct, frozen=True):
    nodes: tuple[NodeShape, ...]
