"""The members that a call of a service may be sent to: the model it names, a combo's, or those of
its media route (4.4, C.5)."""

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from ..contracts.errors import BadRequest, Forbidden, GatewayError, NoProviderForKind
from ..contracts.kinds import read_kind
from ..contracts.model import Model
from ..contracts.provider import ProviderSpec, Target
from ..contracts.wire import Endpoint
from .model_resolver import Resolved, resolve
from .plan import Member, Plan, plan_resolved
from .snapshot import Account, ConfigSnapshot

AUTO = "auto"
"""The model's name that asks for the media route, as none does."""


def is_routed(endpoint: Endpoint, model: str) -> bool:
    """Whether a call takes the media route because it names no model."""
    return endpoint.route is not None and model in ("", AUTO)


def build_service_plan(
    snapshot: ConfigSnapshot, endpoint: Endpoint, name: str, default_timeout_ms: int
) -> Plan:
    """What to try, cached for the life of a snapshot. Raises as its parts do."""
    key = ("service", endpoint.path, name, default_timeout_ms)
    plan: Plan | None = snapshot.memory.get(key)
    if plan is None:
        if endpoint.chosen_by == "provider":
            plan = provider_plan(snapshot, endpoint, name)
        elif is_routed(endpoint, name):
            plan = Plan(members=media_members(snapshot, endpoint), is_route=True)
        else:
            plan = named_plan(snapshot, endpoint, name, default_timeout_ms)
        members = [
            replace(
                m,
                cooldown=endpoint.cooldown.replace("{provider}", m.target.provider.id),
                timeout=time_of(endpoint, m.target.provider),
            )
            for m in plan.members
        ]
        times = [m.timeout for m in members if m.timeout is not None]
        plan = replace(
            plan,
            members=tuple(members),
            timeout=endpoint.timeout or plan.timeout or max(times, default=None),
            is_final=endpoint.fallback == "never",
        )
        snapshot.remember(key, plan)
    return plan


def time_of(endpoint: Endpoint, spec: ProviderSpec) -> float | None:
    """A service's own seconds for a call; ``None`` where the endpoint's count."""
    service = spec.service(endpoint.kind, endpoint.action)
    return None if service is None or endpoint.is_timeout_general else service.timeout


def plan_for_account(
    snapshot: ConfigSnapshot, endpoint: Endpoint, account: str | None, scope: Collection[str]
) -> Plan:
    """The provider of an account, or the only connected one that has the service. ``scope`` holds
    the accounts of the caller's key; empty allows all.

    Raises BadRequest, NoProviderForKind.
    """
    serving = [each for each in snapshot.accounts if _serves(snapshot, endpoint, each)]
    if account is not None:
        if scope and account not in scope:
            raise BadRequest("Requested connection is not available for this API key")
        serving = [
            each for each in serving if any(a.id == account for a in snapshot.accounts[each])
        ]
        if not serving:
            raise BadRequest(f"There is no active connection {account[:64]} for {title(endpoint)}")
    if not serving:
        raise no_provider(endpoint)
    if len(serving) > 1:
        raise BadRequest("Name the connection that was used in the header x-connection-id")
    spec = snapshot.registry.providers[serving[0]]
    target = Target(spec, Model(endpoint.kind, kind=endpoint.kind))
    member = Member(target, spec.id, pinned=account)
    return Plan(members=(member,), timeout=endpoint.timeout, is_final=True)


def provider_plan(snapshot: ConfigSnapshot, endpoint: Endpoint, name: str) -> Plan:
    """A provider that is named itself. Raises BadRequest, with those that may be."""
    provider = snapshot.registry.names.get(name, "")
    if not _serves(snapshot, endpoint, provider):
        providers = snapshot.registry.providers
        possible = sorted(each for each in providers if _serves(snapshot, endpoint, each))
        raise BadRequest(
            f"Provider '{name[:64]}' has no {title(endpoint)}; possible are: "
            f"{', '.join(possible) or 'none'}",
            param="provider",
        )
    spec = snapshot.registry.providers[provider]
    target = Target(spec, Model(endpoint.kind, kind=endpoint.kind))
    return Plan(members=(Member(target, provider),))


def media_models(snapshot: ConfigSnapshot, kind: str) -> Iterator[Target]:
    """The models of a kind at connected providers, in the catalog's order."""
    for provider in snapshot.accounts:
        spec = snapshot.registry.providers.get(provider)
        if spec is not None:
            for row in snapshot.models.get(provider, ()):
                if row.kind == kind:
                    yield Target(spec, row)


def server_address(spec: ProviderSpec, accounts: Iterable[Account]) -> str | None:
    """Where the program of a provider without keys listens; ``None`` for any other provider."""
    own = [each.credential for each in accounts]
    if any(each.secret for each in own) or spec.auth.type not in ("none", "optional"):
        return None
    named = next((each.data["baseUrl"] for each in own if each.data.get("baseUrl")), None)
    address = named if isinstance(named, str) else spec.base_url
    # Public services are reached over https; a program nearby hardly ever is.
    return address if address is not None and address.startswith("http://") else None


def title(endpoint: Endpoint) -> str:
    """The endpoint's work in words."""
    return endpoint.title or endpoint.kind


def no_provider(endpoint: Endpoint) -> NoProviderForKind:
    return NoProviderForKind(
        f"No connected provider serves {title(endpoint)}. Connect one, or name a model."
    )


def named_plan(
    snapshot: ConfigSnapshot, endpoint: Endpoint, name: str, default_timeout_ms: int
) -> Plan:
    """The plan of a model or a combo. Raises BadRequest where nobody in it has the service."""
    if name.partition("/")[0] not in snapshot.registry.names and "/" in name:
        raise BadRequest("Invalid model format", param="model")
    resolved = resolve(snapshot, name, endpoint.kind)
    if resolved.target is not None:
        spec = resolved.target.provider
        if spec.service(endpoint.kind, endpoint.action) is None:
            raise _unsupported(endpoint, spec.shown)
        if endpoint.forbids_disabled and is_switched_off(snapshot, spec):
            raise Forbidden(f"Provider '{spec.shown}' is disabled", code="provider_disabled")
        return plan_resolved(snapshot, resolved, endpoint.kind, default_timeout_ms)
    return combo_plan(snapshot, endpoint, resolved, default_timeout_ms)


def is_switched_off(snapshot: ConfigSnapshot, spec: ProviderSpec) -> bool:
    """Whether a provider that needs no account is switched off, and has none."""
    is_disabled = spec.id in snapshot.settings.disabled_free_providers
    return is_disabled and not snapshot.connected(spec.id)


def combo_plan(
    snapshot: ConfigSnapshot, endpoint: Endpoint, resolved: Resolved, default_timeout_ms: int
) -> Plan:
    combo = resolved.combo
    assert combo is not None
    if endpoint.no_combos:
        raise BadRequest(endpoint.no_combos, param="model")
    if read_kind(combo.kind) != endpoint.kind:
        raise BadRequest(
            f'Combo "{combo.name}" is not a combo for {title(endpoint)}',
            code="model_not_supported",
            param="model",
        )
    plan = plan_resolved(snapshot, resolved, endpoint.kind, default_timeout_ms)
    members = tuple(_with_service(endpoint, plan.members))
    if not members:
        raise _unsupported(endpoint, plan.members[0].target.provider.shown)
    # A panel of answers cannot be merged, and nothing is known of how hard a request is.
    strategy = "fallback" if plan.strategy in ("fusion", "smart") else plan.strategy
    return replace(plan, members=members, strategy=strategy)


def media_members(snapshot: ConfigSnapshot, endpoint: Endpoint) -> tuple[Member, ...]:
    """The saved route's models that are available, or every connected one of the kind.

    Raises NoProviderForKind.
    """
    saved = [
        name
        for route, names in snapshot.settings.media_routes.items()
        if route == endpoint.route
        for name in names
    ]
    if saved:
        available: Iterable[Member] = available_members(snapshot, endpoint, saved)
    else:
        available = (
            Member(target, f"{target.provider.id}/{target.model.id}")
            for target in media_models(snapshot, endpoint.kind)
        )
    members = tuple(_with_service(endpoint, available))
    if not members:
        raise no_provider(endpoint)
    return members


def available_members(
    snapshot: ConfigSnapshot, endpoint: Endpoint, names: Iterable[str]
) -> Iterator[Member]:
    """The models of a saved route that can be called now."""
    for name in names:
        try:
            target = resolve(snapshot, name, endpoint.kind).target
        except GatewayError:
            continue
        if target is not None and snapshot.connected(target.provider.id):
            yield Member(target, name)


def _with_service(endpoint: Endpoint, members: Iterable[Member]) -> Iterator[Member]:
    for member in members:
        if member.target.provider.service(endpoint.kind, endpoint.action) is not None:
            yield member


def _serves(snapshot: ConfigSnapshot, endpoint: Endpoint, provider: str) -> bool:
    spec = snapshot.registry.providers.get(provider)
    return spec is not None and spec.service(endpoint.kind, endpoint.action) is not None


def _unsupported(endpoint: Endpoint, provider: str) -> GatewayError:
    return BadRequest(f"Provider '{provider}' does not support {title(endpoint)}.", param="model")
