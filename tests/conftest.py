"""What every test shares: no slow-start deadline for properties, and no stray environment."""

import gc
import os
import signal
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import certifi
import pytest
from hypothesis import HealthCheck, settings
from postgres_servers import make_database, shared_server

# Run in the background, a shell has its commands ignore Ctrl-C, and so would every gateway that a
# test starts and then interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# nohup does the same with a closed terminal.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# Modules are compiled once, and not anew by every process that a test starts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Authors of plugins have none of these, and each costs its import at every start.
OTHERS = ("faker", "iam", "langsmith_plugin", "schemathesis", "valkey")
options = " ".join(f"-p no:{name}" for name in OTHERS)
os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} {options}".strip()

# What tests write is gone with them: in memory, where there is room, no test waits for a disk.
MEMORY = "/dev/shm"  # noqa: S108
MUCH = 4 * 2**30


def has_room(folder: str) -> bool:
    """Whether a folder takes what a run writes, and runs what it installs."""
    if not os.access(folder, os.W_OK):
        return False
    there = os.statvfs(folder)
    return not there.f_flag & os.ST_NOEXEC and there.f_bavail * there.f_frsize > MUCH


if has_room(MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

# Whatever a test reaches is on loopback, where no public authority certifies anything, and to read
# all of theirs takes 30 ms of every client's opening. Authorities of a test's own are read as ever.
_paths = ssl.get_default_verify_paths()
PUBLIC = {certifi.where(), _paths.openssl_cafile, _paths.cafile, os.environ.get("SSL_CERT_FILE")}
_read, _read_default = (
    ssl.SSLContext.load_verify_locations,
    ssl.SSLContext.set_default_verify_paths,
)


def _read_others(
    context: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None
) -> None:
    if cafile not in PUBLIC or cadata is not None:
        _read(context, cafile, capath, cadata)


def _read_given(context: ssl.SSLContext) -> None:
    if os.environ.get("SSL_CERT_FILE") not in (*PUBLIC, None):
        _read_default(context)


ssl.SSLContext.load_verify_locations = _read_others  # type: ignore[method-assign]
ssl.SSLContext.set_default_verify_paths = _read_given  # type: ignore[method-assign]

# The first use of a text strategy in a clean checkout builds a large table.
CALM = [HealthCheck.too_slow]
settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=CALM)
# Other examples each time: HYPOTHESIS_PROFILE=explore make test
settings.register_profile("explore", deadline=None, suppress_health_check=CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


def pytest_collection_finish() -> None:
    """Tests that are collected stay to the end: no collection of garbage looks through them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _no_vendor_keys() -> None:
    """A key in the developer's own shell must not become an account in a test."""
    for name in list(os.environ):
        ends = ("_API_KEY", "_TOKEN", "_BASE_URL", "_PROXY", "_proxy")
        if name.endswith(ends) or name in ("DATA_DIR", "PORT"):
            os.environ.pop(name)


@pytest.fixture(scope="session")
def postgres(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[Callable[[str, str], str]]:
    """Makes a database of this process on the server of a version, once; gives its URL."""
    base = tmp_path_factory.getbasetemp()
    with ExitStack() as stack:
        servers, made = dict[str, str](), dict[tuple[str, str], str]()

        def make(version: str, name: str) -> str:
            if version not in servers:
                # Processes of one run have folders beside one another.
                run = base if worker_id == "master" else base.parent
                servers[version] = stack.enter_context(shared_server(version, run))
            if (version, name) not in made:
                made[version, name] = make_database(servers[version], f"{name}_{worker_id}")
            return made[version, name]

        yield make
