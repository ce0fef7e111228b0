"""How nodes are shown."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from gateway_administration.stores.renames import Rewritten
from gateway_core.storage.stores.nodes import Node

from ..accounts.views import Validity


class NodeValidity(Validity, frozen=True, kw_only=True):
    """``method`` is how it was found to be good; ``dimensions`` are those of an embedding."""

    method: str | UnsetType = UNSET
    dimensions: int | UnsetType = UNSET


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


class ChangedNode(OneNode, frozen=True):
    rewritten: tuple[Rewritten, ...] | UnsetType = UNSET
    """What named its models by the old prefix, and names them by the new one now."""


class Nodes(Struct, frozen=True):
    nodes: tuple[NodeShape, ...]


def node_row(node: Node) -> dict[str, Any]:
    return {
        **node.data,
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "prefix": node.prefix,
        "apiType": node.api_type,
        "baseUrl": node.base_url,
        "iconUrl": node.icon_url,
        "createdAt": node.created_at,
        "updatedAt": node.updated_at,
    }
