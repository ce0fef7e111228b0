"""What the routes of the database take and give."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .import_file import TableBody

Action = Literal["export", "create", "replace", "keep"]
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


class RolledBack(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    ok: bool
    duration_ms: int
    warning: str | None = None
    """Other processes go on with PostgreSQL."""


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


class ExportQuery(Struct, frozen=True, kw_only=True, rename="camel"):
    include_secrets: bool = False
    """Credentials in the clear, sealed again by the gateway that imports them."""


class ImportBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """An exported file, and the dashboard password."""

    format: Literal["model-gateway-database"]
    schema_version: int
    exported_at: str
    secrets_included: bool
    tables: Mapping[str, TableBody]
    password: str = ""

    def __repr__(self) -> str:
        return "ImportBody()"


class Imported(Struct, frozen=True, kw_only=True):
    success: bool
    warnings: tuple[str, ...] = ()
    """What the operator has to do afterwards."""


class Selection(Struct, frozen=True, kw_only=True):
    """Providers by id, with their accounts; combos by id or name."""

    providers: tuple[str, ...] = ()
    combos: tuple[str, ...] = ()


class Bundle(Struct, frozen=True, kw_only=True, rename="camel"):
    """What ``export`` gave."""

    format: Literal["model-gateway-selection"]
    schema_version: int
    exported_at: str
    secrets_included: bool
    tables: Mapping[str, TableBody]


class SelectiveBody(Struct, frozen=True, kw_only=True, rename="camel"):
    """``preview`` says what ``export`` would give; with a bundle, what ``apply`` would do.

    An empty selection stands for everything that a bundle has.
    """

    action: Literal["catalog", "preview", "export", "apply"]
    password: str = ""
    selection: Selection = Selection()
    bundle: Bundle | UnsetType = UNSET
    include_secrets: bool = False
    acknowledge_secret_export: bool = False
    """Must be true where the export includes secrets."""

    def __repr__(self) -> str:
        return f"SelectiveBody({self.action!r})"


class Choice(Struct, frozen=True, kw_only=True):
    """A provider with so many accounts, or a combo with so many models."""

    id: str
    name: str
    count: int


class Catalog(Struct, frozen=True, kw_only=True):
    providers: tuple[Choice, ...]
    combos: tuple[Choice, ...]


class PlannedRow(Struct, frozen=True, kw_only=True, rename="camel"):
    id: str
    name: str | None
    action: Action


class PlannedAccount(PlannedRow, frozen=True, kw_only=True, rename="camel"):
    provider: str
    auth_type: str


class SelectionPlan(Struct, frozen=True, kw_only=True):
    """Names, and no secrets."""

    nodes: tuple[PlannedRow, ...]
    connections: tuple[PlannedAccount, ...]
    combos: tuple[PlannedRow, ...]


class Applied(SelectionPlan, frozen=True, kw_only=True):
    success: bool
