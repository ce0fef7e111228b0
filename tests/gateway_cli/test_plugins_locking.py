"""``plugins lock`` and ``unlock``."""

import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from drop_ins import folder_in, vendor

from gateway_cli.main import cli
from gateway_core.plugins import PluginFolder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginFolder:
    monkeypatch.setenv("GATEWAY_LOAD_PLUGINS", "format-openai,acme")
    return folder_in(tmp_path, acme=vendor("acme"))


def run(folder: PluginFolder, *words: str) -> Result:
    place = str(folder.path.parent)
    return CliRunner().invoke(cli, ["--data-dir", place, "plugins", *words])


def change(folder: PluginFolder) -> None:
    (folder.path / "acme.py").write_text(vendor("other"))


def test_a_lock_is_written_for_its_owner_alone(folder: PluginFolder) -> None:
    reported = run(folder, "lock")

    file = folder.path / "lock.json"
    assert reported.exit_code == 0
    assert "files and" in reported.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_lock_as_json_is_what_was_written(folder: PluginFolder) -> None:
    reported = run(folder, "lock", "--json")

    assert json.loads(reported.stdout) == json.loads((folder.path / "lock.json").read_text())
    assert "acme" in {plugin["name"] for plugin in json.loads(reported.stdout)["plugins"]}


def test_a_check_passes_while_nothing_differs_and_fails_when_something_does(
    folder: PluginFolder,
) -> None:
    run(folder, "lock")
    before = run(folder, "lock", "--check")
    change(folder)

    after = run(folder, "lock", "--check")

    assert (before.exit_code, before.output) == (0, "Everything is as the plugin lock has it.\n")
    assert after.exit_code == 1
    assert "acme: its files differ from the plugin lock: acme.py is changed" in after.output


def test_a_check_as_json_lists_what_differs_and_changes_nothing(folder: PluginFolder) -> None:
    run(folder, "lock")
    change(folder)

    reported = run(folder, "lock", "--check", "--json")

    assert [(each["plugin"], each["bad"]) for each in json.loads(reported.stdout)] == [
        ("acme", True)
    ]
    assert run(folder, "lock", "--check").exit_code == 1


def test_a_check_sees_what_is_kept_out_for_another_reason(folder: PluginFolder) -> None:
    run(folder, "lock")
    folder.write_json("disabled.json", {"disabled": ["acme"]})
    change(folder)

    assert run(folder, "lock", "--check").exit_code == 1


def test_a_check_without_a_lock_is_no_pass(folder: PluginFolder) -> None:
    reported = run(folder, "lock", "--check")

    assert reported.exit_code == 1
    assert "There is no plugin lock" in reported.output


def test_a_damaged_lock_fails_the_check_and_can_be_written_anew(folder: PluginFolder) -> None:
    (folder.path / "lock.json").write_text("{")

    check = run(folder, "lock", "--check")
    written = run(folder, "lock")

    assert check.exit_code == 1
    assert "lock.json cannot be read" in check.output
    assert written.exit_code == 0
    assert run(folder, "lock", "--check").exit_code == 0


def test_a_lock_that_cannot_be_written_is_told(folder: PluginFolder) -> None:
    (folder.path / "lock.json").mkdir()

    reported = run(folder, "lock")

    assert reported.exit_code == 1
    assert "lock.json" in reported.output


def test_unlocking_takes_the_lock_away(folder: PluginFolder) -> None:
    run(folder, "lock")

    first, second = run(folder, "unlock"), run(folder, "unlock")

    assert (first.output, second.output) == (
        "The plugin lock is off.\n",
        "There was no plugin lock.\n",
    )
    assert not folder.has("lock.json")


def test_unlocking_as_json_says_whether_there_was_a_lock(folder: PluginFolder) -> None:
    run(folder, "lock")

    reported = [json.loads(run(folder, "unlock", "--json").stdout) for _ in range(2)]

    assert reported == [{"changed": True}, {"changed": False}]


def test_the_list_and_the_doctor_show_what_the_lock_refuses(folder: PluginFolder) -> None:
    run(folder, "lock")
    change(folder)

    rows = {row["name"]: row for row in json.loads(run(folder, "list", "--json").stdout)}
    doctor = run(folder, "doctor")

    assert rows["acme"]["state"] == "refused by the lock"
    assert doctor.exit_code == 1
    assert "bad   acme: is not loaded: its files differ" in doctor.output
