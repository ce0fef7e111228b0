"""Every field is compared with its annotation, down to the rows inside."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from parametrize_ids import parametrize_id

from gateway_core import Auth, Kind, Model, Operation, ProviderSpec, Service
from gateway_core.contracts import exchange, interceptor, provider, wire
from gateway_core.plugins.struct_check import check_of, misfits


class Speaker:
    def open(self, call: object, target: object, credential: object) -> Any: ...


class Carrier:
    name = "carrier"

    async def send(self, request: object, credential: object, transport: object) -> Any: ...


class Nameless(Carrier):
    name = 5  # type: ignore[assignment] # wrong on purpose


def faults(**fields: Any) -> list[str]:
    return list(misfits(ProviderSpec(**{"id": "acme", "name": "Acme", **fields}), ProviderSpec))


def test_a_full_provider_fits() -> None:
    assert not faults(
        alias="a",
        aliases=("b",),
        auth=Auth(type="apikey", header="x-key"),
        executor=Carrier(),
        headers={"x": "y"},
        models=(Model("m", kind=Kind.EMBEDDING, context=3), Model("n", tools=False)),
        native=(Operation(method="GET", path="/x"),),
        options={"a": True, "b": "c"},
        pool={"size": 3},
        services=(Service(Kind.SPEECH, Speaker()),),
        timeout_ms=5,
        url_builder=lambda target, credential, path: path,
    )


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"name": None}, "name must be str"),
        ({"alias": 5}, "alias must be str | None"),
        ({"aliases": "ab"}, "aliases must be tuple[str, ...]"),
        ({"aliases": ["ab"]}, "aliases must be tuple[str, ...]"),
        ({"aliases": ("ab", b"c")}, "aliases[1] must be str"),
        ({"auth": {"header": "x"}}, "auth must be Auth"),
        ({"auth": Auth(header=5)}, "auth.header must be str | None"),  # type: ignore[arg-type]
        ({"executor": object()}, "executor must be Executor | None"),
        ({"executor": Carrier}, "executor must be Executor | None"),
        ({"executor": Nameless()}, "executor must be Executor | None"),
        ({"headers": [("x", "y")]}, "headers must be Mapping[str, str]"),
        ({"headers": {"x": 5}}, "headers must be Mapping[str, str]"),
        ({"models": ({"id": "m"},)}, "models[0] must be Model"),
        (
            {"models": (Model("m"), Model("n", kind=7))},  # type: ignore[arg-type]
            "models[1].kind must be str",
        ),
        ({"options": {"a": 5}}, "options must be Mapping[str, str | bool]"),
        ({"services": (Service(Kind.SPEECH, None),)}, "services[0].adapter must be Adapter"),  # type: ignore[arg-type]
        ({"timeout_ms": "5"}, "timeout_ms must be float | None"),
        ({"url_builder": "https://x"}, "url_builder must be a function | None"),
    ],
    ids=parametrize_id,
)
def test_the_innermost_place_that_is_wrong_is_named(fields: dict[str, Any], fault: str) -> None:
    assert faults(**fields) == [fault]


def test_every_wrong_field_is_named() -> None:
    assert faults(name=1, free="yes") == ["name must be str", "free must be bool"]


@pytest.mark.parametrize("annotation", [Any, int | Callable[[], int], Mapping[str, Any]])
def test_functions_numbers_and_mappings_are_told_apart(annotation: Any) -> None:
    values: list[object] = [5, len, {}]

    fitting = [value for value in values if check_of(annotation)(value)]

    assert fitting == {Any: values, int | Callable[[], int]: [5, len]}.get(annotation, [{}])


@pytest.mark.parametrize(
    ("annotation", "fitting"),
    [
        (str | None, ["a", None]),
        (float | None, [1, 2.5, None]),
        (Any | None, ["a", 1, 2.5, None, (), Model("m")]),
        (Model | tuple[str, ...] | None, [None, (), Model("m")]),
    ],
    ids=["class", "number", "anything", "struct"],
)
def test_a_union_is_fitted_by_what_fits_one_of_its_options(
    annotation: Any, fitting: list[object]
) -> None:
    values = ["a", 1, 2.5, None, (), Model("m")]

    assert [value for value in values if check_of(annotation)(value)] == fitting


def test_a_bare_object_fits_no_contract() -> None:
    for module in (exchange, interceptor, provider, wire):
        for kind in _classes(module):
            assert not check_of(kind)(object()), kind


def _classes(module: object) -> Iterator[type]:
    kinds = (value for value in vars(module).values() if isinstance(value, type))
    return (kind for kind in kinds if kind.__module__.startswith("gateway_core."))
