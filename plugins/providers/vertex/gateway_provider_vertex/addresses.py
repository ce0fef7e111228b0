"""Where a model of an account is called."""

import re
from urllib.parse import quote

from gateway_core import Credential, Target, UpstreamError

from .accounts import is_api_key, service_account

GLOBAL = "global"
_SEVERAL_REGIONS = ("us", "eu")
_LOCATION = re.compile(r"[a-z0-9-]+")


def address(target: Target, credential: Credential, path: str) -> str:
    """The whole URL of a call. Raises UpstreamError when the account does not say where."""
    own = _text(credential, "baseUrl")
    if own is not None:
        return own.rstrip("/") + path
    project = _text(credential, "project")
    if project is None and is_api_key(credential.secret):
        # Express mode: https://cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode/overview
        return f"https://{host(GLOBAL)}/v1/publishers/google{path}"
    if project is None:
        account = service_account(credential)
        if account is None or account.project_id is None:
            raise UpstreamError("The account names no project; save one as project in its data")
        project = account.project_id
    location = _text(credential, "location") or GLOBAL
    if not _LOCATION.fullmatch(location):
        raise UpstreamError("The account's location is not a location of Google Cloud")
    home = f"/v1/projects/{quote(project, safe=':')}/locations/{location}"
    return f"https://{host(location)}{home}/publishers/google{path}"


def host(location: str) -> str:
    """The API's name for a location."""
    if location == GLOBAL:
        return "aiplatform.googleapis.com"
    if location in _SEVERAL_REGIONS:
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


def _text(credential: Credential, name: str) -> str | None:
    value = credential.data.get(name)
    return value if isinstance(value, str) and value else None
