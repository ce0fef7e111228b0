"""What is told about plugins: their rows, their sheets, what is wrong and what to do."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from drop_ins import files_of, folder_in, unpack, vendor

from gateway_administration.plugins.about import Row, Sheet, hosts_of, nearest, rows, sheet, trouble
from gateway_administration.plugins.packages import Package
from gateway_cli.findings import findings
from gateway_core import OAuth, ProviderSpec
from gateway_core.plugins import (
    Origin,
    PluginFolder,
    PluginSettings,
    Problem,
    State,
    load,
    settings_of,
)
from gateway_core.plugins.registry import Registry, build
from gateway_core.plugins.switches import switch

NAMES = frozenset({"format-openai", "acme", "broken", "packed"})
SETTINGS = """
from msgspec import Struct

class Settings(Struct, frozen=True, kw_only=True):
    region: str = "eu"

@hookimpl
def register_settings():
    return Settings
"""


@pytest.fixture(autouse=True)
def _same_path() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path


def received(folder: PluginFolder) -> tuple[Registry, PluginSettings]:
    loaded = load(folder=folder, allowed=NAMES)
    settings = settings_of(loaded)
    return build(loaded, settings), settings


def row(folder: PluginFolder, name: str) -> Row:
    return next(row for row in rows(received(folder)[0], folder) if row.name == name)


def sheet_of(folder: PluginFolder, name: str) -> Sheet:
    found = sheet(*received(folder), folder, name)
    assert found is not None
    return found


def test_a_row_says_what_a_plugin_brings(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))

    found = row(folder, "acme")

    assert (found.origin, found.state, found.enabled) == (Origin.FILE, State.LOADED, True)
    assert found.brings == ("acme",)
    assert found.problems == ()
    assert row(folder, "format-openai").brings[0] == "format openai"


def test_a_row_says_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, broken="import no_such_module_anywhere")

    found = row(folder, "broken")

    assert found.state is State.FAILED
    [problem] = found.problems
    assert problem.fatal
    assert "No module named" in problem.message
    assert "plugins install" in problem.advice


def test_a_switch_shows_before_it_counts(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))
    registry, _ = received(folder)

    switch(folder, "acme", on=False)

    [found] = [row for row in rows(registry, folder) if row.name == "acme"]
    assert (found.state, found.enabled) == (State.LOADED, False)


def test_the_sheet_of_a_file_has_its_docstring_and_its_reach(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme") + SETTINGS)

    found = sheet_of(folder, "acme")

    assert found.package == Package(summary="acme, a vendor.")
    assert found.hosts == ("api.acme.example",)
    assert found.variables == ("acme_KEY",)
    assert found.providers == ("acme",)
    assert found.hooks == ("register_providers", "register_settings")
    assert [field.name for field in found.settings] == ["region"]
    assert len(found.digest) == 64


def test_the_sheet_of_a_package_has_its_metadata(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    files = files_of("acme-sheet", vendor("acme"), plugin="packed", requires=("msgspec>=0.1",))
    unpack(folder.packages, files)

    found = sheet_of(folder, "packed")

    assert found.package == Package(
        summary="What acme-sheet does",
        home="https://acme-sheet.example",
        license="MIT",
        requires=("msgspec>=0.1",),
    )
    assert found.path == str(folder.packages)


def test_there_is_no_sheet_of_a_plugin_that_is_not_there(tmp_path: Path) -> None:
    folder = PluginFolder.of(tmp_path)

    assert sheet(*received(folder), folder, "acme") is None


def test_every_declared_address_counts_as_reach() -> None:
    login = OAuth(
        flow="pkce",
        authorize_url="https://a.example/x",
        token_url="https://b.example",
        client_id="c",
    )
    spec = ProviderSpec(
        id="acme",
        name="Acme",
        base_url="https://user:canary@c.example/v1",
        hosts=("*.h.example",),
        base_urls=("http://d.example:81/v1",),
        responses_url="https://e.example",
        models_url="https://f.example/models",
        other_formats={"claude": "https://g.example"},
        oauth=login,
    )

    assert sorted(hosts_of(spec)) == [
        *("*.h.example", "a.example", "b.example", "c.example", "d.example:81"),
        *("e.example", "f.example", "g.example"),
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("opnai", "There is no plugin 'opnai'. Did you mean openai?"),
        ("zzz", "There is no plugin 'zzz'."),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(name: str, written: str) -> None:
    assert nearest(name, ["openai", "bedrock"]) == written


@pytest.mark.parametrize(
    ("problem", "part"),
    [
        (Problem("acme", "did not finish within 10 s", fatal=True), "GATEWAY_PLUGIN_TIMEOUT_MS"),
        (Problem("acme", "RuntimeError", fatal=True), "plugins disable acme"),
        (Problem("b c", "RuntimeError", fatal=True), "plugins disable 'b c'"),
        (Problem("acme", "ImportError: no X from 'gateway_core'", fatal=True), "check acme"),
        (Problem("acme", "there is no hook x"), "Tell whoever wrote it"),
        (Problem("acme", "what", advice="This."), "This."),
    ],
)
def test_every_problem_has_an_advice(problem: Problem, part: str) -> None:
    assert part in trouble(problem).advice


def test_the_author_of_a_file_is_told_which_one_to_mend() -> None:
    reported = trouble(Problem("acme", "implements no hook"), "/data/plugins/acme.py")

    assert reported.advice == "Mend /data/plugins/acme.py; whatever else it brings is served."


def test_packages_that_were_only_put_beside_the_plugins_are_told(tmp_path: Path) -> None:
    folder = folder_in(tmp_path, acme=vendor("acme"))
    (folder.path / "other").mkdir()
    (folder.path / "other" / "__init__.py").touch()
    (folder.path / "more-1.0-py3-none-any.whl").touch()

    found = [
        each for each in findings(received(folder)[0], folder) if "never looked at" in each.detail
    ]

    assert [each.plugin for each in found] == ["more-1.0-py3-none-any.whl", "other"]
    assert found[1].advice == f"model-gateway plugins install {folder.path / 'other'} --into data"


def test_findings_put_what_does_not_work_first(tmp_path: Path) -> None:
    folder = folder_in(
        tmp_path, broken="raise RuntimeError", acme="from gateway_core import hookimpl"
    )
    unpack(folder.packages, files_of("msgspec", "", "0.1"))
    switch(folder, "gone", on=False)

    found = findings(received(folder)[0], folder)

    assert [(each.plugin, each.bad) for each in found] == [
        *(("broken", True), ("acme", False), ("gone", False)),
        *(("msgspec", False), ("packed", False)),
    ]
    assert all(each.advice for each in found)
    assert "never used" in found[3].detail
    assert "not installed" in found[4].detail


def test_a_sound_installation_has_no_findings(tmp_path: Path) -> None:
    loaded = load(folder=PluginFolder.of(tmp_path), allowed=frozenset({"format-openai", "echo"}))

    assert findings(build(loaded), PluginFolder.of(tmp_path)) == []
