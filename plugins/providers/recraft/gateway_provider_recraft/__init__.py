"""Recraft: pictures and vector graphics for designers.

API reference: https://www.recraft.ai/docs/api-reference/endpoints
Prices: https://www.recraft.ai/docs/api-reference/pricing

Pictures are asked for as the completions vendor has them. Its other operations, among them
changing a picture, have forms of their own and are not offered.
"""

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, hookimpl
from gateway_providers.services import completions_service


def painter(id: str, price: float) -> Model:
    return Model(id, kind=Kind.IMAGE, price=Price(units={"images": price}))


RECRAFT = ProviderSpec(
    id="recraft",
    name="Recraft",
    keys_url="https://www.recraft.ai/profile/api",
    base_url="https://external.api.recraft.ai/v1",
    auth=Auth(scheme="bearer"),
    environment=("RECRAFT_API_TOKEN",),
    passthrough_models=True,
    services=(completions_service("image"),),
    models=(painter("recraftv3", 0.04), painter("recraftv2", 0.022)),
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [RECRAFT]
