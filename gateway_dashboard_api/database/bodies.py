"""What the routes of the database take and give."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

SslModeName = Literal["disable", "require", "verify-full"]


class TestBody(Struct, frozen=True, kw_only=True):
    url: str
    sslmode: SslModeName | None = None


class CutoverBody(Struct, frozen=True, kw_only=True, rename="camel"):
    url: str
    sslmode: SslModeName | None = None
    include_request_details: bool = False
    dry_run: bool = False
    """Look at what would be done, and do nothing."""


class RollbackBody(Struct, frozen=True, kw_only=True, rename="camel"):
    snapshot_path: str | None = None
    force: bool = False


class Tested(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    ok: bool
    latency_ms: int
    server_version: int | None = None
    error: str | None = None


class CutoverAnswer(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a cutover did; or, with ``dryRun``, what it would do."""

    ok: bool
    schema_version: int
    tables_migrated: int | None = None
    rows_migrated: int | None = None
    duration_ms: int | None = None
    snapshot_path: str | None = None
    dry_run: bool = False
    server_version: int | None = None
    latency_ms: int | None = None
    tables: tuple[dict[str, str | int], ...] = ()
    """Of a dry run: ``name`` and ``rows`` of each."""
    rows: int | None = None
    estimated_ms: int | None = None
    misfits: tuple[str, ...] = ()
    """What PostgreSQL would refuse, or change."""


class RolledBack(Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool = True
    duration_ms: int


class StartupVariable(Struct, frozen=True, kw_only=True, rename="camel"):
    source: Literal["file", "process"] | None
    has_file_value: bool
    has_process_value: bool


class Effective(Struct, frozen=True, kw_only=True):
    """What the next start uses, as far as the file and the variables say; never a password."""

    engine: str | None
    host: str | None = None
    port: int | None = None
    database: str | None = None
    user: str | None = None
    sslmode: str | None = None


class StartupEnv(Struct, frozen=True, kw_only=True):
    path: str
    exists: bool
    keys: dict[str, StartupVariable]
    effective: Effective


class StartupEnvBody(Struct, frozen=True, kw_only=True):
    """What the managed file is to select. PostgreSQL wants a host, a database and a user."""

    engine: Literal["sqlite", "postgres"]
    host: str = ""
    port: Annotated[int, Meta(ge=1, le=65535)] = 5432
    database: str = ""
    user: str = ""
    password: str = ""
    sslmode: SslModeName = "require"


class StartupEnvQuery(Struct, frozen=True, kw_only=True):
    test: Literal["0", "1"] = "0"
    """``1`` asks the server, and writes nothing."""


class StartupEnvWritten(Struct, frozen=True, kw_only=True, rename="camel"):
    ok: bool = True
    restart_required: bool = True
    startup_env: StartupEnv


class EngineStatus(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which database is served, and why."""

    active_engine: Literal["sqlite", "postgres"]
    startup_env: StartupEnv
    serving_fallback: bool
    database_engine: str
    database_engine_error: str | None
    database_cutover_at: str | None
    database_cutover_schema_version: int | None
    database_pg_version: Any = None
    database_pg_features: Any = None
    effective_capabilities: dict[str, bool] = {}
    """What depends on the version of the server; nothing does at present."""
    version_mismatch: bool = False
    """The server is of another version than GATEWAY_PG_PREFERRED_VERSION."""
    operator_disabled: tuple[str, ...] = ()
    postgres_host: Any = None
    postgres_port: Any = None
    postgres_database: Any = None
    postgres_user: Any = None
    postgres_sslmode: Any = None
    postgres_auth_source: Any = None
    snapshots: tuple[str, ...] = ()
    progress: dict[str, Any] | None = None
    """What a change under way is at."""


class EnginePatch(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    database_pg_version: int | str | None = None
    database_pg_features: Any = None
    postgres_host: str | None = None
    postgres_port: int | None = None
    postgres_database: str | None = None
    postgres_user: str | None = None
    postgres_sslmode: str | None = None
    postgres_auth_source: str | None = None


class EnginePatched(Struct, frozen=True, kw_only=True):
    ok: bool = True
    settings: Any
