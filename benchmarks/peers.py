"""The peers: how each is started, and which requests it gets. README.md shows how to add one.

In every text of a peer these placeholders are replaced: ``{port}`` its own port,
``{vendor}`` the mock vendor's, ``{folder}`` a folder of its own, ``{bin}`` where
this Python's commands are, ``{key}`` and ``{limited_key}`` of its data directory;
in ``path``, ``model`` and ``headers`` also ``{mode}``, ``{path}`` and ``{kind}``: the vendor's
mode, its path and its dialect, ``openai`` or ``anthropic``; and ``{endpoint}``, the path that a
client of the gateway calls for the mode.
"""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

_NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr error;
events { worker_connections 16384; }
http {
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    %s
}
"""
BARE = """
    server {
        listen 127.0.0.1:{port};
        location / {
            proxy_pass http://127.0.0.1:{vendor};
            proxy_buffering off;
        }
    }
"""
KEPT_ALIVE = """
    keepalive_requests 1000000000;
    upstream vendor {
        server 127.0.0.1:{vendor};
        keepalive 1024;
        keepalive_requests 1000000000;
    }
    server {
        listen 127.0.0.1:{port} backlog=4096;
        location / {
            proxy_pass http://vendor;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_request_buffering off;
            proxy_buffering off;
        }
    }
"""
GATEWAY = ("{bin}/model-gateway", "--host", "127.0.0.1", "--port", "{port}")
KEY = {"authorization": "Bearer {key}"}
ROOT = Path(__file__).parents[1]


class Peer(Struct, frozen=True, kw_only=True):
    """A program between client and vendor. Without a command it is the vendor itself."""

    name: str
    command: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    """Text by name, written into the folder before the start."""
    variables: Mapping[str, str] = {}
    health: str | None = None
    """Answers 200 once it can be used; ``None`` waits for the port."""
    path: str = "{endpoint}"
    model: str = "{mode}/bench"
    headers: Mapping[str, str] = {}
    has_data: bool = False
    """Whether ``{folder}`` is a prepared data directory."""


def gateway(name: str, *more: str, headers: Mapping[str, str] = KEY) -> Peer:
    """The gateway, started by its command."""
    return Peer(
        name=name,
        command=(*GATEWAY, *more),
        variables={"DATA_DIR": "{folder}"},
        health="/api/health",
        headers=headers,
        has_data=True,
    )


def embedded(name: str, server: str) -> Peer:
    """The gateway embedded in a program, under another server."""
    return replace(
        gateway(name),
        command=("{bin}/python", "-m", "benchmarks.embedded", server, "{port}"),
        variables={"DATA_DIR": "{folder}", "PYTHONPATH": str(ROOT)},
    )


def floor(name: str, server: str) -> Peer:
    """A bare server over the gateway's own transport."""
    return Peer(
        name=name,
        command=("{bin}/python", "-m", "benchmarks.floor", server, "{port}", "{vendor}"),
        variables={"PYTHONPATH": str(ROOT)},
        path="{path}",
    )


def nginx(name: str, settings: str) -> Peer:
    """nginx that passes everything on to the vendor."""
    return Peer(
        name=name,
        command=("nginx", "-p", "{folder}", "-c", "{folder}/nginx.conf", "-e", "stderr"),
        files={"nginx.conf": _NGINX % settings},
        path="{path}",
    )


DIRECT = Peer(name="direct", path="{path}")
NGINX = nginx("nginx", KEPT_ALIVE)
BARE_NGINX = nginx("bare nginx", BARE)
OWN = gateway("gateway", "--server", "fast")
LIMITED = gateway(
    "gateway, limited key",
    *("--server", "fast"),
    headers={"authorization": "Bearer {limited_key}"},
)
TELEMETRY = replace(
    gateway("gateway, telemetry", "--server", "fast"),
    variables={
        "DATA_DIR": "{folder}",
        "GATEWAY_METRICS": "true",
        # Nobody collects: spans are made and encoded, and nothing else competes for the processor.
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
    },
)
ASYNCIO = gateway("gateway, asyncio", "--server", "fast", "--loop", "asyncio")
BY_HYPERCORN = gateway("gateway, hypercorn", "--server", "hypercorn")
HYPERCORN = embedded("gateway in hypercorn", "hypercorn")
UVICORN = embedded("gateway in uvicorn", "uvicorn")
FLOOR = floor("floor", "uvicorn")
HYPERCORN_FLOOR = floor("floor, hypercorn", "hypercorn")
PEERS = (
    NGINX,
    BARE_NGINX,
    FLOOR,
    OWN,
    LIMITED,
    TELEMETRY,
    ASYNCIO,
    HYPERCORN_FLOOR,
    HYPERCORN,
    BY_HYPERCORN,
    UVICORN,
    DIRECT,
)
"""All, in the order in which they take turns."""


def filled(text: str, words: Mapping[str, object]) -> str:
    """A text with its placeholders replaced; other braces stay."""
    for name, value in words.items():
        text = text.replace("{" + name + "}", str(value))
    return text
