"""Executes a page of the documentation in a folder of its own.

Installing is stood for: after ``pip install -e .`` the package's folder and its entry point, as
an installer would have written it, are on PYTHONPATH, since tests install nothing into their
environment. So is ``python -m build``, since its back end may not be there: the wheel holds the
packages that ``pyproject.toml`` names. Besides that only ports differ from the page, and where
the reader's folder is.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx2
from tutorial_page import Block, commands, differs, edited, masked, pattern_of

from gateway_cli.listening import listen

HOME = "/home/you"
"""The reader's folder, on the pages."""
PORT = "8123"
"""The port, on the pages."""
PATIENCE = 20.0
"""Seconds that any step may take on a busy machine."""
BIN = Path(sys.executable).parent


class Terminal:
    """A command that keeps running, and its output since the last check."""

    def __init__(self, process: "subprocess.Popen[str]", tidy: Callable[[str], str]) -> None:
        self._process, self._tidy = process, tidy
        self._printed, self._more = "", threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def shows(self, shown: str) -> None:
        """Wait until it has printed this, and nothing before it."""
        wanted = pattern_of(shown, end="\n")
        with self._more:
            self._more.wait_for(lambda: wanted.match(self._printed.lstrip("\n")), PATIENCE)
            printed = self._printed.lstrip("\n")
            seen = wanted.match(printed)
            assert seen, f"shown:\n{shown}\nprinted:\n{printed}"
            self._printed = printed[seen.end() :]

    def stop(self) -> None:
        """Press Ctrl-C, unless it has ended."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            assert self._process.wait(PATIENCE) == 0
        self._reading.join(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._more:
                self._printed += masked(self._tidy(line)) + "\n"
                self._more.notify_all()


class Reader:
    """Executes blocks and keeps the last output."""

    def __init__(self, home: Path) -> None:
        self.home = self.here = home
        self.printed = ""
        self._site = home / "site"
        self._path: list[Path] = []
        self._terminals: list[Terminal] = []
        self._port = _free_port()

    def follow(self, block: Block) -> None:
        """Raises AssertionError when the page is wrong."""
        match block.kind, block.about:
            case "sh", "":
                self._run_all(commands(block))
            case "console", "":
                self._look_up(commands(block))
            case "text", "":
                assert not (reported := differs(self.printed, block.text)), reported
            case "text", "stopped":
                self._terminals[-1].stop()
                self._terminals[-1].shows(block.text)
            case "text", "served":
                self._terminals[-1].shows(block.text)
            case "json", "":
                assert json.loads(self.printed) == json.loads(block.text)
            case "diff", file if file:
                place = self.here / file
                place.write_text(edited(place.read_text("utf-8"), block.text), "utf-8")
            case "python" | "json", file if file:
                self._hold(self.here / file, block.text)
            case kind:
                raise AssertionError(f"nobody knows what to do with {kind}")

    def stop(self) -> None:
        for terminal in self._terminals:
            terminal.stop()

    def _hold(self, place: Path, text: str) -> None:
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        assert place.read_text("utf-8") == text

    def _run_all(self, lines: list[str]) -> None:
        self.printed = "".join(map(self._run, lines))

    def _run(self, line: str) -> str:
        """What a command prints."""
        words = shlex.split(line)
        if words[0] == "cd":
            self.here = (self.here / words[1]).resolve()
        elif words[:2] == ["pip", "install"]:
            self._installed()
        elif words[:3] == ["python", "-m", "build"]:
            self._built()
        elif words[0] == "curl":
            return self._tidy(_asked(line.replace(PORT, self._port)))
        elif " plugins dev " in line:
            self._keep_running(line)
        else:
            return self._shell(line)
        return ""

    def _look_up(self, lines: list[str]) -> None:
        """Whether the gateway's own commands have the options that they are given."""
        for line in lines:
            called, _, options = line.partition("model-gateway ")[2].partition("--")
            if called:
                words = [word for word in called.split() if word.isalpha()][:2]
                reported = self._shell(shlex.join(["model-gateway", *words, "--help"]))
                assert f"model-gateway {' '.join(words)} [OPTIONS]" in reported, reported
                assert all(
                    f"--{each.split()[0]}" in reported for each in options.split("--") if each
                )

    def _shell(self, line: str) -> str:
        ended = subprocess.run(
            ["sh", "-c", line],
            cwd=self.here,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
        )
        return self._tidy(ended.stdout)

    def _keep_running(self, line: str) -> None:
        process = subprocess.Popen(
            ["sh", "-c", line.replace(PORT, self._port).replace("model-", "exec model-", 1)],
            cwd=self.here,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._terminals.append(Terminal(process, self._tidy))

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join(map(str, self._path)),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
        }

    def _tidy(self, printed: str) -> str:
        """The output with the page's folder and port."""
        return printed.replace(str(self.home), HOME).replace(f":{self._port}", f":{PORT}")

    def _installed(self) -> None:
        """Write the files of an editable install."""
        project = tomllib.loads((self.here / "pyproject.toml").read_text("utf-8"))["project"]
        name, version = project["name"], project["version"]
        info = self._site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "WHEEL").write_text(
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        entries = project["entry-points"]["model_gateway"].items()
        rows = [f"{plugin} = {module}" for plugin, module in entries]
        (info / "entry_points.txt").write_text("\n".join(["[model_gateway]", *rows, ""]))
        (info / "RECORD").write_text("")
        self._path = [self._site, self.here]

    def _built(self) -> None:
        """Build a wheel of the project's packages, with metadata."""
        project = tomllib.loads((self.here / "pyproject.toml").read_text("utf-8"))
        packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
        [info] = self._site.iterdir()
        files = [file for package in packages for file in (self.here / package).rglob("*")]
        (self.here / "dist").mkdir()
        place = self.here / "dist" / f"{info.stem}-py3-none-any.whl"
        with zipfile.ZipFile(place, "w") as archive:
            for file in sorted(file for file in files if "__pycache__" not in file.parts):
                archive.write(file, file.relative_to(self.here))
            for name in ("METADATA", "WHEEL", "entry_points.txt", "RECORD"):
                archive.write(info / name, f"{info.name}/{name}")


def _asked(line: str) -> str:
    """What curl would print; with -i also the headers."""
    words = shlex.split(line)
    url = next(word for word in words if word.startswith("http"))
    fields = [words[n + 1] for n, word in enumerate(words) if word == "-H"]
    body = words[words.index("-d") + 1] if "-d" in words else None
    answer = httpx2.request(
        "GET" if body is None else "POST",
        url,
        content=body,
        headers=dict(field.split(": ", 1) for field in fields),
        trust_env=False,
        timeout=PATIENCE,
    )
    if "-i" not in words:
        return answer.text
    rows = [f"{name}: {value}" for name, value in answer.headers.items()]
    status = f"HTTP/1.1 {answer.status_code} {answer.reason_phrase}"
    return "\n".join([status, *rows, "", answer.text])


def _free_port() -> str:
    listener = listen("127.0.0.1", 0)
    try:
        return str(listener.getsockname()[1])
    finally:
        listener.close()
