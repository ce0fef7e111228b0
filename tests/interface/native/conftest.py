"""Fixtures of the native facade's tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fake_vendor import MockResponse, Script
from native_gateway import Native, NativeGateway, serve_native


@pytest.fixture
def native(tmp_path: Path, http: httpx2.Client) -> Iterator[Native]:
    """Serves with a script, ``{}`` for everything where there is none."""
    open_ones = []

    def begin(script: Script = lambda received: MockResponse(), **more: Any) -> NativeGateway:
        context = serve_native(tmp_path, script, http, **more)
        open_ones.append(context)
        return context.__enter__()

    yield begin
    for context in open_ones:
        context.__exit__(None, None, None)
