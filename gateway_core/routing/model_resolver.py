"""Resolves the model name of a request to a target, or to a combo of targets.

The order of resolution::

    auto/<family>                      a virtual combo
    <prefix>/<model>                   a provider by id or alias, or an operator's node by prefix
    <name>                             a combo, then a saved alias, then a provider by the name's
                                       beginning, then the one connected provider that lists it

A name is brought into one spelling before anything compares it. The id of the target is what
key policies, switches, limits and prices see, and what is sent to the vendor.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from ..contracts.errors import (
    BadRequest,
    EmptyCombo,
    NoCredentials,
    NotAChatModel,
    NotOfKind,
)
from ..contracts.kinds import Kind
from ..contracts.model import Model
from ..contracts.provider import ProviderSpec, Target
from ..plugins.registry import RUNTIME
from ..storage.stores.combos import Combo
from .snapshot import ConfigSnapshot, plain_id

MAX_NAME = 512
FAMILIES = ("glm", "minimax", "mimo", "zai", "gemma", "llama", "gemini")
"""The virtual families that the catalog lists; any other may be requested too."""
_PROVIDER_FAMILIES = frozenset({"zai"})
"""Families that are named for their provider, not by their models' ids."""
_FAMILY = re.compile(r"auto/([a-z0-9]+)")
_DECORATION = "claude-"
_LARGE_MARK = "[1m]"
_ambiguous = re.compile(r"(?:^|/)(?:\.{0,2}(?:/|$)| )| (?:/|$)|[\\?#%;]").search
"""Empty and dotted segments, spaces around a segment, and characters that end or escape a part of
a URL's path: servers remove, decode or merge them, each in its own way."""


class Resolved(Struct, frozen=True):
    """What a name means: either a target or a combo."""

    target: Target | None = None
    combo: Combo | None = None
    name: str = ""
    """The name without surrounding spaces and the marks of a list."""


def resolve(
    snapshot: ConfigSnapshot, name: str, kind: str = Kind.LLM, *, decorated: bool = False
) -> Resolved:
    """Resolve a model name.

    ``decorated`` also tries the name without the marks that the messages-style
    list adds. Raises BadRequest, NotAChatModel, NoCredentials, EmptyCombo.
    """
    name = name.strip()
    if not name:
        raise BadRequest("Missing model", param="model")
    if len(name) > MAX_NAME or not name.isprintable():
        raise _invalid()
    if decorated:
        spellings = undecorated(name)
        name = next((each for each in spellings if _is_known(snapshot, each)), spellings[1])
    family = _FAMILY.fullmatch(name)
    if family:
        return Resolved(combo=family_combo(snapshot, name, family[1]), name=name)
    if "/" in name:
        return Resolved(target=_prefixed(snapshot, name, kind), name=name)
    # An alias means a combo or a model, never another alias.
    meaning = name if name in snapshot.combos else snapshot.aliases.get(name, name)
    if meaning in snapshot.combos:
        return Resolved(combo=snapshot.combos[meaning], name=name)
    if "/" in meaning:
        return Resolved(target=_prefixed(snapshot, meaning, kind), name=name)
    if kind != Kind.LLM:
        return Resolved(target=_service_target(snapshot, meaning, kind), name=name)
    return Resolved(target=_target(snapshot, _owner(snapshot, meaning), meaning, kind), name=name)


def undecorated(name: str) -> tuple[str, str, str]:
    """A name as it came, without the mark of a large context, and without any mark.

    A model may really be called as it came, so they are tried in this order.
    """
    plain = name.removesuffix(_LARGE_MARK)
    return name, plain, plain.removeprefix(_DECORATION)


def _invalid() -> BadRequest:
    return BadRequest("Invalid model format", param="model")


def _is_known(snapshot: ConfigSnapshot, name: str) -> bool:
    """Whether a name is listed somewhere, so that it may be taken as it stands."""
    prefix, slash, rest = name.partition("/")
    if slash and rest.endswith(_LARGE_MARK):
        rows = snapshot.models.get(snapshot.registry.names.get(prefix, ""), ())
        return any(row.id == rest for row in rows)
    if slash:
        return _FAMILY.fullmatch(name) is not None or prefix in snapshot.registry.names
    if name in snapshot.combos or name in snapshot.aliases:
        return True
    return any(row.id == name for rows in snapshot.models.values() for row in rows)


def _prefixed(snapshot: ConfigSnapshot, name: str, kind: str) -> Target:
    prefix, _, rest = name.partition("/")
    provider = snapshot.registry.names.get(prefix)
    if provider is None or not rest:
        raise NoCredentials(prefix)
    spec = snapshot.registry.providers[provider]
    is_node = snapshot.registry.provider_plugins.get(provider) == RUNTIME
    if is_node and spec.alias is not None and not _row(snapshot, spec, rest, kind):
        rest = rest.removeprefix(f"{spec.alias}/") or rest
    return _target(snapshot, provider, rest, kind)


def _service_target(snapshot: ConfigSnapshot, name: str, kind: str) -> Target:
    """What a bare name means for another kind than chat: a provider, for its first model of the
    kind, or else the model of that id. Raises BadRequest."""
    provider = snapshot.registry.names.get(name)
    if provider is not None:
        rows = (row for row in snapshot.models.get(provider, ()) if row.kind == kind)
        row = next(rows, None)
        return _target(snapshot, provider, kind if row is None else row.id, kind)
    owners = [
        provider
        for provider in snapshot.accounts
        if any(row.id == name and row.kind == kind for row in snapshot.models.get(provider, ()))
    ]
    if len(owners) != 1:
        claimant = snapshot.registry.providers[_owner(snapshot, name)]
        # The vendor that claims every other name need not do this kind of work.
        if all(each.kind != kind or each.is_assumed for each in claimant.services):
            count = "Several connected providers have" if owners else "No connected provider has"
            raise BadRequest(f"{count} {name}: name it as provider/model", param="model")
        owners = [claimant.id]
    return _target(snapshot, owners[0], name, kind)


def _owner(snapshot: ConfigSnapshot, name: str) -> str:
    """The provider a bare id belongs to. Raises BadRequest when there is none."""
    claims = [
        (len(beginning), spec.id)
        for spec in snapshot.registry.providers.values()
        for beginning in spec.beginnings
        if name.startswith(beginning)
    ]
    length, claimant = max(claims, default=(0, ""))
    if not length:
        owners = [
            p for p in snapshot.accounts if any(r.id == name for r in snapshot.models.get(p, ()))
        ]
        claimant = owners[0] if len(owners) == 1 else claimant
    if not claimant:
        raise _invalid()
    return claimant


def _target(snapshot: ConfigSnapshot, provider: str, name: str, kind: str) -> Target:
    spec = snapshot.registry.providers.get(provider)
    if spec is None:
        raise NoCredentials(provider)
    formats = snapshot.registry.formats
    name = plain_id(formats.get(spec.format), name)
    row = _row(snapshot, spec, name, kind)
    shown = name if row is None else row.id
    if snapshot.is_disabled(spec, shown):
        raise BadRequest(
            f"Model {spec.shown}/{shown} is disabled", code="model_disabled", param="model"
        )
    model = row
    if model is None:
        other = next((row for row in snapshot.models.get(provider, ()) if row.id == name), None)
        if kind == Kind.LLM and (other is not None or not serves_chat(snapshot, spec)):
            raise NotAChatModel(f"{spec.shown}/{name}")
        if other is not None:
            raise NotOfKind(f"{spec.shown}/{name}", kind)
        model = Model(name, kind=kind, context=spec.default_context)
    wire = formats.get(model.format or spec.format)
    # A local server may list its models by the paths of their files. Such an id is taken as it
    # stands, unless it would become a part of the URL's path.
    is_exact = row is not None and wire is not None and wire.model_in_body
    if not is_exact and _ambiguous(model.id):
        raise _invalid()
    return Target(spec, model)


def _row(snapshot: ConfigSnapshot, spec: ProviderSpec, name: str, kind: str) -> Model | None:
    """The row of an id: as it is written, else in another case, which many vendors ignore."""
    rows = [row for row in snapshot.models.get(spec.id, ()) if row.kind == kind]
    exact = next((row for row in rows if row.id == name), None)
    if exact is not None:
        return exact
    folded = name.casefold()
    return next((row for row in rows if row.id.casefold() == folded), None)


def serves_chat(snapshot: ConfigSnapshot, spec: ProviderSpec) -> bool:
    """Whether a provider has chat models; one that lists no models at all is taken to."""
    rows = snapshot.models.get(spec.id) or spec.models
    if spec.passthrough_models or not rows:
        return True
    return any(row.kind == Kind.LLM for row in rows)


def family_combo(snapshot: ConfigSnapshot, name: str, family: str) -> Combo:
    """A virtual combo of every connected model of a family. Raises EmptyCombo."""
    members = tuple(dict.fromkeys(family_members(snapshot, family)))
    if not members:
        raise EmptyCombo(name)
    return Combo(id=name, name=name, models=members, created_at="", updated_at="")


def family_members(snapshot: ConfigSnapshot, family: str) -> Iterator[str]:
    """Every connected model of a family, with its provider's id."""
    for provider in snapshot.accounts:
        spec = snapshot.registry.providers.get(provider)
        if spec is None:
            continue
        for row in snapshot.models.get(provider, ()):
            if row.kind == Kind.LLM and belongs(spec, row, family):
                yield f"{provider}/{row.id}"


def belongs(spec: ProviderSpec, row: Model, family: str) -> bool:
    """Whether a row is of a family: by its own id, or as the family named for its provider."""
    if family in _PROVIDER_FAMILIES:
        return family in (spec.id, spec.alias)
    return row.id.rpartition("/")[2].lower().startswith(f"{family}-")
