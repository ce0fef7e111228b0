"""Thinking, sampling and the end user."""

from minimal_requests import ANY, FORMATS, WORD, generation, options
from request_probes import Feature, at, either, says

SAMPLING: tuple[Feature, ...] = (
    Feature(
        "thinking effort",
        {
            "openai": {"reasoning_effort": "high"},
            "openai-responses": {"reasoning": {"effort": "high"}},
            "claude": {"thinking": {"type": "enabled", "budget_tokens": 4000}},
            "gemini": generation(thinkingConfig={"thinkingBudget": 4000}),
            "ollama": {"think": "high"},
        },
        {
            "openai": at("reasoning_effort"),
            "openai-responses": at("reasoning", "effort"),
            "claude": either(at("thinking", "budget_tokens"), at("output_config", "effort")),
            "gemini": at("generationConfig", "thinkingConfig"),
            "ollama": at("think"),
        },
        ("thinking", "reasoning"),
    ),
    Feature(
        "stop sequences",
        {
            "openai": {"stop": [WORD]},
            "claude": {"stop_sequences": [WORD]},
            "gemini": generation(stopSequences=[WORD]),
            "ollama": options(stop=[WORD]),
        },
        ANY,
        ("stop",),
    ),
    Feature(
        "temperature",
        {
            "openai": {"temperature": 0.25},
            "openai-responses": {"temperature": 0.25},
            "claude": {"temperature": 0.25},
            "gemini": generation(temperature=0.25),
            "ollama": options(temperature=0.25),
        },
        {
            "openai": at("temperature", equals=0.25),
            "openai-responses": at("temperature", equals=0.25),
            "claude": at("temperature", equals=0.25),
            "gemini": at("generationConfig", "temperature", equals=0.25),
            "ollama": at("options", "temperature", equals=0.25),
        },
    ),
    Feature(
        "top_p",
        {
            "openai": {"top_p": 0.25},
            "openai-responses": {"top_p": 0.25},
            "claude": {"top_p": 0.25},
            "gemini": generation(topP=0.25),
            "ollama": options(top_p=0.25),
        },
        {wire: says("0.25") for wire in FORMATS},
    ),
    Feature(
        "top_k",
        {"claude": {"top_k": 17}, "gemini": generation(topK=17), "ollama": options(top_k=17)},
        {wire: says("17") for wire in FORMATS},
    ),
    Feature(
        "max tokens",
        {
            "openai": {"max_completion_tokens": 4711},
            "openai-responses": {"max_output_tokens": 4711},
            "claude": {"max_tokens": 4711},
            "gemini": generation(maxOutputTokens=4711),
            "ollama": options(num_predict=4711),
        },
        {wire: says("4711") for wire in FORMATS},
    ),
    Feature(
        "seed",
        {
            "openai": {"seed": 4711},
            "gemini": generation(seed=4711),
            "ollama": options(seed=4711),
        },
        {wire: says("4711") for wire in FORMATS},
    ),
    Feature(
        "presence_penalty",
        {
            "openai": {"presence_penalty": 0.25},
            "gemini": generation(presencePenalty=0.25),
            "ollama": options(presence_penalty=0.25),
        },
        {wire: says("0.25") for wire in FORMATS},
    ),
    Feature(
        "frequency_penalty",
        {
            "openai": {"frequency_penalty": 0.25},
            "gemini": generation(frequencyPenalty=0.25),
            "ollama": options(frequency_penalty=0.25),
        },
        {wire: says("0.25") for wire in FORMATS},
    ),
    Feature(
        "cache markers",
        {
            "claude": {
                "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]
            }
        },
        {wire: says("cache_control") for wire in FORMATS},
        ("cache_control",),
    ),
    Feature(
        "cache key",
        {
            "openai": {"prompt_cache_key": WORD},
            "openai-responses": {"prompt_cache_key": WORD},
        },
        ANY,
        ("cache_key",),
    ),
    Feature(
        "end user",
        {
            "openai": {"user": WORD},
            "openai-responses": {"user": WORD},
            "claude": {"metadata": {"user_id": WORD}},
        },
        ANY,
        ("user",),
    ),
    Feature(
        "logprobs",
        {
            "openai": {"logprobs": True, "top_logprobs": 3},
            "openai-responses": {"include": ["message.output_text.logprobs"], "top_logprobs": 3},
            "gemini": generation(responseLogprobs=True, logprobs=3),
            "ollama": {"logprobs": True, "top_logprobs": 3},
        },
        {wire: says("ogprobs") for wire in FORMATS},
        ("logprobs",),
    ),
    Feature(
        "several answers",
        {"openai": {"n": 3}, "gemini": generation(candidateCount=3)},
        {
            "openai": at("n", equals=3),
            "openai-responses": at("n"),
            "claude": at("n"),
            "gemini": at("generationConfig", "candidateCount", equals=3),
            "ollama": at("n"),
        },
        ("candidates",),
    ),
    Feature(
        "web search",
        {
            "openai-responses": {"tools": [{"type": "web_search"}]},
            "claude": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
            "gemini": {"tools": [{"googleSearch": {}}]},
        },
        {
            "openai": at("web_search_options"),
            "openai-responses": says("web_search"),
            "claude": says("web_search_2025"),
            "gemini": says("googleSearch"),
            "ollama": says("web_search"),
        },
        ("tool:web_search",),
    ),
    Feature(
        "unknown member",
        {wire: {"x_novelty": WORD} for wire in FORMATS},
        ANY,
        ("x_novelty",),
    ),
)
