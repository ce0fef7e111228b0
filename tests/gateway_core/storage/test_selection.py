"""Which database is opened at the start."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import run

import pytest
from postgres_servers import VERSIONS, free_port

from gateway_core.config.data_dir import DataDir
from gateway_core.config.environment import from_environ
from gateway_core.config.errors import DatabaseUnusable, WrongMasterKey
from gateway_core.storage.stores import open_stores

pytestmark = pytest.mark.anyio

ENGINE, URL, SSL = "GATEWAY_DATABASE_ENGINE", "GATEWAY_PG_URL", "GATEWAY_PG_SSLMODE"
PLAIN = {SSL: "disable"}


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[DataDir]:
    with DataDir(tmp_path / "data") as data_dir:
        yield data_dir


@pytest.fixture
async def url(
    postgres: Callable[[str, str], str], request: pytest.FixtureRequest, tmp_path: Path
) -> str:
    """Of an empty database."""
    name = f"selection_{abs(hash(request.node.name))}"
    return await asyncio.to_thread(postgres, VERSIONS[0], name)


@pytest.fixture
def nowhere() -> str:
    return f"postgresql://u:s3cret@127.0.0.1:{free_port()}/d"


async def test_a_url_selects_postgres(data_dir: DataDir, url: str) -> None:
    environment = from_environ({URL: url, **PLAIN})
    stores = await open_stores(data_dir, environment)
    await stores.settings.patch({"cavemanLevel": "lite", "oidcClientSecret": "hush"})
    await stores.close()

    stores = await open_stores(data_dir, environment)

    assert stores.database.engine == "postgres"
    assert stores.database.selection.is_fixed
    assert (await stores.settings.read()).oidc_client_secret == "hush"
    assert not data_dir.database.exists()
    await stores.close()


@pytest.mark.parametrize("selected", ["url", "engine"])
async def test_a_start_on_postgres_alone_falls_back_to_nothing(
    data_dir: DataDir, nowhere: str, selected: str
) -> None:
    variables = {URL: nowhere} if selected == "url" else {ENGINE: "postgres"}

    with pytest.raises(DatabaseUnusable) as refused:
        await open_stores(data_dir, from_environ(variables))

    assert "s3cret" not in str(refused.value)
    assert not data_dir.database.exists()


async def test_the_engine_alone_takes_the_stored_url(data_dir: DataDir, url: str) -> None:
    stores = await open_stores(data_dir)
    await stores.settings.patch({"postgresUrl": url})
    await stores.close()

    stores = await open_stores(data_dir, from_environ({ENGINE: "postgres", **PLAIN}))

    assert stores.database.engine == "postgres"
    await stores.close()


@pytest.mark.parametrize("source", ["settings", "secrets file"])
async def test_the_stored_selection_is_followed(data_dir: DataDir, url: str, source: str) -> None:
    await _select(data_dir, url, source)

    stores = await open_stores(data_dir, from_environ(PLAIN))

    assert stores.database.engine == "postgres"
    assert not stores.database.selection.is_fixed
    await stores.close()


@pytest.mark.parametrize("source", ["settings", "secrets file", "none"])
async def test_sqlite_serves_where_the_stored_selection_cannot(
    data_dir: DataDir, nowhere: str, source: str
) -> None:
    await _select(data_dir, nowhere, source)

    stores = await open_stores(data_dir)

    assert stores.database.engine == "sqlite"
    assert stores.database.selection.is_fallback
    error = (await stores.settings.read()).database_engine_error
    assert error
    assert "s3cret" not in error
    await stores.close()


async def test_a_wish_for_sqlite_wins_over_the_stored_selection(
    data_dir: DataDir, nowhere: str
) -> None:
    await _select(data_dir, nowhere, "settings")

    stores = await open_stores(data_dir, from_environ({ENGINE: "sqlite"}))

    assert stores.database.engine == "sqlite"
    assert not stores.database.selection.is_fallback
    await stores.close()


async def test_a_gateway_with_another_master_key_is_refused(
    data_dir: DataDir, tmp_path: Path, url: str
) -> None:
    environment = from_environ({URL: url, **PLAIN})
    await (await open_stores(data_dir, environment)).close()

    with DataDir(tmp_path / "other") as other, pytest.raises(WrongMasterKey):
        await open_stores(other, environment)


def test_sqlite_does_without_the_driver(tmp_path: Path) -> None:
    program = """
import asyncio, sys
from pathlib import Path
from gateway_core.config.data_dir import DataDir
from gateway_core.storage.stores import open_stores

async def main():
    with DataDir(Path(sys.argv[1])) as data_dir:
        await (await open_stores(data_dir)).close()

asyncio.run(main())
print([name for name in sys.modules if "psycopg" in name])
"""
    command = [sys.executable, "-c", program, str(tmp_path)]

    assert run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"


async def _select(data_dir: DataDir, url: str, source: str) -> None:
    """Store that PostgreSQL is to be used."""
    stores = await open_stores(data_dir)
    changes = {"databaseEngine": "postgres"}
    if source == "settings":
        changes["postgresUrl"] = url
    elif source == "secrets file":
        (data_dir.path / "gateway-secrets.json").write_text(f'{{"postgresUrl": "{url}"}}')
    await stores.settings.patch(changes)
    await stores.close()
