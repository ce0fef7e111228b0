"""Process variables and settings of the documented configuration that have no effect here.

Whoever sets a variable expects something of it, so the start is refused, unless the value asks for
what is the case anyway, or a plugin that is installed reads the variable.
"""

from collections.abc import Iterable, Mapping

from .errors import ConfigError

ON, OFF = frozenset({"true", "1", "yes", "on"}), frozenset({"false", "0", "no", "off"})
_LATER = "what it sets up is not part of this version; unset it"
_SIDECAR = "no call goes through a sidecar, so nobody is sent the manifest's address; unset it"
_PROXY = "set the setting outboundProxyUrl (PATCH /api/settings) instead"
_GUARD = "addresses are always checked; unset it"
REFUSED: Mapping[str, tuple[frozenset[str], str]] = {
    "GATEWAY_PROXY_URL": (frozenset(), _PROXY),
    "GATEWAY_NO_PROXY": (frozenset(), "set the setting outboundNoProxy instead"),
    "GATEWAY_PROXY_MANAGED": (OFF, _PROXY),
    "OUTBOUND_SSRF_GUARD_ENABLED": (ON, _GUARD),
    "VALIDATE_OUTBOUND": (ON, _GUARD),
    "GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS": (ON, "operators may always name private addresses"),
    "GATEWAY_ALLOW_LOCAL_PROVIDER_URLS": (ON, "operators may always name local addresses"),
    "PROXY_CONNECT_TIMEOUT_MS": (frozenset(), "set FETCH_CONNECT_TIMEOUT_MS"),
    "PROXY_HEADERS_TIMEOUT_MS": (frozenset(), "set STREAM_FIRST_CHUNK_TIMEOUT_MS"),
    "RESPONSE_BODY_TIMEOUT_MS": (frozenset(), "set PROVIDER_BODY_TIMEOUT_MS"),
    "MAX_PROVIDER_BODY_BYTES": (frozenset(), "the limit is 64 MiB; unset it"),
    "MAX_RESPONSES_OUTPUT_ITEMS": (frozenset(), "items are not counted; unset it"),
    "OLLAMA_LOCAL_CONNECT_TIMEOUT_MS": (frozenset(), "set FETCH_CONNECT_TIMEOUT_MS"),
    "DISABLE_BACKGROUND_TOKEN_REFRESH": (OFF, "tokens of logins are always renewed; unset it"),
    "BG_REFRESH_DELAY_MS": (frozenset(), _LATER),
    "TYPESAFE_API_KEY": (frozenset(), _LATER),
    "TYPESAFE_API_BASE": (frozenset(), _LATER),
    "MCP_GATEWAY_OAUTH_PUBLIC_URL": (frozenset(), _LATER),
    "OAUTH_PUBLIC_BASE_URL": (frozenset(), "set BASE_URL"),
    "TUNNEL_TRANSPORT_PROTOCOL": (frozenset(), _LATER),
    "CLOUDFLARED_PROTOCOL": (frozenset(), _LATER),
    "HEADROOM_URL": (frozenset(), _LATER),
    "HEADROOM_API_KEY": (frozenset(), _LATER),
    "ENABLE_REQUEST_LOGS": (OFF, "set OBSERVABILITY_ENABLED, which keeps requests in the database"),
    "GATEWAY_PROVIDER_MANIFEST_URL": (frozenset(), _SIDECAR),
    "GATEWAY_PUBLIC_PROTOCOL": (frozenset(), _SIDECAR),
    "DASHBOARD_PORT": (frozenset(), _SIDECAR),
    "API_PORT": (frozenset(), _SIDECAR),
    "SIDECAR_HOST": (frozenset(), _LATER),
    "SIDECAR_PORT": (frozenset(), _LATER),
    "AZURE_ENDPOINT": (frozenset(), "set AZURE_OPENAI_ENDPOINT"),
    "AZURE_API_VERSION": (frozenset(), "set OPENAI_API_VERSION"),
    "AZURE_DEPLOYMENT": (frozenset(), "set AZURE_OPENAI_DEPLOYMENT"),
    "AZURE_ORGANIZATION": (frozenset(), "Azure has no organizations; unset it"),
    "GATEWAY_PROXY_CLIENT_MAX_BODY_SIZE": (frozenset(), "set GATEWAY_MAX_BODY_MB"),
    "CLOUD_URL": (frozenset(), _LATER),
    "NEXT_PUBLIC_CLOUD_URL": (frozenset(), _LATER),
}
"""By name: values that ask for what is the case, in small letters, and what to do instead."""

SETTINGS = (
    *(
        "egressBucketedProviders",
        "upstreamProxyConfig",
        "tunnelEnabled",
        "tunnelProvider",
        "tailscaleEnabled",
    ),
    *("cloudEnabled", "cloudUrl", "rtkEnabled", "cavemanEnabled", "ponytailEnabled"),
    *("headroomEnabled", "pxpipeEnabled", "dnsToolEnabled", "claudeClassifierCompat"),
    "ccFilterNaming",
)
"""Settings that clients may store and nothing acts on."""


def without_effect(variables: Mapping[str, str], read: Iterable[str] = ()) -> list[str]:
    """A sentence for each variable that would be without effect; plugins read ``read``."""
    known = frozenset(read)
    return [
        f"{name} has no effect: {advice}."
        for name, (usual, advice) in REFUSED.items()
        if name in variables and name not in known and variables[name].strip().lower() not in usual
    ]


def check_supported(variables: Mapping[str, str], read: Iterable[str] = ()) -> None:
    """Raises ConfigError for the first variable that would be without effect."""
    for sentence in without_effect(variables, read):
        raise ConfigError(sentence)
