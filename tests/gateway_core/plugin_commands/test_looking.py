"""``plugins list``, ``info`` and ``doctor``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from drop_ins import folder_in, vendor

from gateway_core.cli import cli
from gateway_core.plugins import PluginFolder
from gateway_core.plugins.switches import switch

BROKEN = "print('at import')\nraise RuntimeError('no luck')"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    monkeypatch.setenv("GATEWAY_LOAD_PLUGINS", "format-openai,acme,broken")
    monkeypatch.setenv("COLUMNS", "120")
    return folder_in(tmp_path, acme=vendor("acme"), broken=BROKEN)


def run(folder: PluginFolder, *words: str) -> Result:
    place = str(folder.path.parent)
    return CliRunner().invoke(cli, ["--data-dir", place, "plugins", *words])


def test_the_list_has_a_line_for_each_plugin_and_its_problems_below(folder: PluginFolder) -> None:
    told = run(folder, "list")

    assert told.exit_code == 0
    [line] = [line for line in told.stdout.splitlines() if line.strip().startswith("acme")]
    assert line.split() == ["acme", "None", "file", "loaded", "unchecked", "acme"]
    assert "broken: could not be loaded: RuntimeError: no luck" in told.stdout
    assert "plugins disable broken" in told.stdout


def test_the_list_as_json_is_json_whatever_a_plugin_prints(folder: PluginFolder) -> None:
    told = run(folder, "list", "--json")

    rows = {row["name"]: row for row in json.loads(told.stdout)}
    assert rows["acme"]["origin"] == "file"
    assert rows["acme"]["brings"] == ["acme"]
    assert rows["acme"]["enabled"] is True
    assert rows["broken"]["problems"][0]["fatal"] is True
    assert rows["openai"]["state"] == "not on the allow list"


def test_info_shows_what_is_known_and_nothing_that_is_not(folder: PluginFolder) -> None:
    told = run(folder, "info", "acme")

    lines = dict(line.split(": ", 1) for line in told.stdout.splitlines())
    facts = {name: value.strip() for name, value in lines.items()}
    assert facts["hosts"] == "api.acme.example"
    assert facts["summary"] == "acme, a vendor."
    assert facts["variables"] == "acme_KEY"
    assert "license" not in facts
    assert "None" not in told.stdout


def test_info_as_json_has_every_member(folder: PluginFolder) -> None:
    told = json.loads(run(folder, "info", "broken", "--json").stdout)

    assert told["state"] == "failed"
    assert told["hooks"] == []
    assert told["package"]["summary"] is None


def test_info_about_nothing_names_the_nearest(folder: PluginFolder) -> None:
    told = run(folder, "info", "acne")

    assert told.exit_code == 1
    assert "Did you mean acme?" in told.output


def test_the_doctor_ends_with_one_when_a_plugin_does_not_work(folder: PluginFolder) -> None:
    told = run(folder, "doctor")

    assert told.exit_code == 1
    assert "bad   broken: could not be loaded: RuntimeError: no luck" in told.stdout


def test_the_doctor_ends_well_when_all_work(folder: PluginFolder) -> None:
    switch(folder, "broken", on=False)

    told = run(folder, "doctor", "--json")

    assert told.exit_code == 0
    assert json.loads(told.stdout) == []


def test_a_drop_in_may_add_a_command(folder: PluginFolder) -> None:
    source = (
        "import click\nfrom gateway_core import hookimpl\n"
        "@click.command('wave')\ndef wave(): click.echo('Hello')\n"
        "@hookimpl\ndef register_commands(cli): cli.add_command(wave)\n"
    )
    (folder.path / "acme.py").write_text(source)

    told = CliRunner().invoke(cli, ["--data-dir", str(folder.path.parent), "wave"])

    assert told.stdout == "Hello\n"
