"""Types as schemas of the OpenAPI document, by msgspec's own description of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UnsetType, inspect

Node = dict[str, Any]
SCHEMA = "#/components/schemas/"


def describe(inputs: Iterable[Any], answers: Iterable[Any]) -> tuple[list[Node], dict[str, Node]]:
    """The schemas of types, in order and the answers last, and the components they refer to.

    A member of an answer is required where it is always sent, also where a request may leave a
    member of that name out.
    """
    inputs, answers = list(inputs), list(answers)
    # All types in one call, so that a struct used twice is one component.
    schemas, components = msgspec.json.schema_components(
        [*inputs, *answers],
        schema_hook=lambda kind: {"title": kind.__name__},
        ref_template=SCHEMA + "{name}",
    )
    sent, taken = set(_structs(answers)), set(_structs(inputs))
    for kind in sent - taken:
        name = kind.__name__ if kind.__name__ in components else _full_name(kind)
        components[name]["required"] = list(_always_sent(kind))
    names = _short_names(components)
    renamed: dict[str, Node] = {
        names[name]: {**_renamed(node, names), "title": names[name]}
        for name, node in components.items()
    }
    return [_renamed(schema, names) for schema in schemas], renamed


def _structs(kinds: Iterable[Any]) -> Iterator[type[msgspec.Struct]]:
    """Every struct in these types, however deep."""
    seen: set[type] = set()
    waiting: list[Any] = list(inspect.multi_type_info(kinds))
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect.StructType):
            if kind.cls not in seen:
                seen.add(kind.cls)
                waiting += [field.type for field in kind.fields]
                yield kind.cls
        else:
            waiting += [part for part in _parts(kind) if isinstance(part, inspect.Type)]


def _parts(kind: inspect.Type) -> Iterator[Any]:
    """The types that a type is made of."""
    for name in ("type", "item_type", "key_type", "value_type"):
        yield getattr(kind, name, None)
    for name in ("types", "item_types"):
        yield from getattr(kind, name, ())


def _always_sent(kind: type[msgspec.Struct]) -> Iterator[str]:
    """The members that no value of this struct leaves out."""
    can_omit = kind.__struct_config__.omit_defaults
    for field in msgspec.structs.fields(kind):
        is_unset = UnsetType in getattr(field.type, "__args__", ())
        if not is_unset and (field.required or not can_omit):
            yield field.encode_name


def _full_name(kind: type) -> str:
    """The name of one of several types that are called the same."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _short_names(components: Iterable[str]) -> Mapping[str, str]:
    """Names without module paths. Types that share a name get that of their folder in front."""
    names: dict[str, str] = {}
    for name in sorted(components):
        *modules, short = name.split(".")
        # The module's own name, such as "views", says less than its folder's.
        for folder in reversed(modules[:-1] or modules):
            short = "".join(word.title() for word in folder.split("_")) + short
            if short not in names.values() and short not in components:
                break
        names[name] = short
    return names


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A schema whose references have other names. Its arrays all have items: OpenAPI 3.0 demanded
    that, and generators of clients do."""
    if isinstance(node, list):
        return [_renamed(each, names) for each in node]
    if not isinstance(node, dict):
        return node
    result = {name: _renamed(value, names) for name, value in node.items()}
    if isinstance(reference := node.get("$ref"), str):
        result["$ref"] = SCHEMA + names[reference.removeprefix(SCHEMA)]
    if result.get("type") == "array" and not {"items", "prefixItems"} & result.keys():
        result["items"] = {}
    return result
