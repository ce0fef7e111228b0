"""What an account at this vendor holds: a service account, an access token or an API key."""

import msgspec
from msgspec import Struct

from gateway_core import Credential, UpstreamError

TOKEN_URL = "https://oauth2.googleapis.com/token"
_API_KEY_BEGINNINGS = ("AIza", "AQ.")


class ServiceAccount(Struct, frozen=True, kw_only=True):
    """The members of a service account's key file that are needed to sign in with it."""

    client_email: str
    private_key: str
    private_key_id: str | None = None
    project_id: str | None = None
    token_uri: str = TOKEN_URL

    def __repr__(self) -> str:
        return f"ServiceAccount({self.client_email!r})"


_read = msgspec.json.Decoder(ServiceAccount).decode


def service_account(credential: Credential) -> ServiceAccount | None:
    """The service account, if that is what the account holds. Raises UpstreamError."""
    key_file = credential.data.get("serviceAccount")
    secret = credential.secret or ""
    # The key file may be pasted as the account's secret.
    if not key_file and secret.lstrip().startswith("{"):
        key_file = secret
    if not key_file:
        return None
    try:
        if isinstance(key_file, str):
            return _read(key_file)
        return msgspec.convert(key_file, ServiceAccount)
    except msgspec.MsgspecError:
        # The decoder's own words are not passed on: they may quote the key.
        raise UpstreamError(
            "The account's service account is not a key file of Google Cloud", status=401
        ) from None


def is_api_key(secret: str | None) -> bool:
    """Whether this is an API key and not an access token."""
    return secret is not None and secret.startswith(_API_KEY_BEGINNINGS)
