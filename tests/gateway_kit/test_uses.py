"""What a plugin takes from the gateway, read from its source alone."""

from pathlib import Path

import pytest
from gateway_kit.uses import Hook, Taken, UsedCall, UseLocation, Uses, uses_of

from gateway_core.plugins import Found, Origin


def refuse() -> object:
    raise AssertionError("the plugin is imported")


def read(tmp_path: Path, source: str) -> Uses:
    file = tmp_path / "acme.py"
    file.write_text(source, "utf-8")
    return uses_of(
        Found(name="acme", module="x", load=refuse, origin=Origin.FILE, path=file),
    )


def names(tmp_path: Path, source: str) -> list[tuple[str, str]]:
    return [(taken.name, taken.member) for taken in read(tmp_path, source).names]


@pytest.mark.parametrize(
    ("source", "reported"),
    [
        ("from gateway_core import Model", [("Model", "")]),
        ("from gateway_core import Model as M, Kind", [("Model", ""), ("Kind", "")]),
        ("from gateway_core import Kind\nKind.LLM", [("Kind", ""), ("Kind", "LLM")]),
        ("import gateway_core\ngateway_core.Model", [("Model", "")]),
        ("import gateway_core as g\ng.Model", [("Model", "")]),
        ("from gateway_core import *", [("*", "")]),
        ("from gateway_core.app import Gateway", [("gateway_core.app.Gateway", "")]),
        ("import gateway_core.app as a\na.Gateway", [("gateway_core.app", "Gateway")]),
        ("def f():\n    from gateway_core import Model", [("Model", "")]),
        ("from .gateway_core import Model", []),
        ("from gateway_cores import Model", []),
        ("import json\njson.Model", []),
    ],
)
def test_names_of_the_door_are_seen(
    tmp_path: Path, source: str, reported: list[tuple[str, str]]
) -> None:
    assert names(tmp_path, source) == reported


def test_a_name_is_told_with_its_place(tmp_path: Path) -> None:
    [taken] = read(tmp_path, "\n\nfrom gateway_core import Model\n").names

    assert taken == Taken("Model", UseLocation("acme.py", 3))
    assert str(taken.place) == "acme.py:3"


@pytest.mark.parametrize(
    ("call", "keywords", "is_whole"),
    [
        ("Model(id='x', tools=True)", ("id", "tools"), True),
        ("Model('x', tools=True)", ("tools",), False),
        ("Model(id='x', **more)", ("id",), False),
    ],
    ids=["keywords", "positional", "unpacked"],
)
def test_what_is_made_of_the_door_is_seen_with_its_arguments(
    tmp_path: Path, call: str, keywords: tuple[str, ...], is_whole: bool
) -> None:
    found = read(tmp_path, f"import gateway_core as g\nfrom gateway_core import Model\n{call}")

    assert found.calls == (UsedCall("Model", keywords, is_whole, UseLocation("acme.py", 3)),)


def test_hooks_are_seen_however_they_are_marked(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "import gateway_core\nfrom gateway_core import hookimpl as mark\n"
        "@mark\ndef register_formats(): ...\n"
        "@mark(tryfirst=True)\ndef lifespan(host, settings, *, other=1): ...\n"
        "@gateway_core.hookimpl(specname='register_routes')\ndef routes(host, here=2): ...\n"
        "class Plugin:\n    @mark\n    async def register_commands(self, cli): ...\n"
        "def register_providers(): ...\n",
    )

    assert {(hook.name, hook.arguments) for hook in found.hooks} == {
        ("register_formats", ()),
        ("lifespan", ("host", "settings")),
        ("register_routes", ("host",)),
        ("register_commands", ("cli",)),
    }
    assert Hook("register_formats", (), UseLocation("acme.py", 4)) in found.hooks


@pytest.mark.parametrize(
    ("source", "protocol"),
    [
        ("", 1),
        ("GATEWAY_PROTOCOL = 2", 2),
        ("GATEWAY_PROTOCOL: int = 2", 2),
        ("GATEWAY_PROTOCOL = 1\nGATEWAY_PROTOCOL = 2", 2),
        ("GATEWAY_PROTOCOL = 1 + 1", None),
        ("GATEWAY_PROTOCOL = True", None),
        ("from .about import GATEWAY_PROTOCOL", None),
        ("def f():\n    GATEWAY_PROTOCOL = 2", 1),
    ],
)
def test_the_protocol_is_read_where_it_is_plain(
    tmp_path: Path, source: str, protocol: int | None
) -> None:
    assert read(tmp_path, source).protocol == protocol


def test_a_package_is_read_whole_and_its_own_module_says_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_uses"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("GATEWAY_PROTOCOL = 7\n")
    (package / "entry.py").write_text("GATEWAY_PROTOCOL = 2\n")
    (package / "inner" / "deep.py").write_text("from gateway_core import Model\n")
    (package / "words.txt").write_text("from gateway_core import Kind\n")
    monkeypatch.syspath_prepend(tmp_path)

    found = uses_of(Found(name="acme", module="acme_uses.entry", load=refuse))

    assert found.protocol == 2
    assert found.names == (Taken("Model", UseLocation("acme_uses/inner/deep.py", 1)),)


@pytest.mark.parametrize("source", ["def broken(:", "a = '\0'", "# coding: nonsense\n"])
def test_what_is_no_python_is_told_and_hurts_nothing(tmp_path: Path, source: str) -> None:
    [(place, reason)] = read(tmp_path, source).unread

    assert place.file == "acme.py"
    assert "no Python that can be read" in reason
