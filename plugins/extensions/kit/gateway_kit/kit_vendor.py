"""A plugin with one vendor of chat completions, so that there is something to call."""

from gateway_core import Model, ProviderSpec, hookimpl

ID = "kit-vendor"
MODEL = "large"


class KitVendor:
    """The vendor beside a plugin that brings none."""

    @hookimpl
    def register_providers(self) -> list[ProviderSpec]:
        return [
            ProviderSpec(
                id=ID,
                name="Kit",
                base_url="https://api.kit.example/v1",
                models=(Model(MODEL),),
            )
        ]
