"""Reads a client's ``generationConfig``.

https://ai.google.dev/api/generate-content#v1beta.GenerationConfig
"""

import msgspec
from msgspec import Raw, Struct

from gateway_core import BadRequest, Output, Sampling, Thinking

from .._dialect import GENERATION_CONFIG
from .._members import (
    Members,
    add_prefix,
    take_enum,
    take_flag,
    take_integer,
    take_members,
    take_number,
    take_text,
    take_texts,
)
from .schemas import read_schema

_LEVELS = {1: "LOW", 2: "MEDIUM", 3: "HIGH", 4: "MINIMAL"}
_JSON = "application/json"

_encode = msgspec.json.encode


class Settings(Struct, frozen=True):
    sampling: Sampling
    thinking: Thinking | None
    output: Output | None
    rest: Members
    """What has no canonical name, under its full dotted name."""


def read_settings(body: Members) -> Settings:
    """Take ``generationConfig`` out of a body's members. Raises BadRequest."""
    config = take_members(body, GENERATION_CONFIG, "")
    where = f"{GENERATION_CONFIG}."
    rest: Members = {}
    if config.get("responseModalities") is not None:
        modalities = [word.upper() for word in take_texts(config, "responseModalities", where)]
        # Text alone is what every model gives anyway.
        if modalities not in ([], ["TEXT"]):
            config["responseModalities"] = Raw(_encode(modalities))
    sampling = Sampling(
        max_tokens=take_integer(config, "maxOutputTokens", where),
        temperature=take_number(config, "temperature", where),
        top_p=take_number(config, "topP", where),
        top_k=take_integer(config, "topK", where),
        seed=take_integer(config, "seed", where),
        stop=take_texts(config, "stopSequences", where),
        presence_penalty=take_number(config, "presencePenalty", where),
        frequency_penalty=take_number(config, "frequencyPenalty", where),
        candidates=take_integer(config, "candidateCount", where),
        # On this wire the number is called logprobs, and the switch responseLogprobs.
        logprobs=take_flag(config, "responseLogprobs", where),
        top_logprobs=take_integer(config, "logprobs", where),
    )
    thinking = _read_thinking(config, rest)
    kind = take_text(config, "responseMimeType", where)
    schema = config.pop("responseJsonSchema", None)
    own_schema = config.pop("responseSchema", None)
    if schema is None and own_schema is not None:
        schema = Raw(read_schema(bytes(own_schema)))
    if kind not in (None, "", "text/plain", _JSON):
        rest["responseMimeType"] = Raw(_encode(kind))
    output = None if schema is None and kind != _JSON else Output(schema=schema)
    return Settings(sampling, thinking, output, add_prefix(GENERATION_CONFIG, {**config, **rest}))


def _read_thinking(config: Members, rest: Members) -> Thinking | None:
    where = f"{GENERATION_CONFIG}.thinkingConfig."
    members = take_members(config, "thinkingConfig", f"{GENERATION_CONFIG}.")
    if not members:
        return None
    budget = take_integer(members, "thinkingBudget", where)
    level = take_enum(members, "thinkingLevel", _LEVELS, where)
    effort = level.lower() if level and level != "THINKING_LEVEL_UNSPECIFIED" else None
    # The vendor refuses both together.
    if budget is not None and effort is not None:
        raise BadRequest(f"{where}thinkingBudget and thinkingLevel cannot be used together")
    show = take_flag(members, "includeThoughts", where)
    rest |= add_prefix("thinkingConfig", members)
    enabled = None if budget is None and effort is None else budget != 0
    return Thinking(enabled=enabled, effort=effort, budget=budget, show=show)
