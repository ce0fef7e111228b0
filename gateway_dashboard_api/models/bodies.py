"""The bodies and queries of requests about models."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType


class AliasBody(Struct, frozen=True, kw_only=True, rename="camel"):
    model: str | None = None
    alias: str | None = None


class AliasQuery(Struct, frozen=True, kw_only=True):
    alias: str


Tokens = Annotated[int, Meta(ge=1, lt=1 << 40)]


class Capabilities(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the gateway itself reads of a model's capabilities; the others are kept as they are."""

    context_window: Tokens | None = None
    max_output: Tokens | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    vision: bool | None = None


class ModelBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """``type`` and ``kind`` mean the same; ``null`` clears."""

    provider_alias: str | None = None
    id: str | None = None
    type: str | None = None
    kind: str | None = None
    name: str | UnsetType | None = UNSET
    capabilities: dict[str, Any] | UnsetType | None = UNSET


class CustomModelQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """Without a ``type`` or ``kind``, every model of that id."""

    provider_alias: str
    id: str
    type: str | None = None
    kind: str | None = None


class IdsBody(Struct, frozen=True, kw_only=True, rename="camel"):
    provider_alias: str | None = None
    ids: tuple[str, ...] | None = None


class OwnerQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    """Without a provider, everybody's by alias."""

    provider_alias: str | None = None


class ProviderQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    provider_alias: str


class EnableQuery(ProviderQuery, frozen=True, kw_only=True, rename="camel"):
    """Without an ``id``, all of the provider's."""

    id: str | None = None


class Asked(Struct, frozen=True, kw_only=True, rename="camel"):
    model: str = ""
    kind: str | None = None


class TestBody(Asked, frozen=True, kw_only=True, rename="camel"):
    connection_id: str | None = None


class ModelBatchBody(Struct, frozen=True, kw_only=True, rename="camel"):
    models: Annotated[tuple[Asked, ...], Meta(min_length=1, max_length=200)]
    connection_id: str | None = None


class ActionBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """Without a ``connectionId``, all of the provider's accounts."""

    action: str | None = None
    provider: str | None = None
    model: str | None = None
    connection_id: str | None = None


class RouteBody(Struct, frozen=True, kw_only=True):
    kind: str = ""
    models: Any = None


class PricingQuery(Struct, frozen=True, kw_only=True):
    """Whose prices to show; without a provider, everybody's."""

    provider: str | None = None


class Which(Struct, frozen=True, kw_only=True):
    """Whose prices to forget; with neither, all of them."""

    provider: str | None = None
    model: str | None = None
