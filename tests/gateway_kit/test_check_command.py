"""``plugins check``: does a plugin fit, and does it behave?"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from drop_ins import folder_in, vendor
from extension_bugs import SOUND as WHOLE
from two_protocols import FIRST_RELEASE, SECOND_RELEASE, speak_two_protocols

from gateway_cli.main import cli
from gateway_core.plugins import PluginFolder

SOUND = '''"""Acme, a vendor. See https://docs.acme.example."""

from gateway_core import ProviderSpec, hookimpl

GATEWAY_PROTOCOL = 1
'''
NEWER = SOUND.replace("= 1", "= 2") + "\n\n@hookimpl\ndef lifespan(settings): ...\n"
PRIVATE = SOUND + "from gateway_core.app import Gateway\n"
BROKEN = SOUND + "raise RuntimeError('no luck')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    monkeypatch.setenv("GATEWAY_LOAD_PLUGINS", "kit,format-openai,groq,echo,acme")
    # The command line asks plugins once in a process; other tests let it ask fewer of them.
    monkeypatch.setattr(cli, "has_asked", False)
    return folder_in(tmp_path)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two made-up versions: ``host`` is an argument of the first, ``settings`` of the second."""
    speak_two_protocols(monkeypatch)


def run(folder: PluginFolder, *words: str) -> Result:
    place = str(folder.path.parent)
    return CliRunner().invoke(cli, ["--data-dir", place, "plugins", "check", *words])


def file(tmp_path: Path, source: str) -> str:
    place = tmp_path / "elsewhere" / "acme.py"
    place.parent.mkdir()
    place.write_text(source)
    return str(place)


def test_a_sound_plugin_is_checked_whole_and_its_tier_is_kept(folder: PluginFolder) -> None:
    reported = run(folder, "echo")

    assert reported.exit_code == 0, reported.output
    first, last = reported.stdout.splitlines()
    assert first == "echo speaks hook protocol 1 and fits hook protocol 1."
    assert last.endswith("cases pass; tier: bronze.")
    kept = json.loads((folder.path / "conformance.json").read_text())
    assert kept["plugins"]["echo"]["tier"] == "bronze"


@pytest.mark.parametrize("against", ["1", "2", FIRST_RELEASE, SECOND_RELEASE])
@pytest.mark.usefixtures("two")
def test_a_plugin_is_held_against_a_version_and_no_case_is_run(
    folder: PluginFolder, against: str
) -> None:
    reported = run(folder, "groq", "--against", against)

    assert reported.exit_code == 0
    assert "groq speaks hook protocol 1 and fits" in reported.output
    assert not folder.has("conformance.json")


@pytest.mark.usefixtures("two")
def test_a_file_that_is_not_installed_is_held_against_a_version(
    folder: PluginFolder, tmp_path: Path
) -> None:
    reported = run(folder, file(tmp_path, NEWER), "--against", "1")

    assert reported.exit_code == 1
    assert "acme speaks hook protocol 2 and does not fit hook protocol 1." in reported.output
    assert "missing  lifespan is given no settings (acme.py:9)" in reported.output


def test_a_folder_that_is_not_installed_is_held_against_a_version(
    folder: PluginFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "elsewhere" / "gateway_acme_checked"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(SOUND + "from .inner import thing\n")
    (package / "inner.py").write_text("from gateway_core import Gone\n")
    monkeypatch.setattr(sys, "path", list(sys.path))

    reported = run(folder, str(package), "--against", "1")

    assert reported.exit_code == 1
    assert "gateway_core has no Gone (gateway_acme_checked/inner.py:1)" in reported.output


def test_what_is_only_a_note_is_no_failure(folder: PluginFolder, tmp_path: Path) -> None:
    reported = run(folder, file(tmp_path, PRIVATE), "--against", "1")

    assert reported.exit_code == 0
    assert "note     gateway_core.app.Gateway is private" in reported.output


@pytest.mark.usefixtures("two")
def test_as_json_everything_has_a_member(folder: PluginFolder, tmp_path: Path) -> None:
    reported = json.loads(run(folder, file(tmp_path, NEWER), "--against", "1", "--json").stdout)

    assert reported["conformance"] is None
    comparison: dict[str, Any] = reported["comparison"]
    assert comparison["protocol"] == 2
    assert comparison["speaks"] == [1]
    assert comparison["fits"] is False
    assert {
        "weight": "missing",
        "detail": "lifespan is given no settings",
        "place": "acme.py:9",
    } in comparison["findings"]


def test_a_plugin_that_cannot_be_imported_is_still_read(
    folder: PluginFolder, tmp_path: Path
) -> None:
    place = file(tmp_path, BROKEN)

    plain, as_json = run(folder, place), run(folder, place, "--json")

    assert (plain.exit_code, as_json.exit_code) == (1, 1)
    assert "acme speaks hook protocol 1 and fits hook protocol 1." in plain.output
    assert "acme cannot be run: RuntimeError: no luck" in plain.output
    assert json.loads(as_json.stdout)["comparison"]["fits"] is True


@pytest.mark.parametrize("words", [("nobody",), ("groq", "--against", "9")])
def test_what_is_unknown_is_told(folder: PluginFolder, words: tuple[str, ...]) -> None:
    reported = run(folder, *words)

    assert reported.exit_code == 1
    assert (
        "There is no plugin" in reported.output or "Nothing is known of version" in reported.output
    )


KIT = ("pytest", "_pytest", "hypothesis")
EXTENSION = '''"""Brake. See https://docs.acme.example."""

from gateway_core import hookimpl

GATEWAY_PROTOCOL = 1


@hookimpl
def register_interceptors(): return []
'''
WITHOUT = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {*sys.argv[3:]}:
            raise ImportError(name)

sys.meta_path.insert(0, Lacking())
from gateway_cli.main import cli
cli(["--data-dir", sys.argv[1], "plugins", "check", sys.argv[2]])
"""


def without(
    lacking: tuple[str, ...], folder: PluginFolder, plugin: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, str(folder.path.parent), plugin, *lacking],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_cases_of_a_vendor_need_neither_pytest_nor_hypothesis(folder: PluginFolder) -> None:
    reported = without(KIT, folder, "echo")

    assert reported.returncode == 0, reported.stderr
    assert "cases pass; tier: bronze." in reported.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("plugins", "check", "echo"),
        ("plugins", "new", "provider", "acme"),
        ("plugins", "dev", "echo"),
        ("mock-vendor", "--menu"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_without_the_kit_its_commands_say_what_to_install(words: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gateway_core", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "GATEWAY_BLOCK_PLUGINS": "kit"},
    )

    assert ended.returncode == 2
    assert "needs the kit: pip install 'model-gateway[kit]'" in ended.stderr


def test_without_the_usual_format_an_extension_is_only_read(
    folder: PluginFolder, tmp_path: Path
) -> None:
    reported = without(("gateway_format_openai",), folder, file(tmp_path, EXTENSION))

    assert reported.returncode == 0, reported.stderr
    assert "fits hook protocol 1." in reported.stdout
    assert reported.stderr.splitlines()[1:] == [
        "Its cases were not run; they need more: pip install model-gateway-format-openai"
    ]


@pytest.mark.parametrize("name", ["__init__.py", "pyproject.toml"])
def test_a_file_that_stands_for_a_package_means_the_package(
    folder: PluginFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    package = tmp_path / "gateway_acme_meant"
    package.mkdir()
    (package / "__init__.py").write_text(SOUND)
    (package / "pyproject.toml").touch()
    monkeypatch.setattr(sys, "path", list(sys.path))

    reported = run(folder, str(package / name), "--against", "1")

    assert reported.exit_code == 0, reported.output


def test_trouble_that_comes_again_with_every_case_is_told_once(
    folder: PluginFolder, tmp_path: Path
) -> None:
    place = Path(file(tmp_path, vendor("acme").replace("@hookimpl\n", "")))
    whole = place.with_name("whole.py")
    whole.write_text(WHOLE.replace("await asyncio.sleep(0)", "raise KeyError('lost4711')"))

    none, raising = without((), folder, str(place)), without((), folder, str(whole))

    assert none.stderr.count("implements no hook") == 1
    for broken in ("interceptor Guard failed", "filter Hush: it failed"):
        assert raising.stderr.count(broken) == 1
    assert raising.stderr.count("KeyError: 'lost4711'") == 2
    assert (none.returncode, raising.returncode) == (1, 1)


def test_what_sounds_like_an_unknown_plugin_is_told(folder: PluginFolder) -> None:
    reported = run(folder, "grok")

    assert "Did you mean groq" in reported.output


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("CONFORMANCE = 3", "its CONFORMANCE is not what the kit reads: Expected `object`"),
        ("GATEWAY_PROTOCOL = 'two'", "GATEWAY_PROTOCOL is to be a whole number"),
    ],
)
def test_a_module_that_misuses_a_name_is_told_so(
    folder: PluginFolder, tmp_path: Path, line: str, reported: str
) -> None:
    seen = run(folder, file(tmp_path, f"{vendor('acme')}\n{line}\n"))

    assert seen.exit_code == 1
    assert reported in seen.output
    assert isinstance(seen.exception, SystemExit)


def test_without_a_key_no_vendor_is_asked_and_the_author_is_told(
    folder: PluginFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)

    reported = run(folder, "groq", "--live")

    assert reported.exit_code == 1
    assert "there is no key to ask the vendor with; set GROQ_API_KEY" in reported.output
    assert not folder.has("conformance.json")


def test_what_a_plugin_prints_while_it_is_imported_is_no_fault(
    folder: PluginFolder, tmp_path: Path
) -> None:
    place = file(tmp_path, f"{WHOLE}\n\nprint('Acme begins')\n")

    reported = run(folder, place)

    assert reported.exit_code == 0, reported.output
    assert "tier: gold." in reported.output


def test_a_plugin_that_ends_every_process_but_this_one_is_told_so(
    folder: PluginFolder, tmp_path: Path
) -> None:
    leaves = "import os, sys\n\nif 'gateway_kit.check_command' not in sys.modules: os._exit(0)\n"
    place = file(tmp_path, EXTENSION + leaves)

    reported = run(folder, place)

    assert reported.exit_code == 1
    assert "imports in peace" in reported.output
    assert "Seen: the process ended" in reported.output


BUGGED = '''"""Acme: says where the gateway is, in short."""

from gateway_core import hookimpl

GATEWAY_PROTOCOL = 1


def shorten(address):
    return address[:9]


@hookimpl
def listening(address):
    address.index("http")
'''
TESTED = """from gateway_acme_bugged import shorten


def test_an_address_is_short():
    assert shorten("http://127.0.0.1") == "http://12"
"""


def test_bugs_in_a_plugin_are_planted_and_those_that_nobody_finds_are_named(
    folder: PluginFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme" / "gateway_acme_bugged"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(BUGGED)
    (package.parent / "tests").mkdir()
    (package.parent / "tests" / "test_acme.py").write_text(TESTED)
    monkeypatch.setattr(sys, "path", list(sys.path))

    reported = run(folder, str(package), "--bugs", "3")

    assert reported.exit_code == 0, reported.output
    *_, missed, last = reported.stdout.splitlines()
    assert missed == "  missed   __init__.py:14: a call is left out"
    assert last == "1 of 3 bugs are found by the kit, 1 by the plugin's tests."
