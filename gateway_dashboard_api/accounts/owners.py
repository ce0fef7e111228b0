"""The owner of an account: a plugin's provider, or a node of the operator's."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway_core.contracts.errors import BadRequest, NotFound
from gateway_core.contracts.provider import ProviderSpec
from gateway_core.contracts.wire import WireFormat
from gateway_core.storage.stores.nodes import Node
from gateway_core.upstream.endpoints import vendor_side

from ..admin_context import AdminContext
from .probes.discovery import list_path

_NODE_MARKS = ("-compatible-", "custom-embedding-", "custom-systemone-")


class Owner(Struct, frozen=True, kw_only=True):
    """A provider; ``spec`` and ``wire`` are missing for a node that is not for chat."""

    id: str
    spec: ProviderSpec | None
    wire: WireFormat | None
    node: Node | None

    @property
    def is_lost(self) -> bool:
        """Whether the provider's plugin is no longer installed."""
        return self.spec is None and self.node is None

    @property
    def auth_type(self) -> str:
        """The kind of authentication; ``optional`` where accounts need no key."""
        return "optional" if self.spec is None else self.spec.auth.type or "apikey"

    @property
    def mirrored(self) -> Mapping[str, Any]:
        """Members that the accounts of a node copy from it."""
        if self.node is None:
            return {}
        return {
            "prefix": self.node.prefix,
            "apiType": self.node.api_type,
            "baseUrl": self.node.base_url,
            "nodeName": self.node.name,
        }

    def own(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an account's data without the members copied from its node, checked before."""
        return {name: value for name, value in data.items() if name not in self.mirrored}

    @property
    def endings(self) -> tuple[str, ...]:
        """Paths that are often pasted after this provider's base URL."""
        return () if self.wire is None else usual_endings(self.wire)


def usual_endings(wire: WireFormat) -> tuple[str, ...]:
    """Return the paths of a format's calls."""
    return (vendor_side(wire).path("", False).partition("?")[0], list_path(wire))


async def identity_of(admin: AdminContext, name: str) -> str:
    """Return the id for a provider's id, alias or prefix; the name itself when unknown."""
    known = admin.snapshot.registry.names.get(name)
    if known is not None:
        return known
    nodes = await admin.stores.nodes.list()
    return next((node.id for node in nodes if node.prefix == name), name)


async def owner_of(admin: AdminContext, provider: str) -> Owner:
    """Return the owner by id, alias or prefix. Raises BadRequest; NotFound for a lost node."""
    owner = await stored_owner(admin, await identity_of(admin, provider))
    if owner.is_lost:
        if any(mark in owner.id for mark in _NODE_MARKS):
            raise NotFound("Provider node not found")
        raise BadRequest("Invalid provider")
    return owner


async def stored_owner(admin: AdminContext, identity: str) -> Owner:
    """Return the owner of a stored account; its plugin may be missing."""
    spec = admin.spec(identity)
    node = await admin.stores.nodes.get(identity)
    return Owner(id=identity, spec=spec, wire=admin.wire(spec) if spec else None, node=node)


async def provider_of(admin: AdminContext, name: str, *, stored: bool = False) -> str:
    """Return the id for a client's ``providerAlias``. Raises BadRequest for an unknown one.

    ``stored`` also takes an id that is not known now, as one that was stored before may be.
    """
    identity = await identity_of(admin, name.strip())
    if not stored and (await stored_owner(admin, identity)).is_lost:
        raise BadRequest(f"Unknown provider: {name.strip()[:128]}")
    return identity
