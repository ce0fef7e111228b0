"""Ask a gateway from a page of another origin, in a real browser with the OpenAI SDK.

    python tools/browser_check.py            # needs chromium, node and npm

It makes a page of ``browser/page.js`` in a temporary folder, serves it under a name of its own,
and says what the page could do and see. The exit code is 1 where that is not as it should be.
"""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from fake_vendor import Asked, Said  # noqa: E402  # a folder of tests is no package
from served_gateway import serve_gateway  # noqa: E402

from gateway_core.identity.credentials import CLI_HEADER  # noqa: E402

PACKAGES = ("openai@7", "esbuild@0.28")
NAME = "app.example"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
REPLY = (
    b'{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},'
    b'"finish_reason":"stop"}]}'
)
WITHIN = 60
"""Seconds for the browser."""


def answer(request: Asked) -> Said:
    return (
        Said.stream(EVENT, b"data: [DONE]\n\n") if request.json().get("stream") else Said((REPLY,))
    )


def make_page(folder: Path) -> bytes:
    """The script with the SDK in it."""
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES]
    subprocess.run(install, cwd=folder, check=True)
    (folder / "page.js").write_bytes((ROOT / "tools" / "browser" / "page.js").read_bytes())
    bundle = ["npx", "esbuild", "page.js", "--bundle", "--format=esm", "--outfile=made.js"]
    subprocess.run([*bundle, "--log-level=error"], cwd=folder, check=True)
    return (folder / "made.js").read_bytes()


class PageServer(ThreadingHTTPServer):
    """Serves the page, and takes what it found."""

    def __init__(self, script: bytes, settings: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        html = b"<!doctype html><script type=module src=/page.js></script>"
        self.files = {
            "/": ("text/html", html),
            "/page.js": ("text/javascript", script),
            "/settings": ("application/json", json.dumps(settings).encode()),
        }
        self.found: dict[str, Any] = {}
        self.done = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        kind, body = self.server.files.get(self.path, ("text/plain", b""))
        self.send_response(200)
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.server.found = json.loads(self.rfile.read(length))
        self.send_response(204)
        self.end_headers()
        self.server.done.set()

    def log_message(self, *words: object) -> None:
        """Nothing is logged."""


def browse(page: PageServer, folder: Path) -> dict[str, Any]:
    """What the page found in a real browser."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    flags += [f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]
    url = f"http://{NAME}:{page.server_address[1]}/"
    with subprocess.Popen(
        ["chromium", *flags, "--remote-debugging-port=0", url], stderr=subprocess.DEVNULL
    ) as browser:
        try:
            page.done.wait(WITHIN)
        finally:
            browser.terminate()
    return page.found


def faults(report: dict[str, Any]) -> list[str]:
    """What is not as it should be."""
    blocked = {"error": "TypeError", "status": None, "id": None}
    wanted = {
        "whole": lambda each: each.get("text") == "Hi" and each.get("id"),
        "stream": lambda each: each.get("text") == "Hi",
        "models": lambda each: "count" in each,
        "bad model": lambda each: each.get("status") == 404 and each.get("id"),
        "bad key": lambda each: each.get("status") == 401 and each.get("id"),
        "no key": lambda each: each == blocked,
        "management": lambda each: each == blocked,
    }
    return [name for name, is_right in wanted.items() if not is_right(report.get(name, {}))]


def main() -> int:
    with TemporaryDirectory() as made:
        folder = Path(made)
        script = make_page(folder)
        with serve_gateway(folder / "data", {"openai": answer}) as gateway:
            token = {CLI_HEADER: gateway.gateway.core.identity.cli_token}
            body = {"name": "page", "machineId": "any"}
            key = httpx2.post(f"{gateway.url}/api/keys", json=body, headers=token).json()["key"]
            settings = {"gateway": gateway.url, "key": key, "model": "v-openai/m"}
            page = PageServer(script, settings)
            threading.Thread(target=page.serve_forever, daemon=True).start()
            try:
                report = browse(page, folder)
            finally:
                page.shutdown()
                page.server_close()
    print(json.dumps(report, indent=2))
    wrong = faults(report)
    print(f"not as it should be: {', '.join(wrong)}" if wrong else "all as it should be")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
