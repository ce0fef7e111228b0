"""The express way: asked at once, answered in the moments in which the answer comes, no task.

```text
head seen before, body whole ──▶ begin ──▶ vendor ──▶ set_result ──▶ client, ledger
                                   │                     │
                  None: the usual way from the start     └──▶ hand over: a task from here on
```

What is decided, and how, is the pipeline's: this is the same way without its
waiting. Whatever is not as plain as can be, a vendor's refusal above all, is
left to the pipeline, which takes the attempt over as it stands.
"""

from ...contracts.asgi import DirectWriter
from ..context import Core
from ..request_head import RequestHead
from .asking import asked, is_plain
from .attempt import Attempt
from .streaming import Streaming
from .whole import Whole

__all__ = ["Attempt", "begin"]


def begin(core: Core, arrival: RequestHead, body: bytes, outlet: DirectWriter) -> Attempt | None:
    """Ask a vendor now; ``None``, and nothing has happened, when the usual way is to be taken."""
    if not is_plain(core, arrival, body):
        return None
    try:
        found = asked(core, arrival, body)
    except BaseException:  # No task is told to end here; the usual way says what is wrong.
        return None
    if found is None:
        return None
    kind = Streaming if found.question.call.stream else Whole
    return kind(core, found, outlet)
