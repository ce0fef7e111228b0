"""Tool choice and response formats."""

from minimal_requests import PLAIN, SCHEMA, WORD, generation, with_tools
from request_probes import Feature, at, either

FORMS: tuple[Feature, ...] = (
    Feature(
        "tool choice required",
        with_tools(
            {
                "openai": {"tool_choice": "required"},
                "openai-responses": {"tool_choice": "required"},
                "claude": {"tool_choice": {"type": "any"}},
                "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
            }
        ),
        {
            "openai": at("tool_choice", equals="required"),
            "openai-responses": at("tool_choice", equals="required"),
            "claude": at("tool_choice", "type", equals="any"),
            "gemini": at("toolConfig", "functionCallingConfig", "mode", equals="ANY"),
            "ollama": at("format"),  # an answer of the form of the arguments is the call
        },
        ("tool_choice",),
    ),
    Feature(
        "tool choice by name",
        with_tools(
            {
                "openai": {"tool_choice": {"type": "function", "function": {"name": WORD}}},
                "openai-responses": {"tool_choice": {"type": "function", "name": WORD}},
                "claude": {"tool_choice": {"type": "tool", "name": WORD}},
                "gemini": {
                    "toolConfig": {
                        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [WORD]}
                    }
                },
            }
        ),
        {
            "openai": either(
                at("tool_choice", "function", "name", equals=WORD),
                at("tool_choice", "allowed_tools"),
            ),
            "openai-responses": either(
                at("tool_choice", "name", equals=WORD), at("tool_choice", "tools")
            ),
            "claude": at("tool_choice", "name", equals=WORD),
            "gemini": at("toolConfig", "functionCallingConfig", "allowedFunctionNames", 0),
            "ollama": at("format"),  # an answer of the form of the arguments is the call
        },
        ("tool_choice",),
    ),
    Feature(
        "tool choice none",
        with_tools(
            {
                "openai": {"tool_choice": "none"},
                "openai-responses": {"tool_choice": "none"},
                "claude": {"tool_choice": {"type": "none"}},
                "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
            }
        ),
        {
            "openai": at("tool_choice", equals="none"),
            "openai-responses": at("tool_choice", equals="none"),
            "claude": at("tool_choice", "type", equals="none"),
            "gemini": at("toolConfig", "functionCallingConfig", "mode", equals="NONE"),
            # A server without the notion keeps to it when it is given no tools.
            "ollama": lambda sent: not sent.get("tools"),
        },
        ("tool_choice",),
    ),
    Feature(
        "one tool at a time",
        with_tools(
            {
                "openai": {"parallel_tool_calls": False},
                "openai-responses": {"parallel_tool_calls": False},
                "claude": {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
            }
        ),
        {
            "openai": at("parallel_tool_calls", equals=False),
            "openai-responses": at("parallel_tool_calls", equals=False),
            "claude": at("tool_choice", "disable_parallel_tool_use", equals=True),
            "gemini": at("parallel_tool_calls"),
            "ollama": at("parallel_tool_calls"),
        },
        ("parallel_tools",),
    ),
    Feature(
        "JSON schema output",
        {
            "openai": {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
                }
            },
            "openai-responses": {
                "text": {
                    "format": {
                        "type": "json_schema",
                        "name": "place",
                        "schema": SCHEMA,
                        "strict": True,
                    }
                }
            },
            "claude": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            "gemini": generation(responseMimeType="application/json", responseJsonSchema=PLAIN),
            "ollama": {"format": PLAIN},
        },
        {
            "openai": at("response_format", "json_schema", "schema", "properties", "city"),
            "openai-responses": at("text", "format", "schema", "properties", "city"),
            "claude": either(
                at("output_config", "format", "schema", "properties", "city"),
                at("output_format", "schema", "properties", "city"),
            ),
            "gemini": either(
                at("generationConfig", "responseJsonSchema", "properties", "city"),
                at("generationConfig", "responseSchema", "properties", "city"),
            ),
            "ollama": at("format", "properties", "city"),
        },
        ("output_schema",),
    ),
    Feature(
        "JSON mode",
        {
            "openai": {"response_format": {"type": "json_object"}},
            "openai-responses": {"text": {"format": {"type": "json_object"}}},
            "gemini": generation(responseMimeType="application/json"),
            "ollama": {"format": "json"},
        },
        {
            "openai": at("response_format", "type", equals="json_object"),
            "openai-responses": at("text", "format", "type", equals="json_object"),
            "claude": at("output_config", "format"),
            "gemini": at("generationConfig", "responseMimeType", equals="application/json"),
            "ollama": at("format", equals="json"),
        },
        ("output_json",),
    ),
)
