"""Fusion: every member of a combo answers, then a judge makes one answer of theirs.

The panel answers whole, side by side. The judge gets the request, the
panel's answers and a word on what to do with them, and answers the client the
way the client asked. What the panel used is counted with the request.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from ..contracts.conversation import Conversation, Reply, Text, ToolChoice, Turn
from ..contracts.errors import GatewayError, NothingToTry
from ..contracts.exchange import Exchange
from ..contracts.kinds import Kind
from ..contracts.provider import Credential, Target
from ..metering.request_record import RequestRecord
from ..routing.account_selection import AccountConstraints
from ..routing.model_resolver import resolve
from ..routing.plan import Member, Plan
from ..routing.snapshot import ConfigSnapshot
from .attempt import Attempt
from .context import Collaborators
from .dispatch import Job, dispatch
from .exchanges import Translated
from .translation import Translation

PANEL_TIMEOUT = 90.0
"""Seconds for the whole panel, unless the combo sets a limit for a member."""
_TASK = (
    "Several assistants have answered the request above, each on its own. Their answers follow. "
    "Write the one best answer to the request: keep what is right, settle where they differ, "
    "leave out what is wrong. Answer the request itself and do not speak of these answers."
)


async def fuse(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    plan: Plan,
    translation: Translation,
    constraints: AccountConstraints,
    record: RequestRecord,
) -> Attempt:
    """The judge's answer. Raises the last refusal when no member of the panel answers."""
    texts = await _panel(core, snapshot, plan, translation, constraints, record)
    merged = with_answers(translation.conversation(), texts)

    def opener(target: Target, credential: Credential) -> Exchange:
        return translation.translate(merged, target, credential)

    judges: Sequence[Member] = plan.members
    if plan.judge is not None:
        # Where the combo's judge cannot be asked, its members judge themselves.
        with suppress(GatewayError):
            target = resolve(snapshot, plan.judge, Kind.LLM).target
            judges = judges if target is None else (Member(target, plan.judge), *judges)
    job = Job(
        opener=opener, stream=translation.call.stream, constraints=constraints, timeout=plan.timeout
    )
    return await dispatch(core, snapshot, judges, job, record)


async def _panel(
    core: Collaborators,
    snapshot: ConfigSnapshot,
    plan: Plan,
    translation: Translation,
    constraints: AccountConstraints,
    record: RequestRecord,
) -> list[str]:
    alone = replace(translation.conversation(), stream=False)
    timeout = plan.timeout or PANEL_TIMEOUT

    async def ask(member: Member) -> str:
        def opener(target: Target, credential: Credential) -> Exchange:
            return translation.translate(alone, target, credential)

        job = Job(opener=opener, stream=False, constraints=constraints, timeout=timeout)
        answer = await dispatch(core, snapshot, (member,), job, record)
        record.add_usage(answer.exchange.usage)
        exchange = answer.exchange
        return text_of(exchange.reply) if isinstance(exchange, Translated) else ""

    answers = await asyncio.gather(*map(ask, plan.members), return_exceptions=True)
    texts = [text for text in answers if isinstance(text, str) and text]
    if not texts:
        errors = [error for error in answers if isinstance(error, BaseException)]
        raise errors[-1] if errors else NothingToTry("No member of the panel gave an answer")
    return texts


def text_of(reply: Reply | None) -> str:
    """The text of a whole answer."""
    if reply is None or not reply.choices:
        return ""
    return "".join(part.text for part in reply.choices[0].parts if isinstance(part, Text))


def with_answers(conversation: Conversation, texts: Sequence[str]) -> Conversation:
    """The conversation with the panel's answers behind it, for the judge."""
    listed = "\n\n".join(f"Answer {number}:\n{text}" for number, text in enumerate(texts, 1))
    turn = Turn("user", (Text(text=f"{_TASK}\n\n{listed}"),))
    choice = ToolChoice("none") if conversation.tools else conversation.tool_choice
    return replace(conversation, turns=(*conversation.turns, turn), tool_choice=choice)
