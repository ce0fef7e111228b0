"""The settings document as it is shown, and as a change to it is read. Pure."""

from collections.abc import Mapping
from typing import Any

from gateway_core.config.settings import Settings, patchable, traits, with_defaults
from gateway_core.contracts.errors import BadRequest
from gateway_core.storage.connection import shown_and_secret

AUTO_PING = ("claudeAutoPing", "codexAutoPing")
PASSWORD = ("newPassword", "currentPassword")
BLANK_KEEPS = ("oidcClientSecret",)
"""Secrets that a form sends empty when they are not to change."""
ROUTE = "mediaRoutes"
MOST_ROUTE_MODELS = 50
LONGEST_ROUTE_MODEL = 256
_OIDC = ("oidcIssuerUrl", "oidcClientId", "oidcClientSecret")


def shown(
    document: Mapping[str, Any], settings: Settings, variables: Mapping[str, str]
) -> dict[str, Any]:
    """What the operator sees: defaults filled in, secrets out, what follows from them in."""
    sound = {name: value for name, value in document.items() if name not in settings.invalid}
    whole, declared = with_defaults(sound), traits()
    known = {
        name: value
        for name, value in whole.items()
        if name in declared and not declared[name].never
    }
    unknown = {name: value for name, value in whole.items() if name not in declared}
    return {**shown_and_secret(unknown)[0], **known, **derived(whole, variables)}


def derived(whole: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    """Facts that are shown and never stored."""
    return {
        "oidcConfigured": all(whole.get(name) for name in _OIDC),
        "hasPassword": bool(whole.get("password")),
        "mfaBackupCodesRemaining": len(whole.get("mfaBackupCodes") or ()),
        "enableRequestLogs": _is_on(variables, "ENABLE_REQUEST_LOGS"),
        "enableTranslator": _is_on(variables, "ENABLE_TRANSLATOR"),
    }


def _is_on(variables: Mapping[str, str], name: str) -> bool:
    return variables.get(name, "").strip().lower() == "true"


def changes(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a body changes, without what only a route of its own may. Raises BadRequest."""
    for name in AUTO_PING:
        if name in body:
            raise BadRequest(
                f"{name} is set for each connection: use PATCH /api/providers/{{id}}/auto-ping"
            )
    if any(name in body for name in PASSWORD):
        raise BadRequest("The password cannot be changed with the settings")
    follows = derived({}, {})
    given = {name: value for name, value in patchable(body).items() if name not in follows}
    for name in BLANK_KEEPS:
        if not given.get(name, True):
            del given[name]
    if given.get(ROUTE) is not None:
        given[ROUTE] = media_routes(given[ROUTE])
    return given


def media_routes(value: object) -> dict[str, list[str]]:
    """Each kind's models, each once. Raises BadRequest; the kinds are checked by their type."""
    if not isinstance(value, Mapping):
        raise BadRequest(f"Invalid {ROUTE}")
    return {kind: _route(models) for kind, models in value.items()}


def _route(models: object) -> list[str]:
    if not isinstance(models, list) or not all(map(_is_route_model, models)):
        raise BadRequest(f"Invalid {ROUTE}")
    once = list(dict.fromkeys(models))
    if len(once) > MOST_ROUTE_MODELS:
        raise BadRequest(f"Invalid {ROUTE}")
    return once


def _is_route_model(name: object) -> bool:
    return isinstance(name, str) and "/" in name and len(name) <= LONGEST_ROUTE_MODEL
