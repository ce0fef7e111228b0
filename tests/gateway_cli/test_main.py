"""Where the gateway listens: flags, then variables, then the mode it was started in."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from gateway_cli.main import cli, place
from gateway_cli.options import print_table
from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import from_environ
from gateway_core.storage.opening import open_storage
from gateway_core.storage.stores import open_stores

DEFAULTS = {
    "cli": ("0.0.0.0", 20128),
    "source": ("127.0.0.1", 20127),
    "production": ("127.0.0.1", 20128),
    "container": ("0.0.0.0", 20128),
}


@pytest.mark.parametrize("mode", DEFAULTS)
def test_each_mode_has_its_port_and_address(mode: str) -> None:
    assert place(from_environ({"GATEWAY_MODE": mode}), None, None) == DEFAULTS[mode]


@pytest.mark.parametrize("mode", DEFAULTS)
def test_variables_win_over_the_mode(mode: str) -> None:
    environment = from_environ({"GATEWAY_MODE": mode, "PORT": "7", "HOSTNAME": "127.0.0.9"})

    assert place(environment, None, None) == ("127.0.0.9", 7)


def test_flags_win_over_variables() -> None:
    environment = from_environ({"PORT": "7", "HOSTNAME": "127.0.0.9"})

    assert place(environment, "::1", 0) == ("::1", 0)


def test_the_machines_own_name_is_no_address_to_listen_on() -> None:
    environment = from_environ({"GATEWAY_MODE": "container", "HOSTNAME": socket.gethostname()})

    assert place(environment, None, None) == ("0.0.0.0", 20128)


def test_a_checkout_is_a_source_start() -> None:
    assert place(from_environ({}), None, None) == ("127.0.0.1", 20127)


def test_help_lists_every_flag() -> None:
    reported = CliRunner().invoke(cli, ["--help"]).output

    flags = ("--port", "-p", "--host", "-H", "--tray", "--no-browser", "--skip-update", "--help")
    assert all(flag in reported for flag in flags)
    assert all(command in reported for command in ("doctor", "plugins", "version"))


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "many")

    reported = CliRunner().invoke(cli, ["version"])

    assert reported.exit_code == 1
    assert "PORT" in reported.output


def test_a_taken_port_says_what_to_do(tmp_path: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        reported = CliRunner().invoke(
            cli, ["--host", "127.0.0.1", "--port", str(port), "--data-dir", str(tmp_path)]
        )

    assert reported.exit_code == 1
    assert "--port" in reported.output


def test_a_table_shows_brackets_and_colons_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    cell = "pip install 'model-gateway[fast]' :key:"

    print_table(("detail",), [{"detail": cell}])

    assert cell in capsys.readouterr().out


def test_doctor_tells_of_a_database_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    with DataDir(tmp_path) as data_dir:
        data_dir.mark_started()

    reported = CliRunner().invoke(cli, ["doctor", "--json"])

    [found] = [f for f in json.loads(reported.stdout) if f["check"] == "data directory"]
    assert (reported.exit_code, found["state"]) == (1, "bad")
    assert "Put the database back" in found["detail"]


def test_doctor_tells_of_a_damaged_database_and_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    database = DataDir(tmp_path).database
    database.write_bytes(b"no database at all")

    reported = CliRunner().invoke(cli, ["doctor", "--json"])

    [found] = [f for f in json.loads(reported.stdout) if f["check"] == "data directory"]
    assert found["state"] == "bad"
    assert "Put a backup in its place" in found["detail"]
    assert database.read_bytes() == b"no database at all"


def looked_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """State and detail of what the doctor finds of a data directory."""
    monkeypatch.setenv("DATA_DIR", str(path))
    reported = CliRunner().invoke(cli, ["doctor", "--json"])
    [found] = [f for f in json.loads(reported.stdout) if f["check"] == "data directory"]
    return found["state"], found["detail"]


def tree(path: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything under a path: its mode, its time and what is in it."""
    return {
        str(each.relative_to(path)): (
            each.stat().st_mode,
            each.stat().st_mtime_ns,
            each.read_bytes() if each.is_file() else b"",
        )
        for each in (path, *path.rglob("*"))
    }


def test_doctor_makes_no_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "not" / "there"

    state, detail = looked_at(path, monkeypatch)

    assert (state, detail) == ("good", f"{path} is not there yet; the first start makes it")
    assert list(tmp_path.iterdir()) == []


def test_doctor_leaves_a_data_directory_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DataDir(tmp_path) as data_dir:
        anyio.run(begun, data_dir)
    (tmp_path / "auth").rmdir()
    (tmp_path / ".machine-id.00.tmp").touch()
    tmp_path.chmod(0o755)
    before = tree(tmp_path)

    found = looked_at(tmp_path, monkeypatch)

    assert found == ("good", str(tmp_path))
    assert tree(tmp_path) == before


async def begun(data_dir: DataDir) -> None:
    """Storage as a first start leaves it."""
    storage = await open_storage(data_dir)
    await storage.database.close()


@pytest.mark.parametrize("name", ["file", "file/data"])
def test_doctor_tells_of_a_file_where_the_data_is_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "file").touch()

    state, detail = looked_at(tmp_path / name, monkeypatch)

    assert state == "bad"
    assert "cannot be used: There is a file. Set DATA_DIR to a directory" in detail


def test_doctor_reports_no_fault_of_a_running_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PORT", "0")

    with DataDir(tmp_path):
        reported = CliRunner().invoke(cli, ["doctor", "--json"])

    assert reported.exit_code == 0, reported.stdout
    [found] = [f for f in json.loads(reported.stdout) if f["check"] == "data directory"]
    assert "in use by another gateway" in found["detail"]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
@pytest.mark.parametrize("bytes_at_most", [0, 20, 40_000, 150_000])
def test_a_disk_that_takes_no_more_stops_the_start_with_advice(
    tmp_path: Path, bytes_at_most: int
) -> None:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, {(bytes_at_most,) * 2})"
    start = f"{limit}; from gateway_cli.main import cli; cli(['--port', '0'])"
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    reported = subprocess.run(
        [sys.executable, "-c", start],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert reported.returncode == 1
    assert reported.stderr.startswith("Error: ")
    assert " See that " in reported.stderr
    assert "Traceback" not in reported.stderr


def test_a_path_outside_the_management_api_is_reported() -> None:
    reported = CliRunner().invoke(cli, ["api", "GET", "keys"])

    assert reported.exit_code == 2
    assert "'keys' does not begin with /api/." in reported.output


def findings(path: Path, check: str) -> list[tuple[str, str]]:
    """State and detail of each finding of a check."""
    reported = CliRunner().invoke(cli, ["doctor", "--json"], env={"DATA_DIR": str(path)})
    return [(f["state"], f["detail"]) for f in json.loads(reported.stdout) if f["check"] == check]


@pytest.mark.parametrize(
    ("key", "words"), [(None, "is missing"), ("00" * 32, "is not the key")], ids=["gone", "wrong"]
)
def test_doctor_sees_that_the_start_will_refuse_the_master_key(
    tmp_path: Path, key: str | None, words: str
) -> None:
    async def seal() -> None:
        storage = await open_storage(data_dir)
        stored = "INSERT INTO tickets VALUES ('t', 'purpose', 'owner', 'sealed', 1, 2)"
        await storage.database.execute(stored)
        await storage.database.close()

    with DataDir(tmp_path) as data_dir:
        anyio.run(seal)
    (tmp_path / "master-key").unlink()
    if key is not None:
        (tmp_path / "master-key").write_text(key)

    [(state, detail)] = findings(tmp_path, "data directory")

    assert state == "bad"
    assert words in detail


@pytest.mark.parametrize(
    ("secret", "state"),
    [(None, "worse"), ("short", "worse"), ("change-me", "worse"), ("s3cret" * 8, "good")],
)
def test_doctor_says_whether_people_can_sign_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str | None, state: str
) -> None:
    monkeypatch.delenv("JWT_SECRET", raising=False)
    if secret is not None:
        monkeypatch.setenv("JWT_SECRET", secret)

    assert [found for found, _ in findings(tmp_path, "sessions")] == [state]


def test_doctor_names_variables_and_settings_without_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def save() -> None:
        stores = await open_stores(data_dir)
        await stores.settings.patch({"cavemanEnabled": True})
        await stores.close()

    with DataDir(tmp_path) as data_dir:
        anyio.run(save)
    monkeypatch.setenv("HEADROOM_URL", "http://x")

    variables = findings(tmp_path, "variables")

    assert any(state == "bad" and "HEADROOM_URL has no effect" in text for state, text in variables)
    assert [detail.split()[0] for _, detail in findings(tmp_path, "settings")] == ["cavemanEnabled"]
