"""``generationConfig``, as a client sends it."""

import msgspec
from msgspec import Raw, Struct

from gateway_core import BadRequest, Output, Sampling, Thinking

from .._members import (
    Members,
    prefixed,
    take_flag,
    take_integer,
    take_members,
    take_number,
    take_text,
    take_texts,
    take_word,
)
from .schemas import json_schema

CONFIG = "generationConfig"
_LEVELS = {1: "LOW", 2: "MEDIUM", 3: "HIGH", 4: "MINIMAL"}
_JSON = "application/json"

_encode = msgspec.json.encode


class Settings(Struct, frozen=True):
    sampling: Sampling
    thinking: Thinking | None
    output: Output | None
    left: Members
    """What has no canonical name, under its full dotted name."""


def read_settings(given: Members) -> Settings:
    """Take ``generationConfig`` out of a body's members. Raises BadRequest."""
    config = take_members(given, CONFIG, "")
    left: Members = {}
    if config.get("responseModalities") is not None:
        _modalities(config)
    sampling = _sampling(config)
    thinking = _thinking(config, left)
    output = _output(config, left)
    return Settings(sampling, thinking, output, prefixed(CONFIG, {**config, **left}))


def _modalities(config: Members) -> None:
    """Text alone is what everyone gives who is asked nothing else."""
    said = take_texts(config, "responseModalities", f"{CONFIG}.")
    words = [word.upper() for word in said]
    if words not in ([], ["TEXT"]):
        config["responseModalities"] = Raw(_encode(words))


def _sampling(config: Members) -> Sampling:
    where = f"{CONFIG}."
    return Sampling(
        max_tokens=take_integer(config, "maxOutputTokens", where),
        temperature=take_number(config, "temperature", where),
        top_p=take_number(config, "topP", where),
        top_k=take_integer(config, "topK", where),
        seed=take_integer(config, "seed", where),
        stop=take_texts(config, "stopSequences", where),
        presence_penalty=take_number(config, "presencePenalty", where),
        frequency_penalty=take_number(config, "frequencyPenalty", where),
        candidates=take_integer(config, "candidateCount", where),
        logprobs=take_flag(config, "responseLogprobs", where),
        top_logprobs=take_integer(config, "logprobs", where),
    )


def _thinking(config: Members, left: Members) -> Thinking | None:
    where = f"{CONFIG}.thinkingConfig."
    given = take_members(config, "thinkingConfig", f"{CONFIG}.")
    if not given:
        return None
    budget = take_integer(given, "thinkingBudget", where)
    level = take_word(given, "thinkingLevel", _LEVELS, where)
    effort = level.lower() if level and level != "THINKING_LEVEL_UNSPECIFIED" else None
    if budget is not None and effort is not None:
        raise BadRequest(f"{where}thinkingBudget and thinkingLevel cannot be used together")
    show = take_flag(given, "includeThoughts", where)
    left |= prefixed("thinkingConfig", given)
    said = budget is not None or effort is not None
    return Thinking(enabled=budget != 0 if said else None, effort=effort, budget=budget, show=show)


def _output(config: Members, left: Members) -> Output | None:
    kind = take_text(config, "responseMimeType", f"{CONFIG}.")
    schema = _schema(config)
    if kind not in (None, "", "text/plain", _JSON):
        left["responseMimeType"] = Raw(_encode(kind))
    if schema is None and kind != _JSON:
        return None
    return Output(schema=schema)


def _schema(config: Members) -> Raw | None:
    plain = config.pop("responseJsonSchema", None)
    own = config.pop("responseSchema", None)
    if plain is not None:
        return plain
    return Raw(json_schema(bytes(own))) if own is not None else None
