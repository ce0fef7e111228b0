"""Which database a gateway starts with: what the managed file and the process variables ask for.

```text
DATA_DIR/gateway-database.env ──▶ process variables ──▶ the stored settings ──▶ gateway-secrets.json
```

A URL, or the engine ``postgres``, means that nothing but PostgreSQL will do.
"""

from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from msgspec import Struct

from .data_dir import DataDir
from .environment import DatabaseEngine, Environment, SslMode
from .errors import ConfigError, DatabaseUnusable

MANAGED = "gateway-database.env"
LEGACY = "gateway-secrets.json"
ENGINE, URL, SSLMODE = NAMES = (
    *("GATEWAY_DATABASE_ENGINE", "GATEWAY_PG_URL", "GATEWAY_PG_SSLMODE"),
)
DEFAULT_SSLMODE = SslMode.REQUIRE
_SCHEMES = ("postgres", "postgresql")


class DatabaseChoice(Struct, frozen=True, kw_only=True):
    """What is asked for before the database is open."""

    engine: Literal["sqlite", "postgres"] | None
    """``None`` leaves it to the stored settings."""
    url: str = ""
    """With its password; empty where the stored settings are to have it."""
    sslmode: str = ""
    """For a URL that names none."""


def choose_database(data_dir: DataDir, environment: Environment) -> DatabaseChoice:
    """What the managed file and the variables ask for. Raises ConfigError."""
    values = effective(read_managed(data_dir), environment)
    sslmode = values.get(SSLMODE, "")
    if sslmode and sslmode not in list(SslMode):
        raise ConfigError(f"{SSLMODE} in {MANAGED} takes one of {', '.join(SslMode)}.")
    if url := values.get(URL, ""):
        return DatabaseChoice(engine="postgres", url=url, sslmode=sslmode)
    engine = values.get(ENGINE, "").lower()
    if engine and engine not in list(DatabaseEngine):
        raise ConfigError(f"{ENGINE} in {MANAGED} takes one of {', '.join(DatabaseEngine)}.")
    return DatabaseChoice(engine=DatabaseEngine(engine).value if engine else None, sslmode=sslmode)


def effective(managed: Mapping[str, str], environment: Environment) -> Mapping[str, str]:
    """The three variables, with those of the managed file before those of the process."""
    if managed.get(ENGINE, "").lower() == DatabaseEngine.SQLITE:
        return {ENGINE: DatabaseEngine.SQLITE}
    process = {name: text for name in NAMES if (text := environment.variables.get(name))}
    return {**process, **managed}


def read_managed(data_dir: DataDir) -> Mapping[str, str]:
    """The managed file's variables; empty where there is none. Raises DataDirUnusable."""
    content = data_dir.read(MANAGED) or b""
    pairs = (line.partition("=") for line in content.decode("utf-8", "replace").splitlines())
    values = {name.strip(): value.strip() for name, _, value in pairs}
    return {name: values[name] for name in NAMES if values.get(name)}


def write_managed(data_dir: DataDir, values: Mapping[str, str]) -> None:
    """Write the managed file. Raises ValueError for a value that would not be read back."""
    for name, value in values.items():
        if name not in NAMES or any(mark in value for mark in "\r\n\0"):
            raise ValueError(f"{name} has a value that cannot be written")
    data_dir.write(MANAGED, "".join(f"{n}={v}\n" for n, v in values.items()).encode())


def legacy_url(data_dir: DataDir) -> str:
    """The URL in the secrets file of an older installation, or an empty text."""
    try:
        secrets = msgspec.json.decode(data_dir.read(LEGACY) or b"{}")
    except msgspec.MsgspecError:
        return ""
    url = secrets.get("postgresUrl") if isinstance(secrets, dict) else None
    return url if isinstance(url, str) else ""


def complete_url(url: str, sslmode: str = "") -> str:
    """A URL that names its sslmode. Raises DatabaseUnusable for one that is none."""
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound:
        raise DatabaseUnusable("The URL of a PostgreSQL database begins with postgresql:// .")
    if "sslmode" in parse_qs(parts.query):
        return url
    more = urlencode({"sslmode": sslmode or DEFAULT_SSLMODE.value})
    return parts._replace(query="&".join(filter(None, (parts.query, more)))).geturl()
