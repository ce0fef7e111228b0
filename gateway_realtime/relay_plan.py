"""Which vendor's socket a client's address means, and which accounts may open it."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from gateway_core.contracts.errors import (
    BadRequest,
    Forbidden,
    GatewayError,
    NoCredentials,
    NotFound,
    Unavailable,
)
from gateway_core.contracts.model import Model
from gateway_core.contracts.provider import ProviderSpec, Target
from gateway_core.contracts.sockets import SocketService
from gateway_core.identity.keys import Key
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.request_run import SHOWN_PIN
from gateway_core.routing.access_policy import ModelUnpriced, must_be_priced, permit_model
from gateway_core.routing.account_selection import PIN, AccountConstraints, eligible
from gateway_core.routing.model_resolver import resolve
from gateway_core.routing.snapshot import Account, ConfigSnapshot

from .handshake import is_reachable

NATIVE = "/v1/native/"
CHAT_PATH = "/v1/realtime"
"""Also the path of models that have no socket of their own."""


class Way(Struct, frozen=True):
    """A vendor's socket for one model."""

    service: SocketService
    target: Target
    requested: str
    """The model as the client named it."""


def find_way(snapshot: ConfigSnapshot, path: str, name: str) -> Way | None:
    """The socket that a model has at a path; ``None`` for a model that has none anywhere.

    Raises BadRequest where the model's socket is at another path, and, below a vendor's own
    address, for a model that is not the vendor's.
    """
    if path.startswith(NATIVE):
        return _native_way(snapshot, path, name)
    target = _listed(snapshot, name)
    if target is None:
        return None
    others: list[str] = []
    for service in target.provider.sockets:
        if service.kind == target.model.kind:
            if path in service.paths:
                return Way(service, target, name)
            others += service.paths
    if not others:
        raise BadRequest(f"{target} has no socket", code="model_not_supported", param="model")
    raise BadRequest(
        f"{target} is opened at {others[0]}", code="model_not_supported", param="model"
    )


def native_service(snapshot: ConfigSnapshot, path: str) -> tuple[ProviderSpec, SocketService]:
    """The one socket that has this path. Raises BadRequest, NotFound."""
    for spec in snapshot.registry.providers.values():
        for service in spec.sockets:
            if path in service.paths:
                return spec, service
    if path.removeprefix(NATIVE).partition("/")[0] not in snapshot.registry.providers:
        raise BadRequest("Unknown provider")
    raise NotFound("Unknown native operation")


def find_target(snapshot: ConfigSnapshot, spec: ProviderSpec, kind: str, name: str) -> Target:
    """The model of a provider, with the provider's name before it or without. Raises BadRequest."""
    name = snapshot.aliases.get(name, name)
    prefix, slash, rest = name.partition("/")
    owner = snapshot.registry.names.get(prefix) if slash else None
    if owner not in (None, spec.id):
        raise BadRequest("Model does not belong to native provider")
    model = rest if owner == spec.id else name
    for row in snapshot.models.get(spec.id, ()):
        if row.kind == kind and row.id == model:
            return Target(spec, row)
    raise BadRequest("Unknown native provider model")


def plain_model(snapshot: ConfigSnapshot, spec: ProviderSpec, prefix: str, name: str) -> str:
    """A model's name as the vendor knows it: without the provider's, behind ``prefix`` or not.

    Raises Forbidden for one of another provider.
    """
    front = prefix if prefix and name.startswith(prefix) else ""
    bare = name.removeprefix(front)
    first, slash, rest = bare.partition("/")
    owner = snapshot.registry.names.get(first) if slash else None
    if owner is None or not rest:
        return name
    if owner != spec.id:
        raise Forbidden(f'Model "{name}" is not of this provider', code="model_not_allowed")
    return f"{front}{rest}"


def permit(core: Collaborators, key: Key | None, target: Target, requested: str) -> None:
    """Raises Forbidden for a model that the caller may not use."""
    snapshot = core.snapshot
    if snapshot.is_disabled(target.provider, target.model.id):
        raise Forbidden(f"Model {target} is disabled", code="model_disabled")
    if key is None:
        return
    permit_model(key, target, requested)
    if must_be_priced(snapshot, key) and not core.prices.is_known(target):
        raise ModelUnpriced(requested)


def named_target(core: Collaborators, spec: ProviderSpec, kind: str, model: str) -> Target:
    """A model that an event names, by the vendor's name for it."""
    rows = [row for row in core.snapshot.models.get(spec.id, ()) if row.id == model]
    same = (row for row in rows if row.kind == kind)
    return Target(spec, next(same, rows[0] if rows else Model(model, kind=kind)))


def accounts_for(
    core: Collaborators, key: Key | None, target: Target, headers: Mapping[str, str]
) -> list[Account]:
    """The accounts to try, in order. Raises Forbidden, Unavailable, NoCredentials."""
    snapshot, provider = core.snapshot, target.provider
    own = snapshot.accounts.get(provider.id, ())
    scope = frozenset[str]() if key is None else key.connections
    pinned = headers.get(PIN) or headers.get(SHOWN_PIN)
    if pinned is not None:
        others = (
            each.id
            for name, all in snapshot.accounts.items()
            for each in all
            if name != provider.id
        )
        if (scope and pinned not in scope) or pinned in others:
            raise Forbidden("Forbidden")
    elif not own:
        raise NoCredentials(provider.shown)
    allowed = eligible(own, AccountConstraints(pinned=pinned, scope=scope))
    ordered = core.round_robin.order(provider.id, allowed, snapshot.settings, None)
    usable = [
        each
        for each in ordered
        if is_reachable(each) and core.cooldowns.find(each.id, target.model.id) is None
    ]
    if not usable:
        raise Unavailable("Provider account unavailable")
    return usable


def _native_way(snapshot: ConfigSnapshot, path: str, name: str) -> Way:
    spec, service = native_service(snapshot, path)
    if not name:
        raise BadRequest("Missing gateway model identity")
    front = service.model_prefix
    target = find_target(snapshot, spec, service.kind, name.removeprefix(front))
    return Way(service, target, name)


def _listed(snapshot: ConfigSnapshot, name: str) -> Target | None:
    """The model of this name that is listed as one of a kind that has sockets."""
    for kind in _kinds(snapshot):
        try:
            target = resolve(snapshot, name, kind).target
        except GatewayError:
            continue
        # A name that no list has resolves to a model of whatever kind is asked for.
        if target is not None and target.model in snapshot.models.get(target.provider.id, ()):
            return target
    return None


def _kinds(snapshot: ConfigSnapshot) -> Iterator[str]:
    """Of the sockets that are no vendor's alone."""
    kinds = {
        service.kind: None
        for spec in snapshot.registry.providers.values()
        for service in spec.sockets
        if not service.paths[0].startswith(NATIVE)
    }
    yield from kinds
