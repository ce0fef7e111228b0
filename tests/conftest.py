"""What every test shares: no slow-start deadline for properties, and no stray environment."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

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


# The first use of a text strategy in a clean checkout builds a large table.
CALM = [HealthCheck.too_slow]
settings.register_profile("house", deadline=None, derandomize=True, suppress_health_check=CALM)
# Other examples each time: HYPOTHESIS_PROFILE=explore make test
settings.register_profile("explore", deadline=None, suppress_health_check=CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


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
