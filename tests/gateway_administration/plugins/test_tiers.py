"""A tier is about a plugin's files: the same files have it, and any other have none."""

import json
from pathlib import Path

import pytest

from gateway_administration.plugins.tiers import (
    FILE,
    Document,
    Result,
    Tier,
    current_digest,
    recorded,
    result_of,
    shipped,
    tier_of,
)
from gateway_core.plugins import PluginFolder, State
from gateway_core.plugins.loading import Plugin, load

TEXT = '''"""Acme."""
from gateway_core import hookimpl

@hookimpl
def register_providers():
    return []
'''


@pytest.fixture
def folder(tmp_path: Path) -> PluginFolder:
    folder = PluginFolder(tmp_path / "plugins")
    folder.make()
    (folder.path / "acme.py").write_text(TEXT)
    return folder


def plugin_of(folder: PluginFolder, name: str = "acme") -> Plugin:
    [plugin] = [each for each in load(folder=folder).plugins if each.name == name]
    assert plugin.state is State.LOADED
    return plugin


def keep(folder: PluginFolder, digest: str, tier: Tier = Tier.SILVER, name: str = "acme") -> None:
    result = Result(digest=digest, tier=tier, protocol=2, kit="1", cases=9, failed=1, seconds=1.0)
    folder.write_json(FILE, Document(plugins={name: result}))


def test_what_nobody_checked_is_unchecked(folder: PluginFolder) -> None:
    assert tier_of(plugin_of(folder), folder) is Tier.UNCHECKED


def test_files_that_were_checked_have_their_tier(folder: PluginFolder) -> None:
    plugin = plugin_of(folder)
    keep(folder, current_digest(plugin))

    assert tier_of(plugin, folder) is Tier.SILVER


def test_a_changed_file_has_no_tier_any_more(folder: PluginFolder) -> None:
    plugin = plugin_of(folder)
    keep(folder, current_digest(plugin))

    (folder.path / "acme.py").write_text(TEXT + "\n")

    assert tier_of(plugin, folder) is Tier.UNCHECKED


def test_a_plugin_cannot_take_a_bundled_ones_tier_by_its_name(tmp_path: Path) -> None:
    folder = PluginFolder(tmp_path / "plugins")
    folder.make()
    (folder.path / "groq.py").write_text(TEXT)
    plugin = Plugin(
        name="groq",
        module="plugin-file-groq",
        state=State.LOADED,
        path=str(folder.path / "groq.py"),
    )

    assert shipped()["groq"].tier is Tier.GOLD
    assert tier_of(plugin, folder) is Tier.UNCHECKED


def test_a_bundled_plugin_has_its_tier_from_the_start(tmp_path: Path) -> None:
    folder = PluginFolder(tmp_path / "plugins")

    assert tier_of(plugin_of(folder, "groq"), folder) is Tier.GOLD


def test_this_installations_own_word_about_the_same_files_counts_first(tmp_path: Path) -> None:
    folder = PluginFolder(tmp_path / "plugins")
    plugin = plugin_of(folder, "groq")
    keep(folder, current_digest(plugin), Tier.FAILING, "groq")

    result = result_of(plugin, folder)

    assert result is not None
    assert result.tier is Tier.FAILING


@pytest.mark.parametrize("text", ["", "[]", '{"plugins":7}', '{"plugins":{"acme":{"tier":"x"}}}'])
def test_a_damaged_file_of_results_says_nothing(folder: PluginFolder, text: str) -> None:
    (folder.path / FILE).write_text(text)

    assert recorded(folder) == {}
    assert tier_of(plugin_of(folder), folder) is Tier.UNCHECKED


def test_a_plugin_without_files_has_no_tier(folder: PluginFolder) -> None:
    plugin = Plugin(name="acme", module="no_such_module_at_all", state=State.FAILED)
    keep(folder, "")

    assert current_digest(plugin) == ""
    assert tier_of(plugin, folder) is Tier.UNCHECKED


def test_results_are_plain_json_that_others_can_read(folder: PluginFolder) -> None:
    keep(folder, "d")

    reported = json.loads((folder.path / FILE).read_text())["plugins"]["acme"]
    assert (reported["tier"], reported["checkedAt"], reported["live"]) == ("silver", "", False)
