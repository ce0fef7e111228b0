"""With the lock on, what differs is refused at start with a reason, and the rest serves."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from drop_ins import files_of, folder_in, unpack, vendor
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.plugins import Loaded, Plugin, PluginFolder, State, load
from gateway_core.plugins.drift import watch
from gateway_core.plugins.lock import FILE, taken
from gateway_core.plugins.registry import build
from gateway_core.plugins.sources import find
from gateway_core.plugins.startup_files import changes

HOUSE = frozenset({"format-openai", "groq"})
OURS = HOUSE | {"acme", "sound", "packed", "late"}


@pytest.fixture(autouse=True)
def _same_path() -> Iterator[None]:
    """Leaves imports as they were."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path) -> PluginFolder:
    """Two files and a package, and a lock on all there is."""
    folder = folder_in(tmp_path, acme=vendor("acme"), sound=vendor("sound"))
    unpack(folder.packages, files_of("packed-pack", vendor("packed"), plugin="packed"))
    lock(folder)
    return folder


def lock(folder: PluginFolder) -> None:
    folder.write_json(FILE, taken(find(lambda *reported: None, folder=folder), folder))


def start(folder: PluginFolder, **extra: object) -> Loaded:
    return load(folder=folder, allowed=OURS | set(extra), extra=extra)


def states(loaded: Loaded) -> dict[str, State]:
    return {each.name: each.state for each in loaded.plugins if each.name in OURS}


def record(loaded: Loaded, name: str) -> Plugin:
    return next(plugin for plugin in loaded.plugins if plugin.name == name)


def reported(loaded: Loaded, name: str) -> list[str]:
    return [each.message for each in loaded.problems if each.plugin == name]


def document(folder: PluginFolder) -> Any:
    return json.loads((folder.path / FILE).read_text())


def rewrite(folder: PluginFolder, name: str, **members: Any) -> None:
    """Change what the lock has of a plugin."""
    content = document(folder)
    next(each for each in content["plugins"] if each["name"] == name).update(members)
    (folder.path / FILE).write_text(json.dumps(content))


def test_nothing_is_refused_while_nothing_differs(folder: PluginFolder) -> None:
    loaded = start(folder)

    assert set(states(loaded).values()) == {State.LOADED}
    assert set(states(loaded)) == OURS - {"late"}
    assert [each for each in loaded.problems if each.plugin != "late"] == []


def test_without_a_lock_anything_goes(folder: PluginFolder) -> None:
    folder.remove(FILE)
    (folder.path / "late.py").write_text(vendor("late"))

    assert states(start(folder))["late"] is State.LOADED


def change_file(folder: PluginFolder) -> None:
    (folder.path / "acme.py").write_text("raise AssertionError('it was run')")


def change_version(folder: PluginFolder) -> None:
    metadata = folder.packages / "packed_pack-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))


def change_module(folder: PluginFolder) -> None:
    info = folder.packages / "packed_pack-1.0.dist-info"
    (info / "entry_points.txt").write_text("[model_gateway]\npacked = other\n")
    (folder.packages / "other.py").write_text("raise AssertionError('it was run')")


def add_file(folder: PluginFolder) -> None:
    """The module becomes a package of its own name, which imports prefer."""
    (folder.packages / "packed_pack").mkdir()
    (folder.packages / "packed_pack" / "__init__.py").write_text("raise AssertionError")


def add_plugin(folder: PluginFolder) -> None:
    (folder.path / "late.py").write_text("raise AssertionError('it was run')")


def add_entry_point(folder: PluginFolder) -> None:
    info = folder.packages / "packed_pack-1.0.dist-info"
    (info / "entry_points.txt").write_text(
        "[model_gateway]\npacked = packed_pack\nlate = packed_pack\n"
    )


def move(folder: PluginFolder) -> None:
    """The file's place is taken by a package of the same name."""
    (folder.path / "acme.py").unlink()
    unpack(folder.packages, files_of("acme-pack", "raise AssertionError", plugin="acme"))


def take_over(folder: PluginFolder) -> None:
    """Another package says that the plugin is its own."""
    info = folder.packages / "packed_pack-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")


def add_startup_file(folder: PluginFolder) -> None:
    """The package brings lines that run at every start."""
    info = folder.packages / "packed_pack-1.0.dist-info"
    (folder.packages / "packed.pth").write_text("import os")
    (info / "RECORD").write_text((info / "RECORD").read_text() + "packed.pth,,\n")


CHANGES: dict[str, tuple[Callable[[PluginFolder], None], str, str]] = {
    "a file": (change_file, "acme", "its files differ from the plugin lock: acme.py is changed"),
    "a version": (change_version, "packed", "the plugin lock has version 1.0, not 1.1"),
    "an entry point's module": (change_module, "packed", "has it in packed_pack, not in other"),
    "one more file": (add_file, "packed", "packed_pack/__init__.py is new"),
    "one more plugin": (add_plugin, "late", "the plugin lock does not have it"),
    "one more entry point": (add_entry_point, "late", "the plugin lock does not have it"),
    "another origin": (move, "acme", "the plugin lock has it from file, not from folder acme-pack"),
    "another package": (take_over, "packed", "from folder packed-pack, not from folder other"),
    "a startup file": (add_startup_file, "packed", "packed.pth, which its package brings, is new"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_is_refused_unrun_and_the_rest_serves(folder: PluginFolder, name: str) -> None:
    change, plugin, reason = CHANGES[name]
    change(folder)

    loaded = start(folder)

    refused = record(loaded, plugin)
    assert refused.state is State.LOCKED
    assert reason in str(refused.error)
    [message] = reported(loaded, plugin)
    assert message == f"is not loaded: {refused.error}"
    others = {name: state for name, state in states(loaded).items() if name != plugin}
    assert set(others.values()) == {State.LOADED}
    assert {"groq", "sound"} <= build(loaded).providers.keys()


def test_the_operator_is_told_what_to_do(folder: PluginFolder) -> None:
    change_file(folder)

    [problem] = [each for each in start(folder).problems if each.plugin == "acme"]

    assert "model-gateway plugins lock" in problem.advice


def test_locking_again_lets_in_what_is_there_now(folder: PluginFolder) -> None:
    (folder.path / "late.py").write_text(vendor("late"))
    refused = states(start(folder))["late"]

    lock(folder)

    assert refused is State.LOCKED
    assert states(start(folder))["late"] is State.LOADED


def test_an_intruder_of_the_same_name_does_not_keep_the_locked_one_out(
    folder: PluginFolder,
) -> None:
    """A package goes before a file, so without the lock the file would be refused."""
    unpack(folder.packages, files_of("acme-pack", "raise AssertionError", plugin="acme"))

    both = [each for each in start(folder).plugins if each.name == "acme"]

    assert [(each.origin.value, each.state) for each in both] == [
        ("folder", State.LOCKED),
        ("file", State.LOADED),
    ]


def test_what_a_program_hands_over_is_not_asked_for(folder: PluginFolder) -> None:
    from types import ModuleType

    loaded = start(folder, handed=ModuleType("handed"))

    assert record(loaded, "handed").state is State.LOADED


def test_a_bundled_plugin_that_differs_is_refused_too(folder: PluginFolder) -> None:
    rewrite(folder, "groq", version="0.0.9")

    loaded = start(folder)

    assert record(loaded, "groq").state is State.LOCKED
    assert record(loaded, "format-openai").state is State.LOADED


def test_a_plugin_that_is_gone_is_told(folder: PluginFolder) -> None:
    (folder.path / "acme.py").unlink()

    loaded = start(folder)

    assert "it is in the plugin lock and not there" in reported(loaded, "acme")
    assert not any(each.fatal for each in loaded.problems)


def test_a_startup_file_of_nobody_is_a_fault_of_its_own_and_everything_serves(
    folder: PluginFolder,
) -> None:
    (folder.packages / "stray.pth").write_text("import os")

    loaded = start(folder)

    [problem] = [each for each in loaded.problems if each.plugin == "lock"]
    assert problem.fatal
    assert "stray.pth is new: its lines may be code that runs at every start" in problem.message
    assert set(states(loaded).values()) == {State.LOADED}


def test_a_changed_startup_file_of_an_installed_package_keeps_its_plugins_out(
    folder: PluginFolder,
) -> None:
    """The bundled plugins of a checkout are reached through such files."""
    content = document(folder)
    [file] = [name for name in content["startupFiles"] if name.endswith("provider_groq.pth")]
    content["startupFiles"][file] = "0" * 64
    (folder.path / FILE).write_text(json.dumps(content))

    loaded = start(folder)

    assert f"{file}, which its package brings, is changed" in str(record(loaded, "groq").error)
    assert record(loaded, "format-openai").state is State.LOADED
    assert reported(loaded, "lock") == []


def test_a_startup_file_that_is_gone_is_told_and_hurts_nothing(folder: PluginFolder) -> None:
    content = document(folder)
    content["startupFiles"]["/nowhere/gone.pth"] = "0" * 64
    (folder.path / FILE).write_text(json.dumps(content))

    loaded = start(folder)

    assert reported(loaded, "lock") == ["/nowhere/gone.pth is gone"]
    assert set(states(loaded).values()) == {State.LOADED}


@pytest.mark.parametrize("content", ["{", "null", "[" * 100_000, '{"version": 2}'])
def test_a_damaged_lock_lets_in_only_what_comes_with_the_gateway(
    folder: PluginFolder, content: str
) -> None:
    (folder.path / FILE).write_text(content)

    loaded = start(folder)

    by_state: dict[State, set[str]] = {}
    for name, state in states(loaded).items():
        by_state.setdefault(state, set()).add(name)
    assert by_state == {State.LOADED: set(HOUSE), State.LOCKED: {"acme", "sound", "packed"}}
    [problem] = [each for each in loaded.problems if each.plugin == "lock"]
    assert problem.fatal
    assert "lock.json cannot be read" in problem.message
    assert "groq" in build(loaded).providers


def test_many_changed_files_are_counted_and_not_all_named(folder: PluginFolder) -> None:
    rewrite(folder, "groq", files={f"gone/{i}.py": "0" * 64 for i in range(9)})

    error = str(record(start(folder), "groq").error)

    assert "gone/0.py is gone" in error
    assert "6 more" in error


def test_a_plugin_whose_files_cannot_be_read_is_refused(folder: PluginFolder) -> None:
    unpack(folder.packages / "deep_pack", {"__init__.py": "raise AssertionError"})
    info = folder.packages / "packed_pack-1.0.dist-info"
    (info / "entry_points.txt").write_text("[model_gateway]\npacked = deep_pack\n")
    os.symlink(folder.packages / "nowhere.py", folder.packages / "deep_pack" / "lost.py")
    rewrite(folder, "packed", module="deep_pack")

    assert "its files cannot be read" in str(record(start(folder), "packed").error)


def test_nothing_of_a_lock_is_looked_at_without_entry_points(folder: PluginFolder) -> None:
    (folder.path / FILE).write_text("{")

    assert load(folder=folder, entry_points=False).problems == ()


def test_without_a_lock_nothing_is_compared(tmp_path: Path) -> None:
    assert watch(folder_in(tmp_path), []) is None
    assert watch(None, []) is None


PROGRAM = """
import sys
from pathlib import Path
from gateway_core.plugins import PluginFolder, State, load
loaded = load(folder=PluginFolder(Path(sys.argv[1])))
print(sorted(plugin.name for plugin in loaded.plugins if plugin.state is State.LOCKED))
print("run" if "acme_was_run" in sys.modules else "not run")
"""


def test_the_lock_of_a_checkout_holds_in_another_process(folder: PluginFolder) -> None:
    (folder.path / "acme.py").write_text("import sys; sys.modules['acme_was_run'] = sys")

    reported = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder.path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert reported.stdout == "['acme']\nnot run\n"


FILES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["1", "2"]))


@given(FILES, FILES)
def test_files_that_are_told_are_exactly_those_that_differ(
    before: dict[str, str], now: dict[str, str]
) -> None:
    differ = {name for name in before | now if before.get(name) != now.get(name)}

    assert set(changes(before, now)) == differ
    assert changes(before, before) == {}
