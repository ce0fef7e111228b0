"""Where plugins come from: files and packages of the data directory, after everything else."""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import gateway_format_openai
import pytest
from drop_ins import files_of, folder_in, unpack, vendor

from gateway_core import ProviderSpec, hookimpl
from gateway_core.plugins import Origin, Plugin, PluginFolder, State, load
from gateway_core.plugins.registry import Registry, build
from gateway_core.plugins.sources import distribution_of, find

T = TypeVar("T")
DROP_IN_FAILURES = {
    "raises": ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
    "misspelt": ("def broken(:", "SyntaxError"),
    "exits": ("import sys; sys.exit(3)", "sys.exit(3)"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "spins": ("while True: pass", "did not finish within 0.5 s"),
    "binary": ("\0", "null bytes"),
    "lacks": ("import no_such_module_anywhere", "No module named"),
}


@pytest.fixture(autouse=True)
def _same_imports(tmp_path: Path) -> Iterator[None]:
    """Leaves imports as they were."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def given(id: str) -> ModuleType:
    module = ModuleType(f"given_{id}")

    @hookimpl
    def register_providers() -> list[ProviderSpec]:
        return [ProviderSpec(id=id, name="given", base_url="https://given.example")]

    module.register_providers = register_providers  # type: ignore[attr-defined]
    return module


def everything(folder: PluginFolder, **extra: object) -> Registry:
    return build(load(extra=extra, folder=folder, limit=10))


def record(registry: Registry, name: str) -> Plugin:
    return next(plugin for plugin in registry.plugins if plugin.name == name)


def result(registry: Registry, name: str) -> str:
    return "\n".join(each.message for each in registry.problems if each.plugin == name)


def test_a_file_that_is_dropped_in_is_a_plugin_named_after_it(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme_cloud=vendor("acme"))

    registry = everything(folder)

    plugin = record(registry, "acme-cloud")
    assert plugin.state is State.LOADED
    assert plugin.origin is Origin.FILE
    assert plugin.path == str(folder.path / "acme_cloud.py")
    assert plugin.hooks == ("register_providers",)
    assert registry.provider_plugins["acme"] == "acme-cloud"
    assert result(registry, "acme-cloud") == ""


def test_the_drop_in_of_the_documentation_is_a_plugin(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "plugins.md").read_text()
    [source] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    registry = everything(folder_in(tmp_path, acme=source))

    assert registry.provider_plugins["acme"] == "acme"
    assert result(registry, "acme") == ""


def test_nothing_compiled_is_left_beside_a_drop_in(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))

    everything(folder)

    assert [file.name for file in folder.path.iterdir()] == ["acme.py"]


def test_a_drop_in_hides_no_module_and_is_hidden_by_none(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, json=vendor("acme"))

    registry = everything(folder)

    import json

    assert registry.provider_plugins["acme"] == "json"
    assert json.loads("1") == 1


def test_a_drop_in_is_read_anew_at_every_start(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("first"))
    before = everything(folder)
    (folder.path / "acme.py").write_text(vendor("other"))

    after = everything(folder)

    assert "first" in before.providers
    assert "other" in after.providers
    assert "first" not in after.providers


def test_classes_of_a_drop_in_can_be_looked_up_by_their_module(tmp_path: Path) -> None:
    source = (
        vendor("acme")
        + "import pickle\nfrom dataclasses import dataclass\n"
        + "@dataclass\nclass Point:\n    x: 'int' = 1\n"
        + "assert pickle.loads(pickle.dumps(Point())) == Point()\n"
    )

    registry = everything(folder_in(tmp_path, acme=source))

    assert record(registry, "acme").error is None


@pytest.mark.parametrize("name", DROP_IN_FAILURES)
def test_a_broken_drop_in_fails_alone(tmp_path: Path, name: str) -> None:
    source, reason = DROP_IN_FAILURES[name]
    folder = folder_in(tmp_path, **{name: source, "sound": vendor("acme")})

    extra = {"format-openai": gateway_format_openai}
    allowed = frozenset({name, "sound", *extra})
    registry = build(load(folder=folder, extra=extra, allowed=allowed, limit=0.5))

    assert record(registry, name).state is State.FAILED
    assert reason in (record(registry, name).error or "")
    assert record(registry, "sound").state is State.LOADED
    for thread in threading.enumerate():
        if thread.name == "plugin guard":
            thread.join(5)  # One that was told to stop still clears up after itself.
    assert not [module for module in sys.modules if module.startswith(f"plugin-file-{name}-")]


def test_a_drop_in_that_others_may_write_is_refused_unread(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme="raise AssertionError('run')", sound=vendor("acme"))
    (folder.path / "acme.py").chmod(0o646)

    registry = everything(folder)

    assert "everybody may write" in (record(registry, "acme").error or "")
    assert "chmod o-w" in result(registry, "acme")
    assert record(registry, "sound").state is State.LOADED


def test_a_folder_that_others_may_write_brings_no_plugin(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme="raise AssertionError('run')")
    unpack(folder.packages, files_of("acme-pack", "raise AssertionError", plugin="packed"))
    folder.path.chmod(0o777)

    registry = everything(folder)

    assert {record(registry, name).state for name in ("acme", "packed")} == {State.FAILED}
    assert "everybody may write" in result(registry, "acme")
    assert str(folder.packages) not in sys.path


def test_a_package_of_the_data_directory_is_a_plugin(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    source = "import its_words_in_folder\n" + vendor("acme")
    unpack(folder.packages, files_of("acme-in-folder", source, "2.0", plugin="acme"))
    unpack(folder.packages, files_of("its-words-in-folder", ""))

    registry = everything(folder)

    plugin = record(registry, "acme")
    assert plugin.error is None
    assert plugin.origin is Origin.FOLDER
    assert (plugin.distribution, plugin.version) == ("acme-in-folder", "2.0")
    assert sys.path[-1] == str(folder.packages)
    assert distribution_of("acme-in-folder", Origin.FOLDER, folder) is not None
    assert distribution_of("acme-in-folder", Origin.INSTALLED, PluginFolder.of(tmp_path)) is None


def test_a_package_of_the_data_directory_is_none_of_the_installation_at_a_second_start(
    tmp_path: Path,
) -> None:
    folder = folder_in(tmp_path)
    unpack(folder.packages, files_of("acme-twice", vendor("acme"), plugin="acme"))
    everything(folder)

    again = everything(folder)
    elsewhere = everything(PluginFolder.of(tmp_path / "elsewhere"))

    assert [each.origin for each in again.plugins if each.name == "acme"] == [Origin.FOLDER]
    assert "acme" not in {plugin.name for plugin in elsewhere.plugins}


def test_a_package_of_the_data_directory_shadows_nothing_that_is_installed(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    bad = "raise AssertionError('shadowed')"
    unpack(folder.packages, {"msgspec/__init__.py": bad, "gateway_core/__init__.py": bad})
    unpack(folder.packages, files_of("acme-plain", "import msgspec\n" + vendor("a"), plugin="a"))

    assert record(everything(folder), "a").error is None


def test_two_data_directories_in_one_process_do_not_mix(tmp_path: Path) -> None:
    """The second may not run the first one's code under its own name."""
    folders = [folder_in(tmp_path / name) for name in ("one", "two")]
    for folder, id in zip(folders, ("first", "second"), strict=True):
        unpack(folder.packages, files_of("acme-shared", vendor(id), plugin="acme"))
    assert "first" in everything(folders[0]).providers

    registry = everything(folders[1])

    assert record(registry, "acme").state is State.FAILED
    assert "the module acme_shared is that of" in (record(registry, "acme").error or "")
    assert "first" not in registry.providers


def test_a_copy_of_the_gateway_in_the_data_directory_is_ignored_and_told(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    unpack(folder.packages, files_of("Model_Gateway", "", plugin="dashboard"))

    registry = everything(folder)

    assert record(registry, "dashboard").origin is Origin.INSTALLED
    assert [plugin.name for plugin in registry.plugins].count("dashboard") == 1
    assert "a copy of model-gateway, which is ignored" in result(registry, "dashboard")


def test_a_damaged_package_of_the_data_directory_hides_no_other(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    damaged = files_of("acme-damaged", "", plugin="damaged")
    damaged["acme_damaged-1.0.dist-info/entry_points.txt"] = "[model_gateway]\nno equals sign\n"
    unpack(folder.packages, damaged)
    unpack(folder.packages, files_of("acme-whole", vendor("acme"), plugin="whole"))

    registry = everything(folder)

    assert record(registry, "whole").state is State.LOADED
    assert "entry points cannot be read" in result(registry, "acme-damaged")


def test_plugins_are_found_in_the_order_of_their_origins_and_then_their_names(
    tmp_path: Path,
) -> None:
    folder = folder_in(tmp_path, aa="", zz="")
    unpack(folder.packages, files_of("acme-order", "", plugin="ab"))

    found = find(lambda name, problem: None, extra={"z": 1, "b": 2}, folder=folder)

    origins = [each.origin for each in found]
    assert origins == sorted(origins, key=list(Origin).index)
    assert [each.name for each in found if each.origin is not Origin.INSTALLED] == [
        *("b", "z", "ab", "aa", "zz")
    ]


def test_whoever_comes_first_in_that_order_has_the_id(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, aa=vendor("acme"), ab=vendor("openai"))

    registry = everything(folder, zz=given("acme"))

    assert registry.provider_plugins["acme"] == "zz"
    assert registry.provider_plugins["openai"] == "openai"
    assert "'acme' already stands for provider 'acme' of plugin zz" in result(registry, "aa")
    assert "of plugin openai" in result(registry, "ab")


def test_asking_to_be_first_changes_nothing_of_that_order(tmp_path: Path) -> None:
    eager = vendor("openai").replace("@hookimpl", "@hookimpl(tryfirst=True)")
    folder = folder_in(tmp_path, aa=eager)

    assert everything(folder).provider_plugins["openai"] == "openai"


def test_whoever_comes_first_in_that_order_has_the_name(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, openai=vendor("acme"))

    registry = everything(folder)

    states = [(each.origin, each.state) for each in registry.plugins if each.name == "openai"]
    assert states == [(Origin.INSTALLED, State.LOADED), (Origin.FILE, State.FAILED)]
    assert f"{folder.path / 'openai.py'} is not loaded: its name is taken" in result(
        registry, "openai"
    )


def test_a_program_that_gives_its_plugins_gets_no_others(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme="raise AssertionError('run')")
    unpack(folder.packages, files_of("acme-alone", "raise AssertionError", plugin="packed"))

    loaded = load(extra={"mine": given("mine")}, entry_points=False, folder=folder)

    assert [plugin.name for plugin in loaded.plugins] == ["mine"]


def test_a_folder_or_a_pipe_that_is_called_like_a_plugin_is_refused_unread(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, sound=vendor("sound"))
    (folder.path / "package.py").mkdir()
    os.mkfifo(folder.path / "pipe.py")

    registry = everything(folder)

    for name in ("package", "pipe"):
        assert (record(registry, name).error or "").endswith(f"{name}.py is no file")
    assert record(registry, "sound").state is State.LOADED


def test_a_package_whose_module_stands_elsewhere_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its author works on it there."""
    folder = folder_in(tmp_path / "data")
    about = folder.packages / "acme_elsewhere-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: acme-elsewhere\nVersion: 0\n")
    (about / "entry_points.txt").write_text("[model_gateway]\nacme = acme_elsewhere\n")
    (tmp_path / "acme_elsewhere.py").write_text(vendor("acme"))
    monkeypatch.syspath_prepend(tmp_path)

    assert record(everything(folder), "acme").state is State.LOADED


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="takes another user's part"
)
def test_a_folder_that_one_may_not_look_into_is_told_and_stops_nothing(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))
    folder.path.chmod(0o700)
    reported: list[tuple[str, str]] = []

    found = _as_nobody(lambda: find(lambda *result: reported.append(result), folder=folder))

    assert "acme" not in {each.name for each in found}
    assert "format-openai" in {each.name for each in found}
    assert reported == [("plugins", f"{folder.path} cannot be looked through: Permission denied")]


def _as_nobody(act: Callable[[], T]) -> T:
    os.seteuid(65534)
    try:
        return act()
    finally:
        os.seteuid(0)
