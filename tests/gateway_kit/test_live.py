"""The live tier asks what the plugin names: here a vendor on loopback stands for the real one."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from gateway_kit.mock_vendor import CONTENTS, DialectScript, MockVendor
from gateway_kit.providers.conformance_options import ConformanceOptions
from gateway_kit.results import check, find

from gateway_administration.plugins.tiers import Tier

PLUGIN = '''"""Near: a vendor on this machine.

API reference: https://docs.near.example/api
"""

from gateway_core import Auth, Model, ProviderSpec, hookimpl


@hookimpl
def register_providers():
    return [
        ProviderSpec(
            id="near",
            name="Near",
            base_url="URL/v1",
            auth=Auth(scheme="bearer"),
            environment=("NEAR_API_KEY",),
            models=(Model("near-large"),),
        )
    ]
'''
TESTS = '''"""Near keeps to what the gateway asks."""

from gateway_kit import live_provider_cases

test_live = live_provider_cases("gateway_provider_near")
'''
KEY = "near-key-5511"
UNASKED = ConformanceOptions(answers_itself=("near",))
"""Leaves the cases with the mock vendor out, to be quick."""


@contextmanager
def vendor(answering: DialectScript) -> Iterator[MockVendor]:
    """Served by a thread of its own, as another process would."""
    loop, served = asyncio.new_event_loop(), MockVendor(answering)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(served.open(), loop).result(5)
        yield served
    finally:
        asyncio.run_coroutine_threadsafe(served.aclose(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def write(folder: Path, served: MockVendor) -> None:
    (folder / "gateway_provider_near.py").write_text(PLUGIN.replace("URL", served.url))
    (folder / "test_live.py").write_text(TESTS)


def ran(folder: Path, *options: str) -> str:
    """What pytest says at an author's who has a key."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs"]
    ended = subprocess.run(
        [*command, "--rootdir", str(folder), str(folder / "test_live.py"), *options],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTEST_ADDOPTS": os.environ["PYTEST_ADDOPTS"],
            "PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[2])]),
            "NEAR_API_KEY": KEY,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.stdout + ended.stderr


def test_with_live_and_a_key_the_vendor_is_asked_whole_and_streamed(tmp_path: Path) -> None:
    with vendor(DialectScript()) as served:
        write(tmp_path, served)

        written = ran(tmp_path, "--live")

    assert "2 passed" in written, written
    assert [received.json()["stream"] for received in served.received] == [False, True]
    assert {received.headers["authorization"] for received in served.received} == {f"Bearer {KEY}"}


def test_without_live_the_vendor_is_left_alone(tmp_path: Path) -> None:
    with vendor(DialectScript()) as served:
        write(tmp_path, served)

        written = ran(tmp_path)

    assert "asks the vendor only with --live" in written, written
    assert served.received == []


@pytest.fixture
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NEAR_API_KEY", KEY)
    yield tmp_path
    sys.modules.pop("gateway_provider_near", None)


def test_results_tell_that_the_vendor_was_seen_to_answer(importable: Path) -> None:
    with vendor(DialectScript(content=CONTENTS["text"])) as served:
        write(importable, served)

        results = check(find("gateway_provider_near"), options=UNASKED, live=True)

    assert results.failures == ()
    assert results.live


def test_a_vendor_that_refuses_costs_the_highest_tier_alone(importable: Path) -> None:
    with vendor(DialectScript(fault="401")) as served:
        write(importable, served)

        results = check(find("gateway_provider_near"), options=UNASKED, live=True)

    reported = [failure.message for failure in results.failures]
    assert [message for message in reported if "Incorrect API key" not in message] == []
    assert (len(results.failures), results.live) == (2, False)
    assert {failure.tier for failure in results.failures} == {Tier.PLATINUM}
