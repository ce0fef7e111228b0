"""Where the gateway listens: flags, then variables, then the mode it was started in."""

import socket

import pytest
from click.testing import CliRunner

from gateway_core.cli import cli, place
from gateway_core.config.environment import from_environ

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
    told = CliRunner().invoke(cli, ["--help"]).output

    flags = ("--port", "-p", "--host", "-H", "--tray", "--no-browser", "--skip-update", "--help")
    assert all(flag in told for flag in flags)
    assert all(command in told for command in ("doctor", "plugins", "version"))


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "many")

    told = CliRunner().invoke(cli, ["version"])

    assert told.exit_code == 1
    assert "PORT" in told.output


def test_a_taken_port_says_what_to_do(tmp_path: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = CliRunner().invoke(
            cli, ["--host", "127.0.0.1", "--port", str(port), "--data-dir", str(tmp_path)]
        )

    assert told.exit_code == 1
    assert "--port" in told.output
