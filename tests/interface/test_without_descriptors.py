"""Without a file descriptor the gateway refuses calls itself, and blames no vendor."""

import logging
from pathlib import Path

import httpx2
import pytest
from descriptor_limits import no_descriptor
from fake_vendor import MockResponse
from keyed_vendors import GOOD, Add, ask, keyed
from served_gateway import serve_gateway


def test_a_call_gets_503_once_logged_and_no_account_rests(
    tmp_path: Path, http: httpx2.Client, add_account: Add, caplog: pytest.LogCaptureFixture
) -> None:
    vendors = {"first": lambda _: MockResponse((GOOD,)), "second": lambda _: MockResponse((GOOD,))}
    with serve_gateway(tmp_path, vendors, specs=keyed) as here:
        add_account(here, "first", "a")
        add_account(here, "second", "b")
        # The client's connection is open, and nothing of the second vendor is.
        assert ask(http, here, "first/m").status_code == 200

        with caplog.at_level(logging.ERROR), no_descriptor():
            refused = [ask(http, here, "second/m") for _ in range(3)]

        assert {(each.status_code, each.headers["retry-after"]) for each in refused} == {(503, "1")}
        assert "no file descriptor free" in refused[0].json()["error"]
        lines = [each for each in caplog.records if "descriptor" in each.getMessage()]
        assert len(lines) <= 1  # another test of this process may have logged it
        assert here.gateway.core.cooldowns.all_active() == []
        assert ask(http, here, "second/m").status_code == 200
