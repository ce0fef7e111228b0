"""MCP servers as programs: one that works, and others that do not.

    python mcp_program.py [good | endless | huge | silent | stubborn | noisy] [file]

``file`` gets the process's id once it runs.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def good() -> None:
    from mcp.server.mcpserver import MCPServer  # Takes long, and the bad ones need none of it.

    server = MCPServer("program")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def variable(name: str) -> str:
        """A variable of the process."""
        return os.environ.get(name, "")

    @server.tool()
    def die() -> str:
        """End the process in the middle of a call."""
        os._exit(3)

    @server.tool()
    def flood(kilobytes: int) -> str:
        """A long answer."""
        return "x" * (kilobytes * 1024)

    server.run("stdio")


def endless() -> None:
    """Prints without an end of the line, and listens to nothing."""
    while True:
        sys.stdout.write("x" * 65536)
        sys.stdout.flush()


def huge() -> None:
    """Messages of the protocol without end, none of which answers anything."""
    line = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"'
    while True:
        sys.stdout.write(f'{line}{"x" * 4096}"}}}}\n')
        sys.stdout.flush()


def silent() -> None:
    """Reads, and never answers."""
    for _ in sys.stdin:
        pass


def stubborn() -> None:
    """Never answers, outlives the end of its input and SIGTERM, and has a child that does too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    if len(sys.argv) > 2:
        Path(sys.argv[2] + ".child").write_text(str(child.pid))
    while True:
        time.sleep(60)


def noisy() -> None:
    """Works, and writes what is none of the protocol's beside it."""
    sys.stderr.write("canary in the errors\n" * 10_000)
    print("Welcome to the program!")
    print()
    sys.stdout.flush()
    good()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(str(os.getpid()))
    {
        "good": good,
        "endless": endless,
        "huge": huge,
        "silent": silent,
        "stubborn": stubborn,
        "noisy": noisy,
    }[sys.argv[1]]()
