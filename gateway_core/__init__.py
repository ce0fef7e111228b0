"""The plugin author's door. Everything a plugin may import from the kernel is here.

What only extensions need is imported when it is asked for: vendors and formats
load without a web framework.
"""

from typing import TYPE_CHECKING, Any

from .contracts.answer_filter import AnswerCheck, AnswerFilter, StopAnswer
from .contracts.asgi import (
    ON_DISCONNECT,
    ON_STOP,
    PUSH,
    PUSHED,
    REPEATED_HEAD,
    REPLY,
    DirectWriter,
    RepeatedHead,
)
from .contracts.conversation import (
    AnyPart,
    Choice,
    Citation,
    Conversation,
    Finish,
    Foreign,
    Losses,
    Media,
    Output,
    Reasoning,
    Refusal,
    Reply,
    Sampling,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)
from .contracts.errors import (
    BadRequest,
    GatewayError,
    PartUnsupported,
    TransportError,
    UpstreamError,
)
from .contracts.events import (
    ChoiceEnded,
    CitationAdded,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    UsageReported,
)
from .contracts.exchange import (
    BodyParts,
    Exchange,
    FileContent,
    Lasting,
    ServiceExchange,
    Socket,
    SocketClosed,
    SocketTransport,
    Step,
    Transport,
    UpstreamRequest,
    UpstreamResponse,
)
from .contracts.file_contents import ContentReader, ContentWriter, FileContents
from .contracts.interceptor import Interceptor
from .contracts.kinds import Kind
from .contracts.model import Model
from .contracts.native import Operation, Resource
from .contracts.observation import Observation
from .contracts.provider import (
    AccountField,
    Adapter,
    Auth,
    Call,
    Credential,
    Executor,
    FormPart,
    OAuth,
    ProviderSpec,
    Service,
    Target,
    credential_header,
)
from .contracts.seal import (
    readable_by,
    seal,
    seal_base64,
    seal_id,
    unseal,
    unseal_base64,
    unseal_id,
)
from .contracts.server import Server, ServerLimits, ServerOptions, ServerSpec, TlsCertificate
from .contracts.shared_state import (
    AccountRest,
    AccountScore,
    LimitReached,
    SharedLimits,
    SharedState,
)
from .contracts.sockets import (
    SocketEvent,
    SocketReader,
    SocketService,
    Spent,
)
from .contracts.usage import Price, Usage
from .contracts.web_login import WebLogin, WebLoginAnswer, WebLoginRequest
from .contracts.wire import (
    Answered,
    ClientSide,
    Counting,
    Endpoint,
    Grammar,
    Intake,
    KeepAlive,
    Relay,
    StreamReader,
    StreamWriter,
    VendorSide,
    WireFormat,
)
from .hookspecs import hookimpl

if TYPE_CHECKING:
    from .http.operations import Guarded
    from .identity.access import Access
    from .pipeline.plugin_host import Host

__all__ = [
    "ON_DISCONNECT",
    "ON_STOP",
    "PUSH",
    "PUSHED",
    "REPEATED_HEAD",
    "REPLY",
    "Access",
    "AccountField",
    "AccountRest",
    "AccountScore",
    "Adapter",
    "AnswerCheck",
    "AnswerFilter",
    "Answered",
    "AnyPart",
    "Auth",
    "BadRequest",
    "BodyParts",
    "Call",
    "Choice",
    "ChoiceEnded",
    "Citation",
    "CitationAdded",
    "ClientSide",
    "ContentReader",
    "ContentWriter",
    "Conversation",
    "Counting",
    "Credential",
    "DirectWriter",
    "Endpoint",
    "Exchange",
    "Executor",
    "FileContent",
    "FileContents",
    "Finish",
    "Foreign",
    "FormPart",
    "GatewayError",
    "Grammar",
    "Guarded",
    "Host",
    "Intake",
    "Interceptor",
    "KeepAlive",
    "Kind",
    "Lasting",
    "LimitReached",
    "Losses",
    "Media",
    "Model",
    "OAuth",
    "Observation",
    "Operation",
    "Output",
    "PartEnded",
    "PartGrew",
    "PartSealed",
    "PartStarted",
    "PartUnsupported",
    "Price",
    "ProviderSpec",
    "Reasoning",
    "Refusal",
    "Relay",
    "RepeatedHead",
    "Reply",
    "ReplyFailed",
    "ReplyStarted",
    "Resource",
    "Sampling",
    "Server",
    "ServerLimits",
    "ServerOptions",
    "ServerSpec",
    "Service",
    "ServiceExchange",
    "SharedLimits",
    "SharedState",
    "Socket",
    "SocketClosed",
    "SocketEvent",
    "SocketReader",
    "SocketService",
    "SocketTransport",
    "Spent",
    "Step",
    "StopAnswer",
    "StreamEvent",
    "StreamReader",
    "StreamWriter",
    "Target",
    "Text",
    "Thinking",
    "TlsCertificate",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Transport",
    "TransportError",
    "Turn",
    "UpstreamError",
    "UpstreamRequest",
    "UpstreamResponse",
    "Usage",
    "UsageReported",
    "VendorSide",
    "WebLogin",
    "WebLoginAnswer",
    "WebLoginRequest",
    "WireFormat",
    "credential_header",
    "hookimpl",
    "readable_by",
    "seal",
    "seal_base64",
    "seal_id",
    "unseal",
    "unseal_base64",
    "unseal_id",
]

_LATE = {
    "Access": ".identity.access",
    "Guarded": ".http.operations",
    "Host": ".pipeline.plugin_host",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name], __name__), name)
