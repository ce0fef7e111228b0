"""``plugins list``, ``info`` and ``doctor``."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from drop_ins import folder_in, vendor

from gateway_cli.main import cli
from gateway_cli.plugins_looking import table_lines
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
    reported = run(folder, "list")

    assert reported.exit_code == 0
    [line] = [line for line in reported.stdout.splitlines() if line.strip().startswith("acme")]
    assert line.split() == ["acme", "-", "file", "loaded", "unchecked", "acme"]
    assert (
        "broken: could not be loaded: RuntimeError: no luck (broken.py, line 2)" in reported.stdout
    )
    mend = f"Mend {folder.path / 'broken.py'}, or: model-gateway plugins disable broken"
    assert mend in reported.stdout


def test_the_list_as_json_is_json_whatever_a_plugin_prints(folder: PluginFolder) -> None:
    reported = run(folder, "list", "--json")

    rows = {row["name"]: row for row in json.loads(reported.stdout)}
    assert rows["acme"]["origin"] == "file"
    assert rows["acme"]["brings"] == ["acme"]
    assert rows["acme"]["enabled"] is True
    assert rows["broken"]["problems"][0]["fatal"] is True
    assert rows["openai"]["state"] == "not on the allow list"


def test_info_shows_what_is_known_and_nothing_that_is_not(folder: PluginFolder) -> None:
    reported = run(folder, "info", "acme")

    lines = dict(line.split(": ", 1) for line in reported.stdout.splitlines())
    facts = {name: value.strip() for name, value in lines.items()}
    assert facts["hosts"] == "api.acme.example"
    assert facts["summary"] == "acme, a vendor."
    assert facts["variables"] == "acme_KEY"
    assert "license" not in facts
    assert "None" not in reported.stdout


def test_info_as_json_has_every_member(folder: PluginFolder) -> None:
    reported = json.loads(run(folder, "info", "broken", "--json").stdout)

    assert reported["state"] == "failed"
    assert reported["hooks"] == []
    assert reported["package"]["summary"] is None


def test_info_about_nothing_names_the_nearest(folder: PluginFolder) -> None:
    reported = run(folder, "info", "acne")

    assert reported.exit_code == 1
    assert "Did you mean acme" in reported.output


def test_the_doctor_ends_with_one_when_a_plugin_does_not_work(folder: PluginFolder) -> None:
    reported = run(folder, "doctor")

    assert reported.exit_code == 1
    assert "bad   broken: could not be loaded: RuntimeError: no luck" in reported.stdout


def test_the_doctor_ends_well_when_all_work(folder: PluginFolder) -> None:
    switch(folder, "broken", on=False)

    reported = run(folder, "doctor", "--json")

    assert reported.exit_code == 0
    assert json.loads(reported.stdout) == []


def test_a_drop_in_may_add_a_command(folder: PluginFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    # As in a process of its own, whatever this one has asked for before.
    monkeypatch.setattr(cli, "has_asked", False)
    monkeypatch.setattr(cli, "commands", dict(cli.commands))
    source = (
        "import click\nfrom gateway_core import hookimpl\n"
        "@click.command('wave')\ndef wave(): click.echo('Hello')\n"
        "@hookimpl\ndef register_commands(cli): cli.add_command(wave)\n"
    )
    (folder.path / "acme.py").write_text(source)

    reported = CliRunner().invoke(cli, ["--data-dir", str(folder.path.parent), "wave"])

    assert reported.stdout == "Hello\n"


def test_a_problem_of_two_plugins_of_one_name_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_LOAD_PLUGINS", "format-openai,acme-x")
    folder = folder_in(tmp_path, **{"acme-x": vendor("acme"), "acme_x": vendor("acme")})

    reported = run(folder, "list")

    assert reported.stdout.count("its name is taken by") == 1


def test_looking_at_one_plugin_tells_nothing_of_others(folder: PluginFolder) -> None:
    reported = run(folder, "info", "acme")

    assert "Traceback" not in reported.stderr
    assert "no luck" not in reported.output


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("info", "acme")])
def test_a_damaged_file_of_switches_hides_no_plugin(
    folder: PluginFolder, words: tuple[str, ...]
) -> None:
    (folder.path / "disabled.json").write_text("{bad")

    reported = run(folder, *words)

    assert reported.exit_code == 0, reported.output
    assert "acme" in reported.stdout


def test_what_is_wrong_with_no_plugin_is_listed_too(folder: PluginFolder) -> None:
    (folder.path / "disabled.json").write_text("{bad")

    reported = run(folder, "list")

    assert "disabled.json cannot be read" in reported.stdout


ROW = {"version": None, "origin": "file", "state": "loaded", "tier": "gold"}


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["acme  -        file    loaded  gold  format abc-def, ghi"]),
        (40, ["acme  -        file    loaded  gold  format abc-def, ghi"]),
        (56, ["acme  -        file    loaded  gold  format abc-def, ghi"]),
        (55, ["acme  -        file    loaded  gold  format abc-def,", f"{'ghi':>40}"]),
    ],
)
def test_a_list_fits_its_terminal_and_breaks_no_name(width: int | None, lines: list[str]) -> None:
    row = {**ROW, "name": "acme", "brings": ("format abc-def", "ghi")}

    _, *shown = table_lines([row], width)

    assert shown == lines
