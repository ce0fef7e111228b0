"""Switching plugins off and on again."""

from pathlib import Path

import pytest
from drop_ins import folder_in, vendor

from gateway_core.plugins import PluginFolder, State, load
from gateway_core.plugins.files import FileDamaged
from gateway_core.plugins.switches import disabled, reservation, switch


def test_nothing_is_switched_off_to_begin_with(tmp_path: Path) -> None:
    assert disabled(PluginFolder.of(tmp_path)) == frozenset()


def test_a_switch_says_whether_it_changed_anything(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)

    changes = [switch(folder, "acme", on=on) for on in (True, False, False, True, True)]

    assert changes == [False, True, False, True, False]


def test_each_name_has_a_switch_of_its_own(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)

    for name in ("b", "a", "c"):
        switch(folder, name, on=False)
    switch(folder, "a", on=True)

    assert disabled(folder) == {"b", "c"}


def test_a_plugin_that_is_switched_off_is_not_even_imported(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme="raise AssertionError('run')")
    switch(folder, "acme", on=False)

    loaded = load(folder=folder, allowed=frozenset({"acme"}))

    [plugin] = [each for each in loaded.plugins if each.name == "acme"]
    assert plugin.state is State.DISABLED
    assert loaded.problems == ()


@pytest.mark.parametrize("content", ["{", "[]", '{"disabled": "acme"}', '{"disabled": [1]}'])
def test_switches_that_cannot_be_read_are_told_and_switch_nothing_off(
    tmp_path: Path, content: str
) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))
    (folder.path / "disabled.json").write_text(content)

    loaded = load(folder=folder, allowed=frozenset({"acme"}))

    assert "acme" in [name for name, _ in loaded.manager.list_name_plugin()]
    [problem] = loaded.problems
    assert "disabled.json cannot be read" in problem.message
    with pytest.raises(FileDamaged):
        switch(folder, "acme", on=False)


@pytest.mark.parametrize(
    ("allowed", "blocked", "written"),
    [
        ((), (), None),
        (("acme",), (), None),
        (("other",), (), "GATEWAY_LOAD_PLUGINS does not name acme, which keeps it out."),
        (("acme",), ("acme",), "GATEWAY_BLOCK_PLUGINS still keeps acme out."),
    ],
)
def test_what_else_keeps_a_plugin_out_is_said(
    allowed: tuple[str, ...], blocked: tuple[str, ...], written: str | None
) -> None:
    assert reservation("acme", on=True, allowed=allowed, blocked=blocked) == written
    assert reservation("acme", on=False, allowed=allowed, blocked=blocked) is None
