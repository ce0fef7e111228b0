"""One call of a vendor's own API that clients may make through the native facade, as data."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from .kinds import Kind

BodyShape = Literal["json", "form", "json or form", "none"]
"""What a client sends: JSON, a multipart form, either, or nothing."""


class Resource(Struct, frozen=True):
    """Something that a vendor keeps for an account, such as a response, a batch or a file."""

    family: str
    """What it is: ids are compared within a family only."""
    place: str
    """Where its id is. In an answer, the member, ``file.file_id``. In a request ``path.id``,
    ``query.task_id`` or ``body.voice_id``."""


class Operation(Struct, frozen=True, kw_only=True):
    """One allowed call of the native facade.

    A place of a model's name in a body is written as ``session.model``; ``requests[].params.model``
    is in each element of a list, and ``tools[advisor*].model`` in those whose ``type`` begins so.
    """

    method: str
    """The HTTP method, in upper case."""
    path: str
    """Below the vendor's origin; ``{name}`` stands for one segment."""
    kind: str | None = Kind.LLM
    """What kind of model it takes; ``None`` takes any that the vendor has."""
    format: str | None = None
    """The wire format whose headers are sent; ``None`` takes the provider's own."""
    body: BodyShape = "json"
    """What the client sends."""
    model_field: str | None = "model"
    """The body's member that names the model; ``None`` when the operation has none."""
    models: tuple[str, ...] = ()
    """Further places of the model that does the work; all of them have to name the same one."""
    nested: tuple[str, ...] = ()
    """Places of further models, which may be others."""
    pinned: bool = False
    """The call has to name its account, because the vendor keeps something there."""
    shows_account: bool = False
    """The answer names its account, for calls that follow."""
    creates: Resource | None = None
    """What a call creates; it belongs to the key that made the call."""
    uses: Resource | None = None
    """What a call is about; only its owner may make it."""
    polls: bool = False
    """The answer tells what the work on its resource has used, once that is complete."""
    uncapped_only: bool = False
    """A key with a usage cap may not make the call, because nobody counts what it uses."""
    direct: bool = False
    """The answer lets its holder talk to the vendor directly: keys with a limit may not call it.
    It is also served at its own path, without the facade's prefix."""
    with_usage: bool = False
    """A streamed call is made to report its usage, with ``stream_options.include_usage``."""
    unnamed: tuple[str, ...] = ()
    """Ids of models that the vendor does not know by name: they are left out of a form."""
    check: Callable[[Mapping[str, Any]], None] | None = None
    """Looks at a JSON body before an account is chosen. Raises BadRequest."""

    @property
    def places(self) -> tuple[str, ...]:
        """Of the model that does the work."""
        return self.models if self.model_field is None else (self.model_field, *self.models)
