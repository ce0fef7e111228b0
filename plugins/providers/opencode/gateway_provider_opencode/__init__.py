"""OpenCode: the Zen gateway's chat models and its decision engine, with a key and without.

API reference: https://opencode.ai/docs/zen

Its decision endpoint wants the name of a client and of a session, as its own program sends them.
"""

import secrets
import string

from msgspec.structs import replace

from gateway_core import (
    Auth,
    Call,
    Credential,
    Kind,
    Model,
    Price,
    ProviderSpec,
    Service,
    ServiceExchange,
    Target,
    hookimpl,
)
from gateway_providers import openai_compatible
from gateway_providers.services import PassThroughService

LETTERS = string.ascii_letters + string.digits
CLIENT = {"x-opencode-client": "desktop"}
BASE_URL = "https://opencode.ai/zen/v1"


def new_session() -> str:
    """An id in the shape of the vendor's own: 12 hexadecimal digits, 14 letters and digits."""
    return f"ses_{secrets.token_hex(6)}{''.join(secrets.choice(LETTERS) for _ in range(14))}"


class Decisions(PassThroughService):
    """The decision endpoint, each call in a session of its own."""

    def open(self, call: Call, target: Target, credential: Credential) -> ServiceExchange:
        exchange = super().open(call, target, credential)
        headers = {**exchange.request.headers, "x-opencode-session": new_session()}
        exchange.request = replace(exchange.request, headers=headers)
        return exchange


DECISIONS = Service(Kind.DECISION, Decisions("/systemone"))
ZEN = openai_compatible(
    ProviderSpec(
        id="opencode-zen",
        name="OpenCode Zen",
        keys_url="https://opencode.ai/auth",
        base_url=BASE_URL,
        headers=CLIENT,
        environment=("OPENCODE_API_KEY", "OPENCODE_ZEN_API_KEY"),
        passthrough_models=True,
        models=(Model("jev-1.13", kind=Kind.DECISION, price=Price(input=0.042, output=0.0)),),
        services=(DECISIONS,),
    )
)
OPENCODE = ProviderSpec(
    id="opencode",
    name="OpenCode",
    alias="oc",
    base_url=BASE_URL,
    headers=CLIENT,
    auth=Auth(type="none"),
    models=(Model("jev-1.13-free", kind=Kind.DECISION),),
    services=(DECISIONS,),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ZEN, OPENCODE]
