"""Every model that a native call names, in its query and its body, checked and put into the words
of its vendor."""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Raw, Struct

from gateway_core import BadRequest, Operation, Target
from gateway_core.routing.snapshot import ConfigSnapshot
from gateway_formats.json_text import Edit, JsonText
from gateway_formats.model_fields import find_models

from .model_identity import UNKNOWN, resolve_native
from .native_request import NativeRequest

MISSING = "Missing gateway model identity"
MIXED = "Mixed model identities"
CONTROLS = frozenset({"background", "stream", "stream_options"})
"""Members at the top of a body that decide what a call may cost."""
_encode = msgspec.json.Encoder().encode
_anything = msgspec.json.Decoder().decode


class NamedModel(Struct, frozen=True):
    """A model that a call names."""

    requested: str
    target: Target


class NamedModels(Struct):
    """All of them."""

    primary: list[NamedModel]
    """Those that do the work; they are the same."""
    nested: list[NamedModel]
    edits: list[Edit]
    """What puts the vendor's names into the body."""
    is_in_body: bool = False
    """The body names the model that does the work."""

    @property
    def all(self) -> list[NamedModel]:
        return [*self.primary, *self.nested]

    def identity(self) -> NamedModel:
        """The model that the call is for. Raises BadRequest."""
        if len({id(each.target.model) for each in self.primary}) > 1:
            raise BadRequest(MIXED, param="model")
        if not self.all:
            raise BadRequest(MISSING, param="model")
        return self.all[0]


def read_models(
    snapshot: ConfigSnapshot,
    request: NativeRequest,
    text: JsonText | None,
    fields: Mapping[str, Raw],
) -> NamedModels:
    """Look them up; ``fields`` are those of a form. Raises BadRequest."""
    spec, operation = request.provider, request.operation

    def named(name: object, kind: str | None) -> NamedModel:
        if not isinstance(name, str) or not name:
            raise BadRequest(UNKNOWN, param="model")
        return NamedModel(name, resolve_native(snapshot, spec, name, kind))

    found = NamedModels([named(name, operation.kind) for name in request.values("model")], [], [])
    if text is not None:
        _read_body(text, operation, found, named)
        return found
    for field, value in fields.items():
        if field.lower() == "model":
            found.primary.append(named(_anything(value), operation.kind))
    return found


def _read_body(
    text: JsonText,
    operation: Operation,
    found: NamedModels,
    named: Callable[[object, str | None], NamedModel],
) -> None:
    for field in find_models(text, (*operation.places, *operation.nested), CONTROLS):
        is_primary = field.place in operation.places
        model = named(text.read(field.span), operation.kind if is_primary else None)
        (found.primary if is_primary else found.nested).append(model)
        found.is_in_body = found.is_in_body or is_primary
        if model.target.model.id != model.requested:
            content = _encode(model.target.model.id)
            found.edits.append(Edit(field.span.begin, field.span.end, content))
