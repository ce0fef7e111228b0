"""Every stored setting. This declaration is the validation, the API and the reference page.

The stored document may hold keys that are not declared here; they pass through
untouched. A declared key whose stored value makes no sense counts as unset and
is named in ``Settings.invalid``, so that one bad value never stops the others.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ..contracts.errors import BadRequest
from .setting import Trait, declared, setting

AccountStrategy = Literal["fill-first", "round-robin"]
ComboOrder = Literal[
    "fallback",
    "round-robin",
    "weighted",
    "smart-scoring",
    "smart",
    "task",
    "task-aware",
    "auto",
    "fusion",
]
MediaRoute = Literal["tts", "stt", "webSearch", "webFetch", "embedding", "image", "video", "music"]
Sticky = Annotated[int, Meta(ge=1, le=10)]
Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Timeout = Annotated[int, Meta(ge=1, le=24 * 3600 * 1000)]
MAX_ERROR_RULES = 50
MIB = 1024 * 1024


class SettingsPart(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An object inside a setting."""


class ProviderStrategy(SettingsPart, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How accounts of one provider take turns; ``None`` follows the general setting."""

    fallback_strategy: AccountStrategy | None = None
    sticky_round_robin_limit: Sticky | None = None


class ContextRequirements(
    SettingsPart, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """Which members of a combo are large enough."""

    min_context_window: Annotated[int, Meta(ge=0, le=10_000_000)] | None = None
    prefer_large_context: bool = False
    context_filter_mode: Literal["strict", "lenient"] = "lenient"


class ComboStrategy(SettingsPart, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How one combo chooses; ``None`` follows the general setting."""

    fallback_strategy: ComboOrder | None = None
    sticky_round_robin_limit: Positive | None = None
    timeout_ms: Count | None = None
    """Per member; 0 is no limit."""
    judge_model: str | None = None
    context_requirements: ContextRequirements | None = None


class ErrorRule(SettingsPart, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An operator's own reading of a vendor's failure; both conditions must hold."""

    status: Annotated[int, Meta(ge=100, le=599)] | None = None
    match: str | None = None
    """Found in the error's text."""
    scope: Literal["model", "provider", "connection"] = "model"
    cooldown_ms: Count | None = None


class ModelTimeouts(SettingsPart, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How long a model may take; ``None`` follows the provider's own or the general limit."""

    timeout_ms: Timeout | None = None
    """Until the first byte of a stream, or the end of another answer."""
    stall_timeout_ms: Timeout | None = None
    """Between two pieces of an answer."""


def _first_quota_page() -> Mapping[str, Any]:
    return {
        "providerFilter": "all",
        "accountFilter": "all",
        "quotaSortMode": "default",
        "expiringFirst": False,
        "pageSize": 20,
        "page": 1,
    }


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The settings in force; ``None`` is unset."""

    require_api_key: Annotated[
        bool, setting("Refuse calls without a gateway key.", session_only=True, operator=True)
    ] = False
    expose_combo_only: Annotated[
        bool, setting("List only combos in the catalog.", session_only=True)
    ] = False
    new_keys_inference_only: Annotated[
        bool,
        setting(
            "Refuse management routes to new API keys that do not say otherwise.", operator=True
        ),
    ] = False
    refuse_unpriced_models: Annotated[
        bool,
        setting(
            "Refuse models without a known price to API keys that have a budget.", operator=True
        ),
    ] = False
    hide_paid_models: Annotated[
        bool, setting("Leave paid members of a combo out when it is called.")
    ] = False
    disabled_free_providers: Annotated[
        tuple[str, ...], setting("Providers without a key that are switched off.")
    ] = ()

    fallback_strategy: Annotated[
        AccountStrategy, setting("How the accounts of a provider take turns.")
    ] = "fill-first"
    sticky_round_robin_limit: Annotated[
        Sticky, setting("How many calls in a row stay on one account.")
    ] = 3
    provider_strategies: Annotated[
        Mapping[str, ProviderStrategy], setting("The same two, for single providers.")
    ] = {}
    combo_strategy: Annotated[ComboOrder, setting("How a combo orders its members.")] = "fallback"
    combo_sticky_round_robin_limit: Annotated[
        Positive, setting("How many calls in a row begin with one member of a combo.")
    ] = 1
    combo_strategies: Annotated[
        Mapping[str, ComboStrategy], setting("How single combos choose, by name.")
    ] = {}
    media_routes: Annotated[
        Mapping[MediaRoute, tuple[str, ...]],
        setting("Models for media calls that name none, in order, by kind."),
    ] = {}
    provider_error_rules: Annotated[
        Mapping[str, tuple[ErrorRule, ...]],
        setting("How failures of a provider are to be read; at most 50 rules in total."),
    ] = {}
    retry_delay_by_provider: Annotated[
        Mapping[str, Annotated[float, Meta(ge=0)] | Literal["auto"]],
        setting("Seconds an account rests after a failure, or auto."),
    ] = {}
    model_timeouts: Annotated[
        Mapping[str, ModelTimeouts],
        setting(
            "Other limits of time for a model, by provider/model, or for all models of a provider."
        ),
    ] = {}
    egress_bucketed_providers: Annotated[
        tuple[str, ...],
        setting("Providers whose rate limit counts for every account behind one proxy pool."),
    ] = ()
    provider_concurrency_limits: Annotated[
        Mapping[str, Count],
        setting(
            "Calls at once to a provider, by its id or prefix, in each process; others wait up to "
            "CONCURRENCY_GATE_TIMEOUT_MS for a place. 0 is no limit."
        ),
    ] = {}
    rpm_by_provider: Annotated[
        Mapping[str, Annotated[int, Meta(ge=0, le=10_000)]],
        setting(
            "Calls a minute to a provider, by its id or prefix, in each process; others get 429 "
            "with Retry-After. 0 is no limit, not even the provider's own."
        ),
    ] = {}

    outbound_proxy_enabled: Annotated[
        bool, setting("Send vendor calls through the proxy.", session_only=True, operator=True)
    ] = False
    outbound_proxy_url: Annotated[
        str,
        setting(
            "The proxy for vendor calls.",
            session_only=True,
            mask="url",
            sealed="settings",
            operator=True,
        ),
    ] = ""
    outbound_no_proxy: Annotated[
        str, setting("Hosts that are called without the proxy.", session_only=True, operator=True)
    ] = ""
    upstream_proxy_config: Annotated[
        Mapping[str, Any],
        setting("Proxies of single providers.", never=True, sealed="settings", operator=True),
    ] = {}

    require_login: Annotated[
        bool, setting("Ask for the password on the dashboard.", session_only=True, operator=True)
    ] = True
    auth_mode: Annotated[
        Literal["password", "oidc", "both"],
        setting("How the dashboard logs in.", session_only=True, operator=True),
    ] = "password"
    tunnel_dashboard_access: Annotated[
        bool,
        setting(
            "Let the dashboard be reached through the tunnel.", session_only=True, operator=True
        ),
    ] = True
    oidc_issuer_url: Annotated[
        str,
        setting("The identity provider.", session_only=True, operator=True, is_called=True),
    ] = ""
    oidc_client_id: Annotated[
        str, setting("The gateway's id there.", session_only=True, operator=True)
    ] = ""
    oidc_client_secret: Annotated[
        str, setting("The gateway's secret there.", never=True, sealed="settings", operator=True)
    ] = ""
    oidc_scopes: Annotated[
        str, setting("What is asked of it.", session_only=True, operator=True)
    ] = "openid profile email"
    oidc_login_label: Annotated[
        str, setting("The text on the login button.", session_only=True, operator=True)
    ] = "Sign in with OIDC"
    password: Annotated[
        str | None, setting("Hash of the dashboard password.", never=True, patch=False)
    ] = None
    password_session_epoch: Annotated[
        str | None, setting("Sessions of another epoch have ended.", never=True, patch=False)
    ] = None
    mfa_enabled: Annotated[bool, setting("A second factor is asked for.", patch=False)] = False
    mfa_secret: Annotated[
        str, setting("Secret of the second factor.", never=True, patch=False, sealed="mfa")
    ] = ""
    mfa_backup_codes: Annotated[
        tuple[str, ...], setting("Hashes of unused backup codes.", never=True, patch=False)
    ] = ()
    mfa_last_step: Annotated[
        int | None,
        setting("The last time step whose code was accepted.", never=True, patch=False),
    ] = None

    enable_observability: Annotated[
        bool, setting("Keep details of requests.", session_only=True)
    ] = True
    observability_max_records: Annotated[Positive, setting("How many details are kept.")] = 1000
    observability_batch_size: Annotated[Positive, setting("How many are written at once.")] = 20
    observability_flush_interval_ms: Annotated[
        Positive, setting("How long they wait to be written, milliseconds.")
    ] = 5000
    observability_max_json_size: Annotated[
        Positive, setting("The longest body that is kept, KiB.")
    ] = 5
    data_retention_enabled: Annotated[
        bool, setting("Delete old usage by itself.", operator=True)
    ] = False
    data_retention_days: Annotated[
        Annotated[int, Meta(ge=1, le=3650)],
        setting("How long usage is kept, days.", operator=True),
    ] = 30

    max_file_bytes: Annotated[
        Positive, setting("The largest file of POST /v1/files, bytes.", operator=True)
    ] = 200 * MIB
    file_quota_bytes: Annotated[
        Positive,
        setting("What the files of one key may have together, bytes.", operator=True),
    ] = 5 * 1024 * MIB
    max_files_per_key: Annotated[
        Positive, setting("How many files one key may have.", operator=True)
    ] = 10_000

    database_engine: Annotated[
        Literal["sqlite", "postgres"], setting("The database in use.", operator=True)
    ] = "sqlite"
    database_engine_error: Annotated[
        str | None, setting("Why the chosen database is not in use.", operator=True)
    ] = None
    database_cutover_at: Annotated[
        str | None, setting("When the database was changed.", operator=True)
    ] = None
    database_cutover_schema_version: Annotated[
        int | None, setting("The last migration at that time.", operator=True)
    ] = None
    postgres_url: Annotated[
        str,
        setting("Address of the PostgreSQL database.", never=True, patch=False, sealed="settings"),
    ] = ""

    tunnel_enabled: Annotated[bool, setting("The tunnel is on.")] = False
    tunnel_url: Annotated[str, setting("The tunnel's public address.", operator=True)] = ""
    tunnel_provider: Annotated[str, setting("Who runs the tunnel.")] = "cloudflare"
    tailscale_enabled: Annotated[bool, setting("Tailscale is on.")] = False
    tailscale_url: Annotated[str, setting("The address on the tailnet.", operator=True)] = ""
    cloud_enabled: Annotated[bool, setting("The remote endpoint is on.")] = False
    cloud_url: Annotated[str | None, setting("The remote endpoint.", operator=True)] = None

    rtk_enabled: Annotated[bool, setting("Whether the output of tools is compacted.")] = True
    caveman_enabled: Annotated[bool, setting("Whether terse answers are asked for.")] = False
    caveman_level: Annotated[str, setting("How terse.")] = "full"
    ponytail_enabled: Annotated[bool, setting("Whether small changes are asked for.")] = False
    ponytail_level: Annotated[str, setting("How small.")] = "full"
    headroom_enabled: Annotated[bool, setting("Whether prompts are compressed by Headroom.")] = (
        False
    )
    headroom_url: Annotated[
        str,
        setting("Where Headroom listens.", mask="url", sealed="settings", operator=True),
    ] = "http://localhost:8787"
    headroom_compress_user_messages: Annotated[
        bool, setting("Whether the user's own words are compressed too.")
    ] = False
    pxpipe_enabled: Annotated[bool, setting("Whether long text is sent as images.")] = False
    pxpipe_min_chars: Annotated[Positive | None, setting("From which length on.")] = None
    pxpipe_timeout_ms: Annotated[
        Annotated[int, Meta(ge=1000, le=120_000)] | None, setting("How long it may take.")
    ] = None
    pxpipe_allowed_models: Annotated[tuple[str, ...], setting("For which models.")] = ()
    firecrawl_base_url: Annotated[
        str, setting("Where the crawler listens.", operator=True, is_called=True)
    ] = ""
    mitm_router_base_url: Annotated[
        str, setting("Where intercepted calls are sent.", operator=True)
    ] = "http://localhost:20128"
    mitm_sudo_encrypted: Annotated[
        str | None,
        setting("Password for intercepting calls.", never=True, patch=False, sealed="settings"),
    ] = None
    dns_tool_enabled: Annotated[
        Mapping[str, Any], setting("Tools whose calls are intercepted.")
    ] = {}
    claude_classifier_compat: Annotated[
        bool | str, setting("Answer the coding client's safety probes.", session_only=True)
    ] = False
    cc_filter_naming: Annotated[bool, setting("Answer small naming probes without a vendor.")] = (
        False
    )
    quota_tracker_state: Annotated[
        Mapping[str, Any], setting("How the quota page was last shown.")
    ] = msgspec.field(default_factory=_first_quota_page)
    quota_selection: Annotated[Mapping[str, Any], setting("What the quota page shows.")] = {}

    extra: Mapping[str, Any] = {}
    """Stored keys that are not declared here, as they stand."""
    invalid: tuple[str, ...] = ()
    """Declared keys whose stored value makes no sense; their defaults are in force."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        shown = (t for t in _TRAITS.values() if not (t.never or t.sealed))
        return [(t.field, getattr(self, t.field)) for t in shown]

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"


_TRAITS: Mapping[str, Trait] = declared(Settings)


def traits() -> Mapping[str, Trait]:
    """What is known of each declared setting, by its key in the document."""
    return _TRAITS


def read_settings(document: Mapping[str, Any]) -> Settings:
    """Settings from a stored document. Never raises: see ``Settings.invalid``."""
    known = {key: value for key, value in document.items() if key in _TRAITS}
    extra = {key: value for key, value in document.items() if key not in _TRAITS}
    invalid = tuple(key for key, value in known.items() if not _is_valid(key, value))
    for key in invalid:
        del known[key]
    settings = msgspec.convert(known, Settings)
    return msgspec.structs.replace(settings, extra=extra, invalid=invalid)


def with_defaults(document: Mapping[str, Any]) -> dict[str, Any]:
    """A stored document, completed with the default of each declared key."""
    defaults = {key: trait.default for key, trait in _TRAITS.items()}
    whole: dict[str, Any] = msgspec.to_builtins({**defaults, **document})
    return whole


def check_changes(changes: Mapping[str, Any]) -> None:
    """Raise BadRequest for the first declared key whose new value makes no sense.

    ``None`` always does: it brings the default back.
    """
    for key, value in changes.items():
        if key in _TRAITS and value is not None and not _is_valid(key, value):
            raise BadRequest(f"Invalid {key}")


def patchable(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes without the keys that only a route of their own may change."""
    return {
        key: value for key, value in changes.items() if key not in _TRAITS or _TRAITS[key].patch
    }


def guarded(changes: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of these changes that an API key may not make."""
    return tuple(key for key in changes if key in _TRAITS and _TRAITS[key].operator)


def _is_valid(key: str, value: Any) -> bool:
    try:
        read = msgspec.convert(value, _TRAITS[key].type)
    except msgspec.ValidationError:
        return False
    return key != "providerErrorRules" or sum(map(len, read.values())) <= MAX_ERROR_RULES
