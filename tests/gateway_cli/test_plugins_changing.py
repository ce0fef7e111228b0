"""``plugins enable``, ``disable``, ``install`` and ``uninstall``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from drop_ins import files_of, folder_in, unpack, vendor

from gateway_cli.main import cli
from gateway_core.plugins import PluginFolder
from gateway_core.plugins.switches import disabled, switch


@pytest.fixture
def folder(tmp_path: Path) -> PluginFolder:
    return folder_in(tmp_path, acme=vendor("acme"))


def run(folder: PluginFolder, *words: str) -> Result:
    place = str(folder.path.parent)
    return CliRunner().invoke(cli, ["--data-dir", place, "plugins", *words])


def test_a_plugin_is_switched_off_and_on(folder: PluginFolder) -> None:
    off = run(folder, "disable", "acme")
    names = disabled(folder)
    on = run(folder, "enable", "acme")

    assert off.output == "acme is switched off from the next start.\n"
    assert names == {"acme"}
    assert on.output == "acme is switched on from the next start.\n"
    assert disabled(folder) == frozenset()


def test_a_switch_as_json_says_what_changed(
    folder: PluginFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_BLOCK_PLUGINS", "acme")

    reported = json.loads(run(folder, "enable", "acme", "--json").output)

    assert reported == {
        "name": "acme",
        "enabled": True,
        "changed": False,
        "note": "GATEWAY_BLOCK_PLUGINS still keeps acme out.",
    }


@pytest.mark.parametrize("word", ["enable", "disable", "uninstall", "info"])
def test_an_unknown_name_changes_nothing_and_names_the_nearest(
    folder: PluginFolder, word: str
) -> None:
    reported = run(folder, word, "acmee")

    assert reported.exit_code == 1
    assert "There is no plugin 'acmee'. Did you mean acme" in reported.output
    assert not folder.has("disabled.json")


def test_a_plugin_that_is_gone_can_still_be_switched_on(folder: PluginFolder) -> None:
    switch(folder, "gone", on=False)

    assert run(folder, "enable", "gone").exit_code == 0
    assert disabled(folder) == frozenset()


def test_a_damaged_file_of_switches_is_told(folder: PluginFolder) -> None:
    (folder.path / "disabled.json").write_text("{")

    reported = run(folder, "disable", "acme")

    assert reported.exit_code == 1
    assert "disabled.json cannot be read" in reported.output


def test_a_drop_in_is_deleted_only_when_told_so(folder: PluginFolder) -> None:
    file = folder.path / "acme.py"

    refused = run(folder, "uninstall", "acme")
    stands = file.exists()
    done = run(folder, "uninstall", "acme", "--yes")

    assert refused.exit_code == 1
    assert str(file) in refused.output
    assert stands
    assert done.exit_code == 0
    assert not file.exists()


def test_a_package_leaves_with_every_plugin_it_brings_and_their_switches(
    folder: PluginFolder,
) -> None:
    files = files_of("acme-two", "", plugin="one")
    files["acme_two-1.0.dist-info/entry_points.txt"] += "two = acme_two\n"
    unpack(folder.packages, files)
    for name in ("two", "acme"):
        switch(folder, name, on=False)

    reported = json.loads(run(folder, "uninstall", "one", "--json").output)

    assert reported == {"removed": ["one", "two"], "distribution": "acme-two"}
    assert not list(folder.packages.iterdir())
    assert disabled(folder) == {"acme"}


def test_the_dashboard_cannot_be_uninstalled(folder: PluginFolder) -> None:
    reported = run(folder, "uninstall", "dashboard")

    assert reported.exit_code == 1
    assert "plugins disable dashboard" in reported.output


def test_an_install_without_an_installer_says_what_to_do(
    folder: PluginFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway_cli.pip.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(folder.path))

    reported = run(folder, "install", "acme")

    assert reported.exit_code == 1
    assert "-m ensurepip, or install uv" in reported.output


def test_an_install_needs_to_be_told_what(folder: PluginFolder) -> None:
    assert run(folder, "install").exit_code == 2
