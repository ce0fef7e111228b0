"""A plugin with one vendor of pictures and sound, which takes forms and answers with bytes."""

from gateway_core import Auth, Kind, Model, ProviderSpec, hookimpl
from gateway_providers import openai_compatible

ID = "kit-media"
SPEAKER, PAINTER, LISTENER = "speaker", "painter", "listener"


class MediaVendor:
    """Has what the completions vendor has besides chat; it takes no key."""

    @hookimpl
    def register_providers(self) -> list[ProviderSpec]:
        spec = ProviderSpec(
            id=ID,
            name="Kit media",
            base_url="https://media.kit.example/v1",
            auth=Auth(type="none"),
            models=(
                Model(SPEAKER, kind=Kind.SPEECH),
                Model(PAINTER, kind=Kind.IMAGE),
                Model(LISTENER, kind=Kind.TRANSCRIPTION),
            ),
        )
        services = (Kind.SPEECH, Kind.IMAGE, f"{Kind.IMAGE}/edit", Kind.TRANSCRIPTION)
        return [openai_compatible(spec, services)]
