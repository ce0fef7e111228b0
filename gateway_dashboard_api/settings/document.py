"""Rendering the settings document, and reading changes to it. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from gateway_core.config.settings import Settings, patchable, traits, with_defaults
from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.stores.secret_members import is_sealed, is_secret

from ..destinations import host_and_port

AUTO_PING = ("claudeAutoPing", "codexAutoPing")
PASSWORD = ("newPassword", "currentPassword")
BLANK_KEEPS = ("oidcClientSecret",)
"""Secrets that an empty value leaves unchanged, because forms send them so."""
ROUTE = "mediaRoutes"
MOST_ROUTE_MODELS = 50
LONGEST_ROUTE_MODEL = 256
_OIDC = ("oidcIssuerUrl", "oidcClientId", "oidcClientSecret")


def render(
    document: Mapping[str, Any],
    settings: Settings,
    variables: Mapping[str, str],
    *,
    operator: bool,
) -> dict[str, Any]:
    """Render the document for a caller: with defaults and derived facts, without secrets.

    An API key, which is no ``operator``, sees less: no settings of the login,
    and addresses without user and password.
    """
    valid = {name: value for name, value in document.items() if name not in settings.invalid}
    complete, declared = with_defaults(valid), traits()
    urls = {name for name, trait in declared.items() if trait.mask == "url"}
    masked = set() if operator else urls
    known = {
        name: host_and_port(str(value)) if value and name in masked else value
        for name, value in complete.items()
        if name in declared
        and not declared[name].never
        and (operator or not declared[name].session_only)
    }
    unknown = {name: value for name, value in complete.items() if name not in declared}
    hidden = is_secret if operator else is_sealed
    return {
        **_remove_members(unknown, hidden),
        **known,
        **derive(complete, variables),
    }


def _remove_members(value: Any, hidden: Callable[[str], bool], depth: int = 8) -> Any:
    """Remove members with hidden names, in lists too."""
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        return {
            name: _remove_members(inner, hidden, depth - 1)
            for name, inner in value.items()
            if not hidden(name)
        }
    if isinstance(value, list):
        return [_remove_members(inner, hidden, depth - 1) for inner in value]
    return value


def derive(document: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    """Compute the facts that are shown and never stored."""
    return {
        "oidcConfigured": all(document.get(name) for name in _OIDC),
        "hasPassword": bool(document.get("password")),
        "mfaBackupCodesRemaining": len(document.get("mfaBackupCodes") or ()),
        "enableRequestLogs": False,  # The start refuses the variable.
        "enableTranslator": _is_on(variables, "ENABLE_TRANSLATOR"),
    }


def _is_on(variables: Mapping[str, str], name: str) -> bool:
    return variables.get(name, "").strip().lower() == "true"


def read_changes(body: Mapping[str, Any]) -> dict[str, Any]:
    """Read a change; members that have a route of their own are refused. Raises BadRequest."""
    for name in AUTO_PING:
        if name in body:
            raise BadRequest(
                f"{name} is set for each connection: use PATCH /api/providers/{{id}}/auto-ping"
            )
    follows = (*derive({}, {}), *PASSWORD)
    members = {name: value for name, value in patchable(body).items() if name not in follows}
    for name in BLANK_KEEPS:
        if not members.get(name, True):
            del members[name]
    if members.get(ROUTE) is not None:
        members[ROUTE] = check_media_routes(members[ROUTE])
    return members


def check_media_routes(value: object) -> dict[str, list[str]]:
    """Remove duplicates from each kind's models. Raises BadRequest; kinds are checked elsewhere."""
    if not isinstance(value, Mapping):
        raise BadRequest(f"Invalid {ROUTE}")
    routes = {}
    for kind, models in value.items():
        if not isinstance(models, list):
            raise BadRequest(f"Invalid {ROUTE}")
        for name in models:
            if not isinstance(name, str) or "/" not in name or len(name) > LONGEST_ROUTE_MODEL:
                raise BadRequest(f"Invalid {ROUTE}")
        routes[kind] = list(dict.fromkeys(models))
        if len(routes[kind]) > MOST_ROUTE_MODELS:
            raise BadRequest(f"Invalid {ROUTE}")
    return routes
