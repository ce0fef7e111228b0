"""The bodies of management calls about accounts and nodes: what may be written, by name.

A member that is not listed here is refused by name, unless the row shows it.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

TestStatus = Literal["unknown", "active", "unavailable", "error", "expired", "reauth_required"]
Text = str | UnsetType | None
Name = Annotated[str, Meta(max_length=200)] | UnsetType | None
Priority = Annotated[int, Meta(ge=1, lt=1 << 31)] | UnsetType | None


class ConnectionBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """What making and changing an account have in common.

    ``null`` removes a member, but an empty or null key leaves the stored one.
    """

    name: Name = UNSET
    api_key: Text = UNSET
    priority: Priority = UNSET
    global_priority: Priority = UNSET
    default_model: Text = UNSET
    test_status: TestStatus | UnsetType = UNSET
    provider_specific_data: dict[str, Any] | UnsetType | None = UNSET
    connection_proxy_enabled: bool | UnsetType | None = UNSET
    connection_proxy_url: Text = UNSET
    connection_no_proxy: Text = UNSET
    proxy_pool_id: Text = UNSET
    session_token: Text = UNSET


class NewConnectionBody(ConnectionBody, frozen=True, kw_only=True, rename="camel"):
    provider: Text = UNSET
    display_name: Name = UNSET
    is_active: bool = True
    create_only: bool = False


class ChangedConnectionBody(ConnectionBody, frozen=True, kw_only=True, rename="camel"):
    is_active: bool | UnsetType = UNSET
    last_error: Text = UNSET
    last_error_at: Text = UNSET


class OrderBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A provider's accounts in their new order. The list goes by any of three names."""

    provider: str = ""
    ids: tuple[str, ...] | None = None
    ordered_ids: tuple[str, ...] | None = None
    connection_ids: tuple[str, ...] | None = None


class CandidateBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """An account that is not saved, to be looked at."""

    provider: str | None = None
    api_key: str | None = None
    base_url: str | None = None
    provider_specific_data: dict[str, Any] | None = None


class BatchBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which accounts to look at."""

    mode: str | None = None
    provider_id: str | None = None
    ids: tuple[str, ...] | None = None


class NodeBody(Struct, frozen=True, kw_only=True, rename="camel"):
    name: Text = UNSET
    prefix: Text = UNSET
    type: Text = UNSET
    api_type: Text = UNSET
    base_url: Text = UNSET
    icon_url: Text = UNSET
    model_id: Text = UNSET


class NodeCandidateBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """A node that is not saved, to be looked at."""

    base_url: str | None = None
    api_key: str | None = None
    type: str | None = None
    api_type: str | None = None
    model_id: str | None = None


def said(text: Text) -> str:
    """A text without the space around it; empty when there is none."""
    return text.strip() if isinstance(text, str) else ""
