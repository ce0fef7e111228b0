"""Which of a vendor's models a native call names, and whether its caller may use it."""

from gateway_core import BadRequest, ProviderSpec, Target
from gateway_core.identity.keys import Key
from gateway_core.metering.prices import Prices
from gateway_core.routing.access_policy import must_be_priced, permit_model, priced
from gateway_core.routing.plan import Member, Plan
from gateway_core.routing.snapshot import ConfigSnapshot

UNKNOWN = "Unknown native provider model"
FOREIGN = "Model does not belong to native provider"


def resolve_native(
    snapshot: ConfigSnapshot, spec: ProviderSpec, name: str, kind: str | None
) -> Target:
    """The registered model of a name: with a name of its provider, as an alias or bare.

    ``kind`` is what it has to be for; ``None`` takes any. Raises BadRequest.
    """
    meaning = name if "/" in name else snapshot.aliases.get(name, name)
    prefix, slash, rest = meaning.partition("/")
    if slash and snapshot.registry.names.get(prefix) != spec.id:
        raise BadRequest(FOREIGN, param="model")
    id = rest if slash else meaning
    if snapshot.is_disabled(spec, id):
        raise BadRequest(f"Model {spec.shown}/{id} is disabled", code="model_disabled")
    folded = id.casefold()
    for model in snapshot.models.get(spec.id, ()):
        if model.id.casefold() == folded and kind in (None, model.kind):
            return Target(spec, model)
    raise BadRequest(UNKNOWN, param="model")


def permit_native(
    snapshot: ConfigSnapshot, prices: Prices, key: Key | None, target: Target, requested: str
) -> None:
    """Raises ModelForbidden, ModelUnpriced."""
    if key is None:
        return
    permit_model(key, target, requested)
    if must_be_priced(snapshot, key):
        priced(snapshot, prices, Plan(members=(Member(target, requested),)), requested)
