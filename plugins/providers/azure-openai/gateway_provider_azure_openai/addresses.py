"""Where a deployment is called: the API has a version without dates and many with one."""

from urllib.parse import quote

from gateway_core import Credential, Target, UpstreamError

LAST_DATED = "2025-04-01-preview"
"""The last version that is named by a date."""
_UNDATED = ("", "v1", "latest", "preview")
_OF_DEPLOYMENT = ("/chat/", "/embeddings", "/images/", "/audio/")
"""What a dated API has below a deployment; responses name theirs in the body."""


def address(target: Target, credential: Credential, path: str) -> str:
    """The whole URL of a call. Raises UpstreamError when the account does not say where."""
    own = _text(credential, "baseUrl")
    if own:
        return own.rstrip("/") + path
    version, deployment = _text(credential, "apiVersion"), _text(credential, "deployment")
    # Whatever name reached another deployment would be permitted and priced as that name.
    if deployment and target.model.id != deployment:
        raise UpstreamError(
            f"This account calls the deployment {deployment} only; ask for it by its name",
            status=404,
        )
    if deployment and not version:
        version = LAST_DATED
    root = _text(credential, "azureEndpoint").rstrip("/")
    if not root:
        raise UpstreamError("The account names no resource; save azureEndpoint in its data")
    root = root.removesuffix("/v1").removesuffix("/openai")
    if version in _UNDATED:
        query = "?api-version=preview" if version == "preview" else ""
        return f"{root}/openai/v1{path}{query}"
    query = f"?api-version={quote(version)}"
    if not path.startswith(_OF_DEPLOYMENT):
        return f"{root}/openai{path}{query}"
    return f"{root}/openai/deployments/{quote(target.model.id, safe='')}{path}{query}"


def _text(credential: Credential, name: str) -> str:
    value = credential.data.get(name)
    return value.strip() if isinstance(value, str) else ""
