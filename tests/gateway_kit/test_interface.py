"""The plugin author's door: pinned as it is, and keeping what it promised."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from gateway_kit.interface import (
    Book,
    Interface,
    Release,
    UnknownVersion,
    book,
    broken,
    gateway_of,
    interface_of,
)
from msgspec.structs import replace
from two_protocols import book_of_two

from gateway_core.plugins.protocol import ARGUMENTS, CURRENT, SUPPORTED

ROOT = Path(__file__).parents[2]
SHAPE = {"": "struct", "id": "str", "free": "bool = False"}


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("protocol_tool", ROOT / "tools" / "protocol.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def door() -> Interface:
    found = tool().current_interface()
    assert isinstance(found, Interface)
    return found


def interface(**shape: str) -> Interface:
    return Interface(names={"Spec": {**SHAPE, **shape}}, hooks={"register": {"": "-> None"}})


def changed(**shape: str) -> list[str]:
    return list(broken(interface(), interface(**shape)))


def test_the_door_is_the_one_that_is_written_down(door: Interface) -> None:
    written = interface_of(CURRENT)

    assert written == door, "run: python tools/protocol.py"
    assert book().protocols[str(CURRENT)] == door.digest


def test_this_release_is_written_down_with_what_it_speaks(door: Interface) -> None:
    release = book().releases[tool().version()]

    assert release.speaks == SUPPORTED
    assert release.interface == door.digest


@pytest.mark.parametrize("protocol", SUPPORTED)
def test_nothing_is_missing_that_a_supported_protocol_promised(
    door: Interface, protocol: int
) -> None:
    promised = interface_of(protocol)

    assert promised is not None
    assert list(broken(promised, door)) == []


def test_every_interface_has_the_digest_it_is_kept_under() -> None:
    assert {digest: each.digest for digest, each in book().interfaces.items()} == {
        digest: digest for digest in book().interfaces
    }


def test_arguments_that_differ_are_in_the_hooks_of_their_versions_only() -> None:
    for argument, versions in ARGUMENTS.items():
        for protocol in SUPPORTED:
            offered = interface_of(protocol)
            assert offered is not None
            taken = {name for shape in offered.hooks.values() for name in shape}
            # The newest door still hands over what an older protocol promised.
            assert (argument in taken) is (min(versions) <= protocol)


def test_what_a_second_protocol_brings_is_no_promise_of_the_first(door: Interface) -> None:
    book = book_of_two(door)
    first, second = (book.interfaces[book.protocols[each]] for each in ("1", "2"))

    assert list(broken(first, second)) == []
    assert {
        "ProviderSpec.hosts is gone",
        "hook lifespan.settings is gone",
        "hook register_routes.settings is gone",
        "hook register_settings is gone",
    } <= set(broken(second, first))


def test_the_digest_depends_on_no_order_and_on_every_word() -> None:
    one = interface()
    turned = Interface(names={"Spec": dict(reversed(SHAPE.items()))}, hooks=one.hooks)

    assert one.digest == turned.digest
    assert one.digest != interface(free="bool = True").digest


def test_the_digest_does_not_depend_on_docstrings(door: Interface) -> None:
    assert not any("Raises" in text for shape in door.names.values() for text in shape.values())


@pytest.mark.parametrize(
    ("shape", "reported"),
    [
        ({"free": "bool = True"}, []),
        ({"id": "str = ''"}, []),
        ({"more": "int = 0"}, []),
        ({"id": "int"}, ["Spec.id is int, and was str"]),
        ({"free": "bool"}, ["Spec.free is bool, and was bool = False"]),
        ({"more": "int"}, ["Spec.more is new, and must be there"]),
        ({"": "enum"}, ["Spec is enum, and was struct"]),
    ],
    ids=[
        *("other default", "new default", "new optional"),
        *("other type", "lost default", "new required", "other kind"),
    ],
)
def test_what_breaks_a_plugin_is_told_and_nothing_else(
    shape: dict[str, str], reported: list[str]
) -> None:
    assert changed(**shape) == reported


def test_what_is_gone_is_told() -> None:
    before = interface()
    names = {"Spec": {"": "struct", "id": "str"}}

    assert list(broken(before, replace(before, names=names))) == ["Spec.free is gone"]
    assert list(broken(before, replace(before, names={}))) == ["Spec is gone"]
    assert list(broken(before, replace(before, hooks={}))) == ["hook register is gone"]


def test_the_tool_refuses_to_break_an_older_protocol_or_an_earlier_release(
    door: Interface,
) -> None:
    writer = tool()
    writer.SUPPORTED, writer.CURRENT = (1, 2), 2
    less = replace(door, names={name: s for name, s in door.names.items() if name != "Model"})
    released = Release(speaks=(1, 2), interface=door.digest)
    known = replace(book_of_two(door), releases={"0.0.9": released})

    assert writer.faults(known, door) == []
    assert writer.faults(known, less) == [
        "Model is gone (promised by hook protocol 1)",
        "Model is gone (promised by release 0.0.9)",
    ]


def test_the_tool_keeps_earlier_releases_and_forgets_what_nobody_refers_to(
    door: Interface,
) -> None:
    stale = interface()
    release = Release(speaks=(1,), interface=book().protocols["1"])
    known = Book(
        protocols=book().protocols,
        releases={"0.0.1": release},
        interfaces={**book().interfaces, stale.digest: stale},
    )

    written: Book = tool().rewritten(known, door)

    assert set(written.releases) == {"0.0.1", tool().version()}
    assert written.interfaces.keys() == {*book().protocols.values()}


SOURCE = '''
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Optional, Protocol, Union

from msgspec import Meta, Struct


class Item(Struct, frozen=True):
    """Words."""

    id: str
    either: Union[int, None] = None
    maybe: Optional[str] = "x"
    word: Literal["a", "b"] = "a"
    number: Annotated[int, Meta(ge=1)] = 1
    table: Mapping[str, tuple[int, ...]] = {}
    call: Callable[[int], Any] = len

    def size(self, *, of: "Item | None" = None) -> int:
        """More words."""
        return 0


class Speaker(Protocol):
    name: str

    @property
    def loud(self) -> bool: ...
    async def say(self, word: str, *rest: str, **more: int) -> None: ...
'''


def test_types_are_told_in_words_that_no_version_of_python_changes() -> None:
    module = ModuleType("gateway_core_sample")
    exec(SOURCE, module.__dict__)  # noqa: S102

    assert tool().shape(module.Item) == {
        "": "struct",
        "call": "Callable[[int], Any] = ...",
        "either": "int | None = None",
        "id": "str",
        "maybe": "str | None = 'x'",
        "number": "int = 1",
        "size": "(self, *, of: Item | None = None) -> int",
        "table": "Mapping[str, tuple[int, ...]] = {}",
        "word": "Literal['a', 'b'] = 'a'",
    }
    assert tool().shape(module.Speaker) == {
        "": "protocol",
        "loud": "property -> bool",
        "name": "str",
        "say": "async (self, word: str, *rest: str, **more: int) -> None",
    }


def test_a_gateway_is_known_by_its_protocol_and_by_its_own_version() -> None:
    assert gateway_of("1").speaks == (1,)
    assert gateway_of(str(CURRENT)).speaks == SUPPORTED
    assert gateway_of(tool().version()).interface == interface_of(CURRENT)


def test_an_unknown_version_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UnknownVersion, match=r"version '9\.9'; known are 1 and 0\.1\.0"):
        gateway_of("9.9")


def test_the_book_is_written_for_people_to_compare() -> None:
    text = (ROOT / "plugins/extensions/kit/gateway_kit" / "protocols.json").read_text("utf-8")

    assert text.endswith("}\n")
    assert len(text.splitlines()) > 600
    assert list(json.loads(text)["releases"]) == sorted(book().releases)
