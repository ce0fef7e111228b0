"""Three gateways in processes of their own, on one database and one Valkey, behind nginx."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from custom_node import operator
from gateway_process import Running, start
from postgres_servers import free_port

SHARED = {
    "API_KEY_SECRET": "a-canary-that-signs-keys-of-every-replica",
    "JWT_SECRET": "a-canary-that-signs-sessions-of-every-replica",
    "GATEWAY_PG_SSLMODE": "disable",
    # On a busy machine a plugin that works must not count as broken, nor a server as away.
    "GATEWAY_PLUGIN_TIMEOUT_MS": "60000",
    "PLUGIN_EXTENSION_VALKEY_WAIT_MS": "1000",
}
NGINX = "/usr/sbin/nginx"
"""Debian's; ``apt-get install nginx``."""
SETTINGS = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream gateways {{
        {servers}
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://gateways;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_next_upstream off;
        }}
    }}
}}
"""


class Trio:
    """The gateways, each with a data directory of its own."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self.folders = [folder / name for name in ("one", "two", "three")]
        self.ports = [free_port() for _ in self.folders]
        self._variables = {**SHARED, **variables}
        for each in self.folders:
            each.mkdir(mode=0o700)
            (each / "master-key").write_text("5e" * 32)
        # One after the other: the first one prepares the database.
        self.members = [self._start(number) for number in range(len(self.folders))]

    def _start(self, number: int) -> Running:
        port = str(self.ports[number])
        return start(self.folders[number], "--port", port, **self._variables)

    def kill(self, number: int) -> None:
        self.members[number].kill()
        assert self.members[number].process.stdout is not None
        self.members[number].process.stdout.close()

    def restart(self, number: int) -> None:
        self.members[number] = self._start(number)

    def ask(self, method: str, path: str, body: Any = None, number: int = 0) -> Any:
        """What one says to the operator."""
        with operator(self.members[number], self.folders[number]) as http:
            done = http.request(method, path, **({} if body is None else {"json": body}))
            assert done.status_code < 300, done.text
            return done.json()

    def add_key(self, name: str, **policy: int) -> str:
        """A key, once every gateway knows it."""
        made = self.ask("POST", "/api/keys", {"name": name, "machineId": "m", "policy": policy})
        key: str = made["key"]
        for each in self.members:
            headers = {"authorization": f"Bearer {key}"}
            url = f"{each.url}/v1/models"
            wait_for(lambda u=url, h=headers: _status(u, h) == 200)  # type: ignore[misc]
        return key

    def is_sharing(self) -> bool:
        """Whether all count together."""
        return all("notShared" not in self.health(each) for each in self.members)

    def health(self, member: Running) -> Any:
        return httpx2.get(f"{member.url}/api/health", trust_env=False, timeout=20).json()

    def close(self) -> None:
        for each in self.members:
            if each.process.poll() is None:
                each.process.terminate()
        for each in self.members:
            each.process.wait(40)
            if each.process.stdout is not None:
                each.process.stdout.close()


@contextmanager
def gateway_trio(folder: Path, variables: Mapping[str, str]) -> Iterator[Trio]:
    """Three running gateways."""
    with ExitStack() as stack:
        trio = Trio(folder, variables)
        stack.callback(trio.close)
        trio.ask("PATCH", "/api/settings", {"requireApiKey": True})
        yield trio


@contextmanager
def nginx_before(trio: Trio, folder: Path) -> Iterator[str]:
    """nginx, which gives each request to one of the gateways; its address."""
    port = free_port()
    servers = "\n".join(f"server 127.0.0.1:{each} max_fails=0;" for each in trio.ports)
    settings = SETTINGS.format(folder=folder, port=port, servers=servers)
    (folder / "nginx.conf").write_text(settings)
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    process = subprocess.Popen(command)
    try:
        wait_for(lambda: _listens(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def wait_for(reached: Callable[[], bool], seconds: float = 60) -> None:
    """Poll for what happens in another process."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.05)


def _status(url: str, headers: Mapping[str, str]) -> int:
    return httpx2.get(url, headers=headers, trust_env=False, timeout=20).status_code


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
