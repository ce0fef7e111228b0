"""Every process variable the gateway reads, declared once.

The declaration is the parser, the list of defaults and the reference page.
Nothing else looks at the process environment; what a vendor's own plugin
declares (``ProviderSpec.environment``) is looked up in ``Environment.variables``.
"""

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from .environment_limits import SOME_MS, LimitVariables
from .environment_proxies import in_capitals
from .variable import LIST, SWITCH, TEXT, choice, declared, variable, whole

WEEK_MS = 7 * 24 * 3600 * 1000
PORTS = whole(0, 65535)


class Mode(StrEnum):
    """How the gateway was started; it decides where the gateway listens by default."""

    CLI = "cli"
    SOURCE = "source"
    PRODUCTION = "production"
    CONTAINER = "container"


class LogLevel(StrEnum):
    DEBUG = "DEBUG"
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


class DatabaseEngine(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


class SslMode(StrEnum):
    """How a connection to PostgreSQL is protected."""

    DISABLE = "disable"
    REQUIRE = "require"
    VERIFY_FULL = "verify-full"


class Environment(LimitVariables, frozen=True, kw_only=True):
    """The process variables, read. Times are in milliseconds; ``None`` is unset."""

    mode: Annotated[
        Mode | None,
        variable(
            "GATEWAY_MODE",
            "How the gateway was started: cli, source, production or container. It decides the "
            "port and address when PORT and HOSTNAME are unset.",
            choice(Mode),
            shown_default="what the command line knows",
        ),
    ] = None
    port: Annotated[
        int | None,
        variable(
            "PORT",
            "The port to listen on; 0 takes any free one.",
            PORTS,
            shown_default="20128, or 20127 in source mode",
        ),
    ] = None
    hostname: Annotated[
        str | None,
        variable(
            "HOSTNAME",
            "The address to listen on. Container engines and some shells set it to the machine's "
            "name, so set it on purpose.",
            TEXT,
            shown_default="0.0.0.0, or 127.0.0.1 in source and production mode",
        ),
    ] = None
    data_dir: Annotated[
        str | None,
        variable(
            "DATA_DIR",
            "Where the database, the secret files and the backups are kept.",
            TEXT,
            shown_default="~/.gateway",
        ),
    ] = None
    files_dir: Annotated[
        str | None,
        variable(
            "FILES_DIR",
            "Where files and batches of clients are kept: a folder that gateways on one PostgreSQL "
            "database share.",
            TEXT,
            shown_default="`DATA_DIR`",
        ),
    ] = None
    database_engine: Annotated[
        DatabaseEngine | None,
        variable(
            "GATEWAY_DATABASE_ENGINE",
            "The database: sqlite or postgres. With postgres the gateway starts on nothing else. "
            "The file DATA_DIR/gateway-database.env wins over this and the next two.",
            choice(DatabaseEngine),
            shown_default="postgres with GATEWAY_PG_URL, else what the settings say",
        ),
    ] = None
    pg_url: Annotated[
        str | None,
        variable(
            "GATEWAY_PG_URL",
            "The URL of the PostgreSQL database, postgresql://user:password@host:port/database; "
            "it selects PostgreSQL.",
            TEXT,
            secret=True,
            shown_default="the stored setting, or the file DATA_DIR/gateway-secrets.json",
        ),
    ] = None
    pg_sslmode: Annotated[
        SslMode | None,
        variable(
            "GATEWAY_PG_SSLMODE",
            "How the connection is protected if the URL has no sslmode: disable, require or "
            "verify-full.",
            choice(SslMode),
            shown_default="require",
        ),
    ] = None
    pg_preferred_version: Annotated[
        int,
        variable(
            "GATEWAY_PG_PREFERRED_VERSION",
            "The version of PostgreSQL that is expected: 16, 17 or 18. Another one is served too, "
            "and shown as a mismatch.",
            whole(16, 18),
        ),
    ] = 18
    api_key_secret: Annotated[
        str | None,
        variable(
            "API_KEY_SECRET",
            "Signs gateway keys. Changing it makes the keys made with it invalid.",
            TEXT,
            secret=True,
            shown_default="the file DATA_DIR/api-key-secret, made on the first start",
        ),
    ] = None
    jwt_secret: Annotated[
        str | None,
        variable(
            "JWT_SECRET",
            "Signs dashboard sessions: a random text of at least 32 bytes. Without it nobody can "
            "sign in; changing it ends every session.",
            TEXT,
            secret=True,
            shown_default="the file DATA_DIR/jwt-secret of an older installation",
        ),
    ] = None
    initial_password: Annotated[
        str | None,
        variable(
            "INITIAL_PASSWORD",
            "The dashboard password until one is set in the dashboard.",
            TEXT,
            secret=True,
            shown_default="a built-in one that only this machine may sign in with, to change it",
        ),
    ] = None
    auth_cookie_secure: Annotated[
        bool,
        variable(
            "AUTH_COOKIE_SECURE",
            "Send the session cookie over https only, also where the gateway itself is reached "
            "over http.",
            SWITCH,
            shown_default="false",
        ),
    ] = False
    trust_proxy: Annotated[
        bool,
        variable(
            "TRUST_PROXY",
            "Count failed logins by the address a proxy names in X-Forwarded-For. Only for a "
            "gateway that cannot be reached past that proxy.",
            SWITCH,
            shown_default="false",
        ),
    ] = False
    machine_id_salt: Annotated[
        str,
        variable(
            "MACHINE_ID_SALT",
            "Salt of the machine id inside new gateway keys.",
            TEXT,
            secret=True,
        ),
    ] = "endpoint-proxy-salt"
    base_url: Annotated[
        str | None,
        variable("BASE_URL", "The public origin, when a proxy stands before the gateway.", TEXT),
    ] = None
    next_public_base_url: Annotated[
        str | None,
        variable("NEXT_PUBLIC_BASE_URL", "The public origin, if BASE_URL is unset.", TEXT),
    ] = None
    web_login_origin: Annotated[
        str | None,
        variable(
            "GATEWAY_WEB_LOGIN_ORIGIN",
            "Where assisted logins are served: an origin whose host name leads to the gateway and "
            "is not the dashboard's. Nothing else is served under that name; any other value "
            "leaves assisted logins off.",
            TEXT,
        ),
    ] = None
    shutdown_secret: Annotated[
        str | None,
        variable(
            "SHUTDOWN_SECRET",
            "What POST /api/shutdown wants as its bearer token; without it nobody can use that.",
            TEXT,
            secret=True,
        ),
    ] = None
    enable_translator: Annotated[
        bool,
        variable(
            "ENABLE_TRANSLATOR",
            "Serve /api/translator, which shows how requests are translated.",
            SWITCH,
            shown_default="false",
        ),
    ] = False
    strip_reasoning: Annotated[
        bool,
        variable(
            "STRIP_REASONING_CONTENT",
            "Leave thinking out of whole answers, as the header x-gateway-reasoning: off does for "
            "one request.",
            SWITCH,
            shown_default="false",
        ),
    ] = False
    proxy_test_url: Annotated[
        str,
        variable(
            "GATEWAY_PROXY_TEST_URL", "The page that is asked for to test an outbound proxy.", TEXT
        ),
    ] = "https://www.example.com/"
    log_level: Annotated[
        LogLevel,
        variable("LOG_LEVEL", "How much is logged: DEBUG, INFO, WARN or ERROR.", choice(LogLevel)),
    ] = LogLevel.INFO
    observability_enabled: Annotated[
        bool | None,
        variable(
            "OBSERVABILITY_ENABLED",
            "Keep what was said in requests, or keep nothing, whatever the setting says.",
            SWITCH,
            shown_default="the setting enableObservability, if it is stored as true",
        ),
    ] = None
    observability_max_records: Annotated[
        int | None,
        variable(
            "OBSERVABILITY_MAX_RECORDS",
            "How many requests are kept.",
            SOME_MS,
            shown_default="the setting of that name",
        ),
    ] = None
    observability_batch_size: Annotated[
        int | None,
        variable(
            "OBSERVABILITY_BATCH_SIZE",
            "How many are written at once.",
            SOME_MS,
            shown_default="the setting of that name",
        ),
    ] = None
    observability_flush_interval_ms: Annotated[
        int | None,
        variable(
            "OBSERVABILITY_FLUSH_INTERVAL_MS",
            "How long they may wait to be written.",
            SOME_MS,
            shown_default="the setting of that name",
        ),
    ] = None
    observability_max_json_size: Annotated[
        int | None,
        variable(
            "OBSERVABILITY_MAX_JSON_SIZE",
            "The longest part that is kept whole, in KiB.",
            SOME_MS,
            shown_default="the setting of that name",
        ),
    ] = None
    block_plugins: Annotated[
        tuple[str, ...],
        variable(
            "GATEWAY_BLOCK_PLUGINS", "Plugins that are not loaded, with commas between.", LIST
        ),
    ] = ()
    load_plugins: Annotated[
        tuple[str, ...],
        variable(
            "GATEWAY_LOAD_PLUGINS",
            "The only plugins that are loaded, with commas between.",
            LIST,
            shown_default="all that are installed",
        ),
    ] = ()
    trust_plugins: Annotated[
        tuple[str, ...],
        variable(
            "GATEWAY_TRUST_PLUGINS",
            "Plugins that get the whole gateway and may stand in for those that come with it, "
            "with commas between. See the page on plugins' security.",
            LIST,
        ),
    ] = ()
    plugin_timeout_ms: Annotated[
        int,
        variable(
            "GATEWAY_PLUGIN_TIMEOUT_MS",
            "How long a plugin may take to load, and for each of its hooks, until some hang: any "
            "number of them hold up a start for about twice as long.",
            SOME_MS,
        ),
    ] = 4_000
    variables: Mapping[str, str] = {}
    """Every variable of the process that is not blank, as it stands."""

    @property
    def data_path(self) -> Path:
        """The data directory, as an absolute path."""
        if self.data_dir is None:
            if sys.platform == "win32" and "APPDATA" in self.variables:
                return Path(self.variables["APPDATA"]) / "gateway"
            home = self.variables.get("HOME")
            return (Path(home) if home else Path.home()).absolute() / ".gateway"
        return Path(self.data_dir).expanduser().absolute()

    @property
    def files_path(self) -> Path:
        """The folder of files and batches, as an absolute path."""
        if self.files_dir is None:
            return self.data_path
        return Path(self.files_dir).expanduser().absolute()

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(v.field, getattr(self, v.field)) for v in VARIABLES if not v.secret]

    def __repr__(self) -> str:
        shown = ", ".join(f"{field}={value!r}" for field, value in self.__rich_repr__())
        return f"Environment({shown})"


VARIABLES = declared(Environment)
_BACKOFF = ("backoff_base_ms", "backoff_max_ms", "backoff_max_level")


def from_process() -> Environment:
    """Read this process's own variables. Raises ConfigError."""
    return from_environ(os.environ)


def from_environ(mapping: Mapping[str, str]) -> Environment:
    """Read variables. Raises ConfigError, which names the variable and what it accepts."""
    variables = {name: text for name, text in mapping.items() if text.strip()}
    named = in_capitals(variables)
    values = {v.field: v.value(named[v.name]) for v in VARIABLES if v.name in named}
    environment = Environment(**values, variables=variables)
    # A pause beyond a week is cut; limits that contradict each other count as unset.
    longest = min(environment.backoff_max_ms, WEEK_MS)
    backoff = {"backoff_max_ms": longest}
    if longest < environment.backoff_base_ms:
        backoff = {v.field: v.default for v in VARIABLES if v.field in _BACKOFF}
    return Environment(**{**values, **backoff}, variables=variables)


def reference() -> list[tuple[str, str, str]]:
    """Name, default and description of every variable, for the reference page."""
    rows = []
    for each in VARIABLES:
        default = each.shown_default
        if default is None:
            default = "unset" if each.default in (None, ()) else str(each.default)
        rows.append((each.name, default, each.description))
    return rows


def default_port(mode: Mode) -> int:
    return 20127 if mode is Mode.SOURCE else 20128


def default_host(mode: Mode) -> str:
    return "127.0.0.1" if mode in (Mode.SOURCE, Mode.PRODUCTION) else "0.0.0.0"
