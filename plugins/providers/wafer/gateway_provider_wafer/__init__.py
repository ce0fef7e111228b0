"""Wafer: open-weight models, over messages.

The vendor: https://wafer.ai
"""

from gateway_core import Auth, ProviderSpec, hookimpl

WAFER = ProviderSpec(
    id="wafer",
    name="Wafer",
    format="claude",
    base_url="https://pass.wafer.ai/v1",
    auth=Auth(scheme="bearer"),
    environment=("WAFER_API_KEY",),
    passthrough_models=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [WAFER]
