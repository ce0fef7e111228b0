"""Limits of the edge, from variables and from what the machine gives."""

import subprocess
import sys

import pytest

from gateway_cli import server_limits
from gateway_cli.server_limits import read_limits
from gateway_core.config.environment import from_environ


def test_variables_set_the_limits() -> None:
    received = {
        "GATEWAY_MAX_HEADER_KB": "64",
        "GATEWAY_HEADER_TIMEOUT_MS": "1000",
        "GATEWAY_BODY_TIMEOUT_MS": "2000",
        "GATEWAY_KEEP_ALIVE_TIMEOUT_MS": "3000",
        "GATEWAY_DRAIN_MS": "0",
        "GATEWAY_MAX_CONNECTIONS": "5",
    }

    found = read_limits(from_environ(received))

    assert found.head == 64 * 1024
    assert (found.head_time, found.body_silence, found.keep_alive) == (1, 2, 3)
    assert (found.drain, found.connections) == (0, 5)


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(None, 12_000), (1024, 448), (100_000, 12_000), (64, 1)]
)
def test_connections_leave_descriptors_for_other_work(
    monkeypatch: pytest.MonkeyPatch, descriptors: int | None, connections: int
) -> None:
    monkeypatch.setattr(server_limits, "raise_descriptor_limit", lambda: descriptors)

    assert read_limits(from_environ({})).connections == connections


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_soft_limit_of_descriptors_is_raised_to_the_hard_one() -> None:
    program = (
        "import resource\n"
        "from gateway_administration.machine import raise_descriptor_limit\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))\n"
        "raise_descriptor_limit()\n"
        "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)\n"
    )

    subprocess.run([sys.executable, "-c", program], check=True)
