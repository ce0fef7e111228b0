"""What both kinds of answers have in common on the fast path."""

from abc import ABC, abstractmethod

from ...contracts.asgi import DirectWriter
from ...upstream.transport import UpstreamAnswer
from ..attempt import Attempt
from ..pipeline import drive
from ..request_run import RequestRun


class Driver(ABC):
    """Drives a run from callbacks: the vendor's connection calls it as the answer's waiter, the
    client's connection when the client leaves."""

    __slots__ = ("_answer", "_attempt", "_run", "_writer")

    def __init__(self, run: RequestRun, writer: DirectWriter) -> None:
        assert run.sent is not None
        self._run, self._writer = run, writer
        self._attempt: Attempt = run.attempt
        self._answer: UpstreamAnswer = run.sent.answer
        self._answer.waiter = self

    # Called by the client's connection.

    def on_client_gone(self) -> None:
        answer = self._detach()
        # The vendor stops generating once its connection is closed.
        if answer.source is not None:
            answer.source.drop(answer)
        self._run.on_client_gone()
        self._run.finish()

    # Called by the vendor's connection.

    def done(self) -> bool:
        return False

    @abstractmethod
    def set_result(self, result: None, /) -> None:
        """Something has arrived, or nothing more will."""

    def set_exception(self, error: BaseException, /) -> None:
        """What was to take the next bytes has failed."""
        self._run.error = error
        self.hand_over()

    def _on_answer(self) -> None:
        """The attempt has started to answer."""
        attempt, run = self._attempt, self._run
        attempt.response = self._answer
        run.core.cooldowns.record_success(attempt.account.id, attempt.member.target.model.id)
        run.on_answer(attempt)

    def _detach(self) -> UpstreamAnswer:
        answer = self._answer
        answer.waiter = answer.taker = None
        return answer

    def hand_over(self) -> None:
        """Leave the rest to the pipeline: a task goes on with the run as it stands."""
        # What arrives from now on waits for the task.
        self._detach()
        run = self._run
        self._writer.run_in_task(lambda scope, receive, send: drive(run, scope, receive, send))
