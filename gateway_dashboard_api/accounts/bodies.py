"""The bodies of requests about accounts: which members may be written."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..models.bodies import Asked
from ..requests import Text

TestStatus = Literal["unknown", "active", "unavailable", "error", "expired", "reauth_required"]
Name = Annotated[str, Meta(max_length=200)] | UnsetType | None
Priority = Annotated[int, Meta(ge=1, lt=1 << 31)] | UnsetType | None
PAGE_SIZE = 20
LARGEST_PAGE = 100
MOST_PAGES = 1_000_000


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


class PageQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """``search`` is looked for in names, addresses and providers."""

    page: Annotated[int, Meta(ge=1, le=MOST_PAGES)] = 1
    page_size: Annotated[int, Meta(ge=1, le=LARGEST_PAGE)] = PAGE_SIZE
    provider: str | None = None
    search: str = ""


class GroupBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is left out stays, or is empty in a new group."""

    name: Text = UNSET
    connection_ids: tuple[str, ...] | UnsetType | None = UNSET


class MemberBody(Struct, frozen=True, kw_only=True, rename="camel"):
    connection_id: str = ""


class ModelsBody(Struct, frozen=True, kw_only=True):
    models: Annotated[tuple[Asked, ...], Meta(min_length=1, max_length=200)]


class PingBody(Struct, frozen=True, kw_only=True):
    enabled: bool


class SuggestionQuery(Struct, frozen=True, kw_only=True):
    type: str
    """A provider's id, alias or prefix."""
