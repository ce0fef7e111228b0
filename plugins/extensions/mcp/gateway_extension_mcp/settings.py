"""What an operator sets; the instances themselves are rows, not settings."""

from typing import Annotated

from msgspec import Meta, Struct


class Settings(Struct, frozen=True, kw_only=True, rename="camel"):
    """Bounds of what MCP servers may take, and which programs may be started."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether the endpoint is served, from the gateway's next start on.",
            extra={"variable": "GATEWAY_MCP_ENABLED"},
        ),
    ] = False
    commands: Annotated[
        tuple[str, ...],
        Meta(
            description="The programs that instances may start, written as the instances write "
            "them: npx, /usr/bin/python3. While it is empty none is started.",
            max_length=100,
            extra={"variable": "GATEWAY_MCP_COMMANDS"},
        ),
    ] = ()
    most_processes: Annotated[
        int, Meta(description="Programs that run at the same time.", ge=1, le=1000)
    ] = 16
    start_seconds: Annotated[
        int, Meta(description="Until a server has been reached and greeted.", ge=1, le=600)
    ] = 30
    call_seconds: Annotated[int, Meta(description="Until a tool has answered.", ge=1, le=3600)] = 60
    idle_seconds: Annotated[
        int,
        Meta(
            description="A connection or a program that is not used for so long is closed.",
            ge=1,
            le=86_400,
        ),
    ] = 300
    tools_seconds: Annotated[
        int, Meta(description="For so long a server's list of tools is not asked again.", ge=0)
    ] = 60
    max_answer_megabytes: Annotated[
        int,
        Meta(description="A server that says more at once is cut off.", ge=1, le=64),
    ] = 8

    @property
    def most_bytes(self) -> int:
        return self.max_answer_megabytes * 1024 * 1024
