"""The filters that are in force, and what answers in the place of vendors."""

import logging
from collections.abc import Sequence
from functools import partial

from gateway_core import Call, Target
from gateway_core.pipeline.context import Collaborators
from gateway_core.pipeline.interceptors import MOST_FAILURES
from gateway_core.pipeline.request_run import RequestRun
from gateway_core.pipeline.translation import Translation
from gateway_core.plugins import Problem
from gateway_core.plugins.registry import with_problems

from .filtered_run import FilteredRun
from .guarded import GuardedCheck, GuardedFilter, says_idle
from .sources import AnswerSource
from .translation import FilteredTranslation

log = logging.getLogger(__name__)


class Filters:
    """The filters, in their order. One that fails again and again is left out."""

    def __init__(self, core: Collaborators, sources: Sequence[AnswerSource] = ()) -> None:
        self._core, self._sources = core, sources
        filters = core.snapshot.registry.answer_filters
        self.active = tuple(GuardedFilter(plugin, each, self._note) for plugin, each in filters)

    @property
    def is_idle(self) -> bool:
        """None of them wants to see an answer now, and none gives one."""
        return all(each.is_idle for each in self.active) and all(map(says_idle, self._sources))

    def attach(self, run: RequestRun) -> FilteredRun:
        """Have the run's translation hold answers back for the filters that want them."""
        if self.active:
            run.translation = self.translation(run.translation)
        # The first one that works answers: what it gives is what another one would keep.
        source = next((each for each in self._sources if not says_idle(each)), None)
        return FilteredRun(run, source)

    def translation(self, translation: Translation) -> Translation:
        """The same call, whose exchanges are held back for filters."""
        return FilteredTranslation(
            translation.call,
            translation.formats,
            translation.now,
            translation.ways,
            filters=self.open,
        )

    def open(self, call: Call, target: Target) -> tuple[GuardedCheck, ...]:
        """Those that want to see this target's answer. Raises GatewayError where one refuses."""
        opened = (each.open(call, target) for each in self.active)
        return tuple(each for each in opened if each is not None)

    def _note(self, failed: GuardedFilter) -> None:
        if failed.failures < MOST_FAILURES or failed.is_required or failed not in self.active:
            return
        self.active = tuple(each for each in self.active if each is not failed)
        message = f"filter {failed.name} failed {MOST_FAILURES} times in a row and is left out"
        log.error("plugin %s: %s until the next start", failed.plugin, message)
        problem = Problem(failed.plugin, message)
        self._core.amend(partial(with_problems, problems=[problem]))
