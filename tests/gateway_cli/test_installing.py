"""Installing and uninstalling, with an installer that keeps what it is asked, and with pip."""

import json
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pytest
from drop_ins import files_of, folder_in, unpack, vendor, wheel

from gateway_cli.installing import install, uninstall
from gateway_cli.pip import CommandResult, Installer, InstallFailed, installer
from gateway_core.plugins import Found, Origin, PluginFolder

PIP = Installer(("pip",))
UV = Installer(("uv", "pip"), is_uv=True)


class Kept:
    """Ends as it is told to, and keeps the commands and the constraints they named."""

    def __init__(self, code: int = 0, reported: str = "") -> None:
        self.ended = CommandResult(code, reported)
        self.commands: list[list[str]] = []
        self.constraints = ""

    def __call__(self, command: Sequence[str], *, listen: bool = False) -> CommandResult:
        self.commands.append(list(command))
        if "--constraint" in command:
            self.constraints = Path(command[command.index("--constraint") + 1]).read_text()
        return self.ended if listen or self.ended.code else CommandResult(0)


def found(name: str, origin: Origin, distribution: str | None, path: Path | None = None) -> Found:
    return Found(
        name=name, module=name, load=object, origin=origin, distribution=distribution, path=path
    )


def no_tool() -> Installer:
    raise AssertionError("an installer was asked for")


def test_an_install_keeps_the_gateways_own_versions() -> None:
    run = Kept()

    install(["acme"], ["--pre"], None, run=run, tool=PIP)

    [command] = run.commands
    assert command[:2] == ["pip", "install"]
    assert command[-2:] == ["acme", "--pre"]
    lines = run.constraints.splitlines()
    assert {f"{name}=={version(name)}" for name in ("msgspec", "model-gateway")} <= set(lines)


def test_uv_is_told_which_python_it_is_for() -> None:
    run = Kept()

    install(["acme"], [], None, run=run, tool=UV)

    assert run.commands[0][:5] == ["uv", "pip", "install", "--python", sys.executable]


def test_the_data_directory_gets_exactly_what_is_missing(tmp_path: Path) -> None:
    run, folder = Kept(reported=" + acme==1.0\n + acme-words==2.0\n"), PluginFolder.of(tmp_path)

    install(["acme"], ["--no-index"], folder, run=run, tool=UV)

    plan, put = run.commands
    assert "--dry-run" in plan
    assert ["--no-deps", "--target", str(folder.packages)] == put[5:8]
    assert put[8:] == ["acme==1.0", "acme-words==2.0", "--no-index"]


def test_nothing_is_done_where_nothing_is_missing(tmp_path: Path) -> None:
    run = Kept(reported="Would make no changes\n")

    install(["acme"], [], PluginFolder.of(tmp_path), run=run, tool=UV)

    assert len(run.commands) == 1


def test_what_the_gateway_needs_is_never_installed_twice(tmp_path: Path) -> None:
    run, folder = Kept(reported=" + acme==1.0\n + MsgSpec==0.1\n"), PluginFolder.of(tmp_path)

    with pytest.raises(InstallFailed, match="MsgSpec belongs to the gateway"):
        install(["acme"], ["--reinstall"], folder, run=run, tool=UV)

    assert len(run.commands) == 1
    assert not folder.packages.exists()


def test_an_installer_that_fails_is_an_error() -> None:
    with pytest.raises(InstallFailed, match=r"ended with code 3; see above\.$"):
        install(["acme"], [], None, run=Kept(code=3), tool=PIP)


def test_where_nothing_can_be_written_the_other_place_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "gone")
    monkeypatch.setattr(sysconfig, "get_path", {"purelib": place}.__getitem__)

    with pytest.raises(InstallFailed) as reported:
        install(["acme"], [], None, run=Kept(code=1), tool=PIP)

    expected = (
        f"see above. {place} cannot be written; --into data installs into the data directory."
    )
    assert str(reported.value).endswith(expected)


def test_without_any_installer_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "pip", raising=False)

    with pytest.raises(InstallFailed, match="-m ensurepip, or install uv"):
        installer()


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        (PIP, ["pip", "uninstall", "--yes", "acme"]),
        (UV, ["uv", "pip", "uninstall", "--python", sys.executable, "acme"]),
    ],
)
def test_an_installed_package_leaves_by_the_installer(
    tmp_path: Path, tool: Installer, command: list[str]
) -> None:
    run = Kept()
    plugin = found("cloud", Origin.INSTALLED, "acme")

    uninstall(plugin, PluginFolder.of(tmp_path), run=run, tool=lambda: tool)

    assert run.commands == [command]


@pytest.mark.parametrize("distribution", ["model-gateway", "Model_Gateway", None])
def test_a_part_of_the_gateway_cannot_be_uninstalled(
    tmp_path: Path, distribution: str | None
) -> None:
    plugin = found("dashboard", Origin.INSTALLED, distribution)

    with pytest.raises(InstallFailed, match="model-gateway plugins disable dashboard"):
        uninstall(plugin, PluginFolder.of(tmp_path), run=Kept(), tool=no_tool)


def test_a_package_of_the_data_directory_leaves_with_all_its_files(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)
    unpack(folder.packages, files_of("acme", "", plugin="acme"))
    unpack(folder.packages, files_of("words", ""))
    kept = {"words.py", "words-1.0.dist-info"}

    uninstall(found("acme", Origin.FOLDER, "acme"), folder, run=Kept(), tool=no_tool)

    assert {file.name for file in folder.packages.iterdir()} == kept


def test_a_package_without_a_list_of_its_files_is_left_to_the_operator(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)
    files = files_of("acme", "", plugin="acme")
    del files["acme-1.0.dist-info/RECORD"]
    unpack(folder.packages, files)

    with pytest.raises(InstallFailed, match="no list of its files"):
        uninstall(found("acme", Origin.FOLDER, "acme"), folder, run=Kept(), tool=no_tool)


def test_a_drop_in_leaves_with_its_file(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"), other="")
    plugin = found("acme", Origin.FILE, None, folder.path / "acme.py")

    uninstall(plugin, folder, run=Kept(), tool=no_tool)

    assert [file.name for file in folder.dropins()] == ["other.py"]


def bundled_pip() -> str | None:
    """The wheel of pip that comes with Python; pip runs from it without being installed."""
    try:
        import ensurepip
    except ImportError:
        return None
    wheels = sorted((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    return str(wheels[-1]) if wheels else None


@pytest.mark.skipif(bundled_pip() is None, reason="this Python comes without pip")
def test_pip_puts_a_plugin_and_what_it_needs_into_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, data = tmp_path / "shop", tmp_path / "data"
    shop.mkdir()
    needs = ("model-gateway", "acme-words", "msgspec")
    source = "import acme_words\n" + vendor("acme")
    wheel(shop, "acme", files_of("acme", source, plugin="acme", requires=needs))
    wheel(shop, "acme-words", files_of("acme-words", ""))
    folder = PluginFolder.of(data)
    unpack(folder.packages, files_of("acme", "old = 1", "0.9", plugin="acme"))
    monkeypatch.setenv("PYTHONPATH", bundled_pip() or "")
    monkeypatch.setenv("GATEWAY_LOAD_PLUGINS", "format-openai,acme")

    command = [sys.executable, "-m", "gateway_core", "--data-dir", str(data), "plugins", "install"]
    options = ["--upgrade", "--no-index", "--find-links", str(shop), "--no-cache-dir"]
    ended = subprocess.run(
        [*command, "acme", "--into", "data", "--json", "--", *options],
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr.decode()
    [new] = json.loads(ended.stdout)["new"]
    assert (new["name"], new["version"], new["state"]) == ("acme", "1.0", "loaded")
    assert {file.name for file in folder.packages.iterdir() if file.name != "__pycache__"} == {
        *("acme.py", "acme-1.0.dist-info", "acme_words.py", "acme_words-1.0.dist-info")
    }
    assert b"Successfully installed" in ended.stderr
