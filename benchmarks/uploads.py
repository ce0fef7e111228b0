"""What a large upload adds to the gateway's memory: ``python -m benchmarks.uploads``.

A recording goes through transcription to a vendor that reads it slowly, so that whatever the
gateway would hold of it is held at once. Printed, not timed.
"""

import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

MIB = 1024 * 1024
COMMAND = Path(sys.executable).parent / "model-gateway"
BOUNDARY = "bench-5511"
PIECE = 64 * 1024
PLUGIN = '''"""A vendor that listens.

Reference: https://example.com/
"""

from gateway_core import Auth, Kind, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

EAR = ProviderSpec(
    id="ear", name="Ear", base_url="http://127.0.0.1:PORT", auth=Auth(type="none"),
    models=(Model("m", kind=Kind.TRANSCRIPTION),),
)


@hookimpl
def register_providers():
    return [openai_compatible(EAR, services=("stt",))]
'''


class Ear(BaseHTTPRequestHandler):
    """Reads a recording and answers with its length."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        left = int(self.headers["content-length"])
        while left:
            left -= len(self.rfile.read(min(left, PIECE)))
        body = b'{"text":"%s bytes"}' % self.headers["content-length"].encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def measure(size: int = 25 * MIB) -> float:
    """MiB that one upload of so many bytes adds to the most memory the gateway had."""
    with tempfile.TemporaryDirectory() as folder:
        vendor = HTTPServer(("127.0.0.1", 0), Ear)
        threading.Thread(target=vendor.serve_forever, daemon=True).start()
        plugins = Path(folder) / "plugins"
        plugins.mkdir(mode=0o700)
        source = PLUGIN.replace("PORT", str(vendor.server_port))
        (plugins / "ear.py").write_text(source)
        environment = {**os.environ, "DATA_DIR": folder, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            [COMMAND, "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            port = _port(process)
            upload(port, PIECE)  # What the first upload imports and opens is no part of it.
            before = _peak(process.pid)
            upload(port, size)
            return _peak(process.pid) - before
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(40)
            if process.stdout is not None:
                process.stdout.close()
            vendor.shutdown()
            vendor.server_close()


def upload(port: int, size: int) -> None:
    """Send a recording of so many bytes. Raises RuntimeError unless it is transcribed."""
    head = (
        f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="model"\r\n\r\near/m\r\n'
        f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
    ).encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()

    def pieces() -> Iterator[bytes]:
        yield head
        for start in range(0, size, PIECE):
            yield bytes(min(PIECE, size - start))
        yield tail

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "content-length": str(len(head) + size + len(tail)),
    }
    connection.request("POST", "/v1/audio/transcriptions", pieces(), headers)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    if response.status != 200:
        raise RuntimeError(answer.decode("utf-8", "replace"))


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    for line in process.stdout:
        address = re.search(r"http://[0-9.]+:(\d+)", line)
        if address:
            return int(address[1])
    raise RuntimeError("the gateway did not start")


def _peak(pid: int) -> float:
    """The most memory a process has had resident, MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    match = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert match is not None
    return int(match[1]) / 1024


if __name__ == "__main__":
    print(f"a recording of 25 MiB adds {measure():.1f} MiB")
