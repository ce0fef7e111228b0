"""How a request would be translated for a provider, without sending it."""

from typing import Any

import msgspec
from msgspec import Struct

from gateway_core.contracts.errors import BadRequest, NoCredentials, NotAChatModel
from gateway_core.contracts.exchange import Exchange
from gateway_core.contracts.kinds import Kind
from gateway_core.contracts.provider import Call, Credential, Target
from gateway_core.contracts.wire import WireFormat
from gateway_core.pipeline.json_body import members_of
from gateway_core.pipeline.translation import Translation
from gateway_core.routing.model_resolver import resolve, serves_chat
from gateway_core.routing.snapshot import Account, ConfigSnapshot
from gateway_core.storage.stores.connection import shown_and_secret
from gateway_core.upstream.endpoints import spoken
from gateway_core.upstream.redaction import MASK

CHAT = "/v1/chat/completions"


class Draft(Struct, frozen=True):
    """A request and its target."""

    translation: Translation
    target: Target

    @property
    def vendor(self) -> WireFormat:
        return spoken(self.translation.client, self.target, self.translation.formats)

    def open(self, credential: Credential) -> Exchange:
        return self.translation.open(self.target, credential)


def read_draft(
    snapshot: ConfigSnapshot, provider: str, model: str, source: str, body: dict[str, Any], now: int
) -> Draft:
    """Read a client's body. ``source`` is its format; the completions style when empty.

    Raises BadRequest, NoCredentials.
    """
    name = model or str(body.get("model") or "")
    if not name:
        raise BadRequest("Model required")
    target = _target(snapshot, f"{provider}/{name}" if _is_bare(snapshot, provider, name) else name)
    formats = snapshot.registry.formats
    if source:
        wire = formats.get(source)
    else:
        usual = (w for w in formats.values() if any(each.path == CHAT for each in w.endpoints))
        wire = next(usual, None)
    if wire is None or wire.client is None:
        raise BadRequest(f"There is no client format {source[:64]}")
    text = msgspec.json.encode({**body, "model": name})
    call = Call(
        kind=Kind.LLM,
        format=wire.id,
        model=name,
        stream=body.get("stream") is True,
        body=text,
        members=members_of(text),
    )
    return Draft(Translation(call, formats, now), target)


def _is_bare(snapshot: ConfigSnapshot, provider: str, name: str) -> bool:
    """Whether the model's name lacks the provider's prefix."""
    names = snapshot.registry.names
    identity = names.get(provider, provider)
    return bool(provider) and names.get(name.partition("/")[0]) != identity


def _target(snapshot: ConfigSnapshot, name: str) -> Target:
    """Raises BadRequest, NoCredentials."""
    try:
        target = resolve(snapshot, name).target
    except NotAChatModel:
        prefix = name.partition("/")[0]
        spec = snapshot.registry.providers.get(snapshot.registry.names.get(prefix, prefix))
        message = f"Provider {prefix[:64]} does not serve chat requests"
        if spec is not None and serves_chat(snapshot, spec):
            message = f"{message} with this model"
        raise BadRequest(message) from None
    if target is None:
        raise BadRequest("A combo is not translated as a whole: name one of its models")
    return target


def account_for(snapshot: ConfigSnapshot, target: Target) -> Account:
    """Return the first account of the target's provider. Raises NoCredentials."""
    accounts = snapshot.accounts.get(target.provider.id, ())
    if not accounts:
        raise NoCredentials(target.provider.id)
    return accounts[0]


def mask_credential(snapshot: ConfigSnapshot, target: Target) -> Credential:
    """Return an account's credential without its secrets; a placeholder without an account."""
    accounts = snapshot.accounts.get(target.provider.id, ())
    if not accounts:
        return Credential(connection_id="", secret=MASK)
    real = accounts[0].credential
    return Credential(
        connection_id=real.connection_id,
        secret=MASK if real.secret else None,
        data=shown_and_secret(real.data)[0],
    )
