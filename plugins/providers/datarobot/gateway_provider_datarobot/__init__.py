"""DataRobot's LLM gateway. Its chat path ends in a slash.

API reference: https://docs.datarobot.com/en/docs/gen-ai/genai-code/dr-llm-gateway.html
"""

from gateway_core import ProviderSpec, hookimpl
from gateway_providers import openai_compatible

DATAROBOT = openai_compatible(
    ProviderSpec(
        id="datarobot",
        name="DataRobot",
        base_url="https://app.datarobot.com/api/v2/genai/llmgw",
        chat_path="/chat/completions/",
        environment=("DATAROBOT_API_TOKEN",),
        passthrough_models=True,
    )
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [DATAROBOT]
