"""Process variables about size and time: what clients and vendors may take, and how long."""

from typing import Annotated

from .environment_tls import TlsVariables
from .variable import variable, whole

SOME_MS = whole(1)


class LimitVariables(TlsVariables, frozen=True, kw_only=True):
    """Times are in milliseconds."""

    max_body_mb: Annotated[
        int,
        variable(
            "GATEWAY_MAX_BODY_MB",
            "The largest request body, in MiB; more is refused.",
            whole(1, 4096),
        ),
    ] = 50
    max_file_bytes: Annotated[
        int | None,
        variable(
            "MAX_FILE_BYTES",
            "The largest file of POST /v1/files, in bytes; more is refused.",
            whole(1),
            shown_default="the setting maxFileBytes",
        ),
    ] = None
    file_quota_bytes: Annotated[
        int | None,
        variable(
            "FILE_QUOTA_BYTES",
            "What the files of one key may have together, in bytes.",
            whole(1),
            shown_default="the setting fileQuotaBytes",
        ),
    ] = None
    max_files_per_key: Annotated[
        int | None,
        variable(
            "MAX_FILES_PER_KEY",
            "How many files one key may have.",
            whole(1),
            shown_default="the setting maxFilesPerKey",
        ),
    ] = None
    max_header_kb: Annotated[
        int,
        variable(
            "GATEWAY_MAX_HEADER_KB",
            "The largest headers of a request, all together, in KiB; more is refused.",
            whole(1, 1024),
        ),
    ] = 32
    header_timeout_ms: Annotated[
        int,
        variable(
            "GATEWAY_HEADER_TIMEOUT_MS",
            "How long a client may take to send the headers of a request.",
            SOME_MS,
        ),
    ] = 10_000
    body_timeout_ms: Annotated[
        int,
        variable(
            "GATEWAY_BODY_TIMEOUT_MS",
            "How long a client may pause while it sends a body, or take nothing of an answer.",
            SOME_MS,
        ),
    ] = 30_000
    keep_alive_timeout_ms: Annotated[
        int,
        variable(
            "GATEWAY_KEEP_ALIVE_TIMEOUT_MS",
            "How long a connection without a request is kept.",
            SOME_MS,
        ),
    ] = 15_000
    realtime_max_frame_bytes: Annotated[
        int,
        variable(
            "REALTIME_MAX_FRAME_BYTES",
            "The longest message of a WebSocket, in bytes; a longer one closes it with 1009.",
            whole(1024, 64 * 1024 * 1024),
        ),
    ] = 1024 * 1024
    realtime_max_session_items: Annotated[
        int,
        variable(
            "REALTIME_MAX_SESSION_ITEMS",
            "How many items a realtime session with a chat model keeps; the oldest that is no "
            "system message is dropped for a new one.",
            whole(1, 10_000),
        ),
    ] = 100
    max_connections: Annotated[
        int,
        variable(
            "GATEWAY_MAX_CONNECTIONS",
            "How many connections of clients one process holds; never more than the limit of open "
            "files less 128.",
            whole(1),
        ),
    ] = 12_000
    drain_delay_ms: Annotated[
        int,
        variable(
            "GATEWAY_DRAIN_DELAY_MS",
            "How long the gateway still accepts requests once it is asked to stop, while "
            "`GET /api/ready` says that it drains: time for a balancer to notice.",
            whole(0),
        ),
    ] = 0
    drain_ms: Annotated[
        int,
        variable(
            "GATEWAY_DRAIN_MS",
            "How long running requests may take once the gateway is asked to stop.",
            whole(0),
        ),
    ] = 30_000
    reload_drain_ms: Annotated[
        int,
        variable(
            "GATEWAY_RELOAD_DRAIN_MS",
            "How long requests may go on in processes that a reload has replaced.",
            whole(0),
        ),
    ] = 3_600_000
    memory_mb: Annotated[
        int | None,
        variable(
            "GATEWAY_MEMORY_MB",
            "The memory the gateway may use, in MiB, all its workers together. From 80 % of it on, "
            "new inference requests get 503; from 90 % on, idle connections are closed.",
            whole(1),
            shown_default="70 % of the machine's or the container's",
        ),
    ] = None
    keepalive_ms: Annotated[
        int,
        variable(
            "SSE_KEEPALIVE_MS",
            "How long after the last byte of a stream a waiting client gets a ping; 0 sends none "
            "but the first.",
            whole(0),
        ),
    ] = 10_000
    connect_timeout_ms: Annotated[
        int,
        variable("FETCH_CONNECT_TIMEOUT_MS", "How long connecting to a vendor may take.", SOME_MS),
    ] = 60_000
    first_byte_timeout_ms: Annotated[
        int,
        variable(
            "STREAM_FIRST_CHUNK_TIMEOUT_MS",
            "How long a vendor may take until the first byte of a streamed answer. The setting "
            "modelTimeouts has others for single models.",
            SOME_MS,
        ),
    ] = 200_000
    idle_timeout_ms: Annotated[
        int,
        variable(
            "STREAM_STALL_TIMEOUT_MS", "How long a vendor may pause in a streamed answer.", SOME_MS
        ),
    ] = 360_000
    whole_timeout_ms: Annotated[
        int,
        variable(
            "PROVIDER_BODY_TIMEOUT_MS",
            "How long an answer that is not streamed may take from beginning to end.",
            SOME_MS,
        ),
    ] = 600_000
    combo_model_timeout_ms: Annotated[
        int,
        variable(
            "COMBO_MODEL_TIMEOUT_MS",
            "How long one member of a combo may take before the next is tried; 0 is no limit.",
            whole(0),
        ),
    ] = 0
    concurrency_gate_timeout_ms: Annotated[
        int,
        variable(
            "CONCURRENCY_GATE_TIMEOUT_MS",
            "How long a call waits for a place at a provider that providerConcurrencyLimits "
            "names, before it gets 429.",
            SOME_MS,
        ),
    ] = 120_000
    backoff_base_ms: Annotated[
        int,
        variable(
            "BACKOFF_BASE_MS",
            "The first cool-down after a vendor's 429; each further one doubles it.",
            whole(1),
        ),
    ] = 2_000
    backoff_max_ms: Annotated[
        int,
        variable(
            "BACKOFF_MAX_MS",
            "The longest such cool-down, at most seven days. Less than the base restores the "
            "three defaults.",
            whole(1),
        ),
    ] = 300_000
    backoff_max_level: Annotated[
        int,
        variable("BACKOFF_MAX_LEVEL", "How often a cool-down may double.", whole(1)),
    ] = 15
