"""Echo: a vendor without a network. It answers with the words it was given.

It speaks the chat-completions format in this process, so that the first
request after an installation works offline, and so that tests, demos and
dashboards have a vendor that is always there. Reference:
https://platform.openai.com/docs/api-reference/chat
"""

from gateway_core import Auth, Model, ProviderSpec, hookimpl

from .executor import Echo

ECHO = ProviderSpec(
    id="echo",
    name="Echo",
    base_url="http://echo.invalid/v1",
    auth=Auth(type="none"),
    executor=Echo(),
    models=(
        Model("echo", name="Echo", context=128_000, max_output=128_000, tools=True, vision=True),
        Model("echo-tools", name="Echo that calls tools", context=128_000, tools=True),
        Model("echo-thinks", name="Echo that thinks", context=128_000, reasoning=True),
    ),
    free=True,
)


@hookimpl
def register_providers() -> list[ProviderSpec]:
    return [ECHO]
