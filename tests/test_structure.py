"""The code keeps a shape that a newcomer can take over, as the tools measure it."""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import structure  # noqa: E402  # a tool is no package

EXPLAINED = ("gateway_core/pipeline", "gateway_core/upstream", "plugins/servers", "plugins/formats")
"""Where bytes and sockets are handled."""
MOST_KERNEL_LINES = 27_906
CLASS = re.compile(r"^class ([A-Z]\w+)", re.MULTILINE)
MOST_RETURNS = 52
"""How often the way of a request comes back to a module that it has left; 51 when written."""


@cache
def figures(folder: str) -> structure.Figures:
    return structure.measure(folder, structure.modules(ROOT / folder))


@pytest.mark.parametrize("folder", EXPLAINED)
def test_orders_races_and_protocol_rules_have_a_reason(folder: str) -> None:
    assert figures(folder).comments >= 2


@pytest.mark.parametrize("folder", structure.PACKAGES)
def test_no_word_that_the_glossary_replaced_is_left(folder: str) -> None:
    assert figures(folder).words == 0


def test_the_kernel_is_small_and_its_helpers_are_shared() -> None:
    kernel = figures("gateway_core")

    assert sum(kernel.modules) <= MOST_KERNEL_LINES
    assert kernel.one_caller_share <= 10


def test_no_two_classes_of_the_kernel_have_one_name() -> None:
    files = (ROOT / "gateway_core").rglob("*.py")
    names = Counter(name for file in files for name in CLASS.findall(file.read_text("utf-8")))

    assert [name for name, count in names.items() if count > 1] == []


def test_a_requests_way_is_printed_and_grows_no_longer() -> None:
    command = [sys.executable, str(ROOT / "tools" / "request_walk.py")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    last = printed.splitlines()[-1].split()

    assert "pipeline/request_run" in printed
    assert "metering/ledger" in printed
    assert int(last[2]) <= MOST_RETURNS
