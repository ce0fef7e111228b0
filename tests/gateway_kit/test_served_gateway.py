"""The public fixture: what the page shows works at an author's, and the gateway is a whole one."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from gateway_kit import ServedGateway
from starlette.responses import JSONResponse
from starlette.routing import Route
from tutorial_page import blocks

from gateway_core import Access, Guarded, hookimpl

HOME = Path(__file__).parents[2]
PAGE = HOME / "docs" / "conformance.md"
FILES = ("acme_shout.py", "test_acme_shout.py")


def test_the_example_of_the_page_passes_at_an_author(tmp_path: Path) -> None:
    for block in blocks(PAGE):
        if block.about in FILES:
            (tmp_path / block.about).write_text(block.text)

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}{os.pathsep}{HOME}"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert "4 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "warning" not in ended.stdout


@pytest.fixture(scope="module")
def routes() -> object:
    async def show(request: object) -> JSONResponse:
        return JSONResponse({"shown": True})

    def register_routes() -> list[Guarded]:
        return [Guarded(Route("/api/kit/shown", show), Access.MANAGEMENT)]

    return SimpleNamespace(register_routes=hookimpl(register_routes))


def test_routes_of_a_plugin_are_served_to_whom_they_are_for(routes: object, tmp_path: Path) -> None:
    with ServedGateway(routes, data_dir=tmp_path) as gateway:
        shown = gateway.request("GET", "/api/kit/shown", headers=gateway.operator())
        models = gateway.request("GET", "/v1/models")

        assert (shown.status, shown.json()) == (200, {"shown": True})
        assert [each["id"] for each in models.json()["data"]] == gateway.models


def test_a_vendor_of_the_plugin_is_called_with_its_key(tmp_path: Path) -> None:
    with ServedGateway("gateway_provider_groq", data_dir=tmp_path) as gateway:
        body = json.dumps({"model": gateway.models[0], "messages": [{"role": "user"}]}).encode()
        headers = {"authorization": f"Bearer {gateway.key}", "content-type": "application/json"}
        request = urllib.request.Request(f"{gateway.url}/v1/chat/completions", body, headers)

        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status == 200

        [sent], [received] = gateway.sent, gateway.received
        assert sent.url.startswith("https://api.groq.com/")
        assert received.headers["authorization"].startswith("Bearer sk-kit-")


def test_an_unknown_model_is_named(tmp_path: Path) -> None:
    unknown = pytest.raises(LookupError, match="there are kit-vendor/large")

    with ServedGateway(SimpleNamespace(), data_dir=tmp_path) as gateway, unknown:
        gateway.ask(model="acme/large")


def test_what_opening_raises_is_raised_to_the_test(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        ServedGateway("no_such_plugin_4711", data_dir=tmp_path)
