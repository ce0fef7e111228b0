"""What an operator sets."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Scope = Literal["key", "group", "all"]
Names = Annotated[tuple[str, ...], Meta(max_length=100)]


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which answers are kept, for whom and for how long."""

    enabled: Annotated[bool, Meta(description="Whether answers are kept and given again.")] = False
    models: Annotated[
        Names,
        Meta(description="The models whose answers are kept: any of their names, with *."),
    ] = ("*",)
    scope: Annotated[
        Scope,
        Meta(
            description="Who gets an answer that is kept: the key that asked for it, the keys "
            "that are in the same groups, or all callers."
        ),
    ] = "key"
    ttl_seconds: Annotated[
        int, Meta(description="How long an answer is given again, in seconds.", ge=1, le=2_592_000)
    ] = 3600
    max_temperature: Annotated[
        float,
        Meta(
            description="Answers to requests that ask for a higher temperature are not kept. "
            "A request that names none is taken to ask for 0.",
            ge=0,
            le=2,
        ),
    ] = 0.0
    max_answer_kilobytes: Annotated[
        int, Meta(description="A longer answer is not kept.", ge=1, le=16_384)
    ] = 1024
    max_megabytes: Annotated[
        int,
        Meta(
            description="Of all that is kept. The answers that were not used for longest go first.",
            ge=1,
            le=1_048_576,
        ),
    ] = 256
    embedding_model: Annotated[
        str,
        Meta(
            description="Compares questions by their meaning, such as "
            "openai/text-embedding-3-small; empty compares nothing."
        ),
    ] = ""
    similar_for: Annotated[
        Names,
        Meta(
            description="The models that may answer a similar question with a kept answer: any of "
            "their names, with *."
        ),
    ] = ()
    similar_threshold: Annotated[
        float,
        Meta(description="The cosine from which two questions are similar.", ge=0.5, le=1),
    ] = 0.95
