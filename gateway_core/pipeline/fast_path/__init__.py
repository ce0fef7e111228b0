"""The fast path: a request served in the callbacks of its sockets, without a task.

```text
repeated head, whole body ──▶ begin ──▶ vendor ──▶ set_result ──▶ client, ledger
                                │                      │
                  None: the pipeline from the start    └──▶ hand over: the pipeline from here on
```

A task costs more than everything else about a short answer. So where nothing has to be waited
for but the vendor, its response drives the same ``RequestRun`` that the pipeline drives.
Whatever would wait (a refusal to be read, a slow client, another account) is handed over to
the pipeline as it stands.
"""

from ...contracts.asgi import DirectWriter
from ...contracts.kinds import Kind
from ...routing.account_selection import session_of
from ..attempt import Attempt
from ..context import Collaborators
from ..request_head import RequestHead
from ..request_run import RequestRun
from ..send import send_now
from .driver import Driver
from .single_account import single_account
from .stream import StreamDriver
from .whole import ServiceDriver, WholeDriver

__all__ = ["Driver", "begin"]


def begin(
    core: Collaborators, head: RequestHead, body: bytes, writer: DirectWriter
) -> Driver | None:
    """Send the request now; ``None``, and nothing has happened, where the pipeline is to do it."""
    if not _is_eligible(core, head, body):
        return None
    run = core.new_run(core, head)
    try:
        if not _send(run, body):
            return None
    except BaseException:  # No task is cancelled here; the pipeline meets the same error.
        return None
    core.in_flight.begin(run.record)
    if run.call.stream:
        return StreamDriver(run, writer)
    return (WholeDriver if run.call.kind == Kind.LLM else ServiceDriver)(run, writer)


def _is_eligible(core: Collaborators, head: RequestHead, body: bytes) -> bool:
    """Nothing about the request asks for more, as far as can be seen without reading it."""
    state = core.state
    is_seen = core.interceptors.active or state.filtering is not None or core.request_log.is_on
    if state.is_full or state.is_stopping or is_seen:
        return False
    return head.is_direct and len(body) <= core.max_body


def _send(run: RequestRun, body: bytes) -> bool:
    """Ask the only account there is; false where there is a choice or nothing is free to ask on.

    Raises whatever its parts raise, and then nothing was sent.
    """
    core = run.core
    run.read(body)
    choice = single_account(run)
    if choice is None:
        return False
    member, account = choice
    if run.call.kind == Kind.LLM:
        exchange = run.translation.open(member.target, account.credential)
    else:
        exchange = service = run.open_service(member.target, account.credential)
        if run.call.stream or run.urls or not service.is_single:
            return False
    key = run.record.key
    if key is not None and not key.has_limits:
        key = None
    if key is not None and not core.limits.admit_now(key):
        return False
    sent = None
    try:
        sent = send_now(core, member.target.provider, account, exchange.request)
    finally:
        if sent is None and key is not None:
            core.limits.withdraw(key)
    if sent is None:
        return False
    run.record.is_counted = key is not None
    run.sent, run.attempt = sent, Attempt(member, account, exchange)
    run.attempt.begin(core, run.record, session_of(run.call))
    return True
