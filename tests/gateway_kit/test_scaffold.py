"""A plugin that has just been written works, is well formed and can be published."""

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from gateway_kit.providers import ProviderSuite
from gateway_kit.results import check, find
from gateway_kit.scaffold.command import new_command
from gateway_kit.scaffold.description import KINDS, LONGEST_NAME, BadDescription, PluginDescription
from gateway_kit.scaffold.rendering import TEMPLATES, files_of
from gateway_kit.scaffold.writing import FilesExist, write
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway_administration.plugins.tiers import Tier
from gateway_core import Model, ProviderSpec, WireFormat, hookimpl
from gateway_core.plugins import load
from gateway_core.plugins.registry import build

ROOT = Path(__file__).parents[2]
SHORTEST, LONGEST = "a", "acme-" + "x" * (LONGEST_NAME - 5)
names = st.from_regex(r"[a-z][a-z0-9]{0,9}(-[a-z0-9]{1,5}){0,3}", fullmatch=True)


def orders(*given: str) -> Iterator[PluginDescription]:
    """Everything that can be written, under each of these names."""
    for name in given:
        for is_file in (False, True):
            yield from (PluginDescription(kind=kind, name=name, is_file=is_file) for kind in KINDS)
            yield PluginDescription(kind="provider", name=name, wire="claude", is_file=is_file)


def apart(home: Path, order: PluginDescription) -> Path:
    """A folder for what may be called like something else."""
    form = "files" if order.is_file else "packages"
    return home / form / f"{order.kind}-{order.wire}-{order.name}"


def written(home: Path, order: PluginDescription) -> Path:
    write(home if order.is_file else home / order.place, files_of(order))
    return home / order.place


def ran(home: Path, *command: str) -> str:
    """What a tool says in a folder; nothing when it is content."""
    ended = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=home,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return ended.stdout + ended.stderr if ended.returncode else ""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose packages are forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.parametrize("kind", ["extension", "format"])
def test_a_new_package_is_gold_at_once(home: Path, kind: str) -> None:
    place = written(home, PluginDescription(kind=kind, name="newly-written"))

    results = check(find(str(place)))

    assert results.failures == ()
    assert results.tier is Tier.GOLD
    assert results.protocol == 1


@pytest.mark.parametrize("wire", ["openai", "claude", "gemini", "ollama", "openai-responses"])
def test_a_new_provider_passes_the_kit_in_every_format(home: Path, wire: str) -> None:
    order = PluginDescription(kind="provider", name=f"new-{wire}", wire=wire)
    find(str(written(home, order)))
    suite = ProviderSuite((order.module,), thorough=False, every_client=False)

    failures = [reported for case in suite.cases() if (reported := suite.run(case, home / "kit"))]
    suite.close()

    assert failures == []


def test_a_vendor_of_a_new_format_can_be_called_in_every_other_one(home: Path) -> None:
    order = PluginDescription(kind="format", name="newly-spoken")
    find(str(written(home, order)))
    spoken = importlib.import_module(order.module)

    class Spoken:
        """A plugin with the format, and a vendor that speaks it: https://docs.acme.example."""

        @hookimpl
        def register_formats(self) -> list[WireFormat]:
            return list(spoken.register_formats())

        @hookimpl
        def register_providers(self) -> list[ProviderSpec]:
            url, models = "https://api.acme.example/v1", (Model("acme-large", tools=True),)
            spec = ProviderSpec(
                id="spoken", name="Spoken", format=order.name, base_url=url, models=models
            )
            return [spec]

    suite = ProviderSuite((Spoken(),), thorough=False)
    failures = [reported for case in suite.cases() if (reported := suite.run(case, home / "kit"))]
    suite.close()

    assert failures == []


def test_a_new_format_in_one_file_is_as_good_as_the_package(home: Path) -> None:
    file = written(home, PluginDescription(kind="format", name="newly-joined", is_file=True))

    results = check(find(str(file)))

    assert results.failures == ()
    assert results.tier is Tier.GOLD


def test_the_tests_that_come_with_a_package_pass(tmp_path: Path) -> None:
    place = written(tmp_path, PluginDescription(kind="extension", name="newly-tested"))

    assert ran(place, "pytest", "-q", "-p", "no:cacheprovider") == ""


def test_everything_that_is_written_is_in_the_usual_form(tmp_path: Path) -> None:
    for order in orders(SHORTEST, "acme", LONGEST):
        written(apart(tmp_path, order), order)

    for form, more in (("packages", ()), ("files", ("--isolated", "--line-length", "100"))):
        for tool in (("format", "--check"), ("check",)):
            produced = ran(tmp_path / form, "ruff", *tool, "--no-cache", "--quiet", *more, ".")
            assert produced == ""


def test_everything_that_is_written_is_typed(tmp_path: Path) -> None:
    # In one folder and under names of their own, because every run of the checker takes long.
    for number, order in enumerate(orders("typed")):
        own = replace(order, name=f"typed-{number}")
        for path, text in files_of(own).items():
            write(tmp_path, {path.replace("tests/test_", f"test_{number}_"): text}, force=True)

    assert ran(tmp_path, "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), ".") == ""


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_package_says_of_itself_can_be_published(tmp_path: Path, kind: str) -> None:
    place = written(tmp_path, PluginDescription(kind=kind, name="acme-2"))

    produced = tomllib.loads((place / "pyproject.toml").read_text())
    project = produced["project"]

    assert project["name"] == f"model-gateway-{kind}-acme-2"
    assert re.fullmatch(r"\d+\.\d+\.\d+", project["version"])
    assert project["description"]
    assert "\n" not in project["description"]
    assert (place / project["readme"]).is_file()
    assert project["dependencies"] == ["model-gateway"]
    # An expression takes the place of the classifiers for licences.
    assert project["license"] == "MIT"
    assert not [each for each in project["classifiers"] if each.startswith("License")]
    assert "model-gateway[kit]" in produced["dependency-groups"]["dev"]
    (module,) = produced["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert list(project["entry-points"]["model_gateway"].values()) == [module]
    assert (place / module / "py.typed").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_a_package_is_developed_with_the_format_that_its_tests_need(kind: str) -> None:
    registry = build(load())
    brings = {plugin.name: plugin.distribution for plugin in registry.plugins}
    spoken = {
        id: brings[plugin]
        for id, plugin in registry.format_plugins.items()
        if plugin.startswith("format-") and registry.formats[id].vendor is not None
    }
    spoken.pop("openai-responses-compact")  # holds no conversation
    wanted = spoken if kind == "provider" else {"openai": spoken["openai"]}

    for wire, distribution in wanted.items():
        produced = tomllib.loads(
            files_of(PluginDescription(kind=kind, name="acme", wire=wire))["pyproject.toml"]
        )
        beside = [each for each in produced["dependency-groups"]["dev"] if "-format-" in each]
        assert beside == ([] if kind == "format" else [distribution])


@given(names.filter(lambda name: len(name) <= LONGEST_NAME), st.sampled_from(KINDS))
def test_a_name_that_is_taken_fits_wherever_it_is_used(name: str, kind: str) -> None:
    order = PluginDescription(kind=kind, name=name)

    assert order.module.isidentifier()
    assert re.sub(r"[-_.]+", "-", order.distribution).lower() == order.distribution
    assert order.constant.isidentifier()
    for path, text in files_of(order).items():
        if path.endswith(".py"):
            ast.parse(text)


@pytest.mark.parametrize(
    "name", ["", "Acme", "2acme", "acme_2", "-acme", "acme-", "a--b", "a.b", "../a", "ä", "a" * 31]
)
def test_a_name_that_would_not_fit_is_refused(name: str) -> None:
    with pytest.raises(BadDescription, match="cannot be a plugin's name"):
        PluginDescription(kind="provider", name=name)


@pytest.mark.parametrize(
    "url",
    [
        *("api.acme.example", "ftp://acme.example", "https://", "https://a.example?x=1"),
        *("https://me:secret@acme.example", "https://acme.example:nine", "https://acme example"),
        'https://a"b',
    ],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadDescription, match="no base URL"):
        PluginDescription(kind="provider", name="acme", base_url=url)


def test_a_variable_that_no_shell_can_set_is_refused() -> None:
    with pytest.raises(BadDescription, match="no name of a process variable"):
        PluginDescription(kind="provider", name="acme", variable="acme-key")


@pytest.mark.parametrize("name", ["gateway-protocol", "conformance"])
def test_a_vendor_may_be_called_like_what_the_gateway_reads(home: Path, name: str) -> None:
    order = PluginDescription(kind="provider", name=name)
    find(str(written(home, order)))

    plugin = importlib.import_module(order.module)

    assert plugin.GATEWAY_PROTOCOL == 1
    assert not hasattr(plugin, "CONFORMANCE")
    assert [spec.id for spec in plugin.register_providers()] == [name]


def test_what_is_wanted_of_a_provider_is_written(home: Path) -> None:
    order = PluginDescription(
        kind="provider",
        name="newly-wished",
        wire="gemini",
        base_url="https://eu.acme.example/v2/",
        variable="WISHED",
    )
    find(str(written(home, order)))

    (spec,) = importlib.import_module(order.module).register_providers()

    assert (spec.format, spec.base_url) == ("gemini", "https://eu.acme.example/v2")
    assert spec.environment == ("WISHED",)


@pytest.mark.parametrize("name", ["words", "finishes", "dialect", "types", "null", "grammar"])
def test_no_name_of_a_format_in_one_file_is_used_twice(name: str) -> None:
    ((_, text),) = files_of(PluginDescription(kind="format", name=name, is_file=True)).items()

    used = Counter(_bound(ast.parse(text)))

    assert [each for each, times in used.items() if times > 1] == []


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.ClassDef() | ast.FunctionDef():
                yield node.name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name for alias in node.names)


def test_somebodys_work_is_replaced_only_by_force(tmp_path: Path) -> None:
    write(tmp_path, {"a/b.py": "first\n"})

    with pytest.raises(FilesExist, match=r"b\.py exists already"):
        write(tmp_path, {"a/b.py": "second\n", "c.py": "new\n"})
    assert (tmp_path / "a" / "b.py").read_text() == "first\n"
    assert not (tmp_path / "c.py").exists()

    write(tmp_path, {"a/b.py": "second\n"}, force=True)
    assert (tmp_path / "a" / "b.py").read_text() == "second\n"


def test_every_template_is_used() -> None:
    every = {str(path.relative_to(str(TEMPLATES))) for path in Path(str(TEMPLATES)).rglob("*.*")}
    used: set[str] = set()

    class Watched:
        def joinpath(self, name: str) -> Any:
            used.add(name)
            return TEMPLATES.joinpath(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gateway_kit.scaffold.rendering.TEMPLATES", Watched())
        for order in orders("acme"):
            files_of(order)

    assert every == used


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("provider", "openai"), "openai comes with the gateway"),
        (("extension", "dashboard"), "dashboard comes with the gateway"),
        (("extension", "batches"), "batches is a plugin of model-gateway"),
        (("format", "bedrock"), "Plugin bedrock has a format bedrock"),
        (("provider", "glm-cn"), "Plugin glm has a provider glm-cn"),
        (("provider", "plugin-x"), "PLUGIN_X_API_KEY is the gateway's own variable"),
        (("provider", "acme", "--variable", "OPENAI_API_KEY"), "holds the key of openai"),
        (("provider", "acme", "--format", "bedrock"), "No installed plugin speaks 'bedrock'"),
        (
            ("provider", "acme", "--format", "openai-responses-compact"),
            "No installed plugin speaks 'openai-responses-compact'",
        ),
        (("provider", "acme", "--format", "nope"), "No installed plugin speaks 'nope'"),
        (("provider", "Acme"), "cannot be a plugin's name"),
        (("service", "acme"), "'service' is not one of"),
        (("format", "api"), "/v1/api/chat is a path of format-ollama"),
        (("extension", "acme", "--format", "claude"), "are for providers only"),
        (("extension", "acme", "--base-url", "https://a.example"), "are for providers only"),
        (("format", "acme", "--variable", "ACME_KEY"), "are for providers only"),
    ],
)
def test_a_wish_that_cannot_be_met_is_told_and_nothing_is_written(
    tmp_path: Path, arguments: tuple[str, ...], reported: str
) -> None:
    result = CliRunner().invoke(new_command, [*arguments, "--into", str(tmp_path)])

    assert result.exit_code != 0
    assert reported in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_file", [False, True])
def test_what_the_command_advises_can_be_typed_as_it_stands(tmp_path: Path, is_file: bool) -> None:
    home = tmp_path / "my plugins"
    more = ["--file"] if is_file else []

    result = CliRunner().invoke(new_command, ["provider", "acme", "--into", str(home), *more])

    [advice] = [line for line in result.output.splitlines() if line.startswith("Try it: ")]
    place = home / ("acme.py" if is_file else "model-gateway-provider-acme")
    assert shlex.split(advice)[-1] == str(place)
    assert f"cd {shlex.quote(str(place))} &&" in result.output or is_file


@pytest.mark.parametrize("name", ["usage", "keys", "providers", "plugins"])
def test_an_extension_may_be_called_like_a_part_of_the_gateway(home: Path, name: str) -> None:
    order = PluginDescription(kind="extension", name=name)
    place = written(home, order)

    results = check(find(str(place)))

    assert [failure.message for failure in results.failures] == []


def test_the_command_says_what_it_wrote_and_what_to_do_next(tmp_path: Path) -> None:
    result = CliRunner().invoke(new_command, ["provider", "acme", "--into", str(tmp_path)])

    place = tmp_path / "model-gateway-provider-acme"
    assert result.exit_code == 0
    assert str(place / "gateway_provider_acme" / "__init__.py") in result.output
    assert f"model-gateway plugins dev {place}" in result.output
