"""Following requests, for plugins that do telemetry: a plugin gives its observer to
``observation_of``, and the result to the gateway in the hook ``register_observation``.

A gateway without such a plugin imports nothing of this package.
"""

from typing import TYPE_CHECKING

from .observer import AttemptWatch, Observer, RequestWatch

if TYPE_CHECKING:
    from gateway_core.contracts.observation import Observation

__all__ = ["AttemptWatch", "Observer", "RequestWatch", "observation_of"]


def observation_of(observer: Observer) -> "Observation":
    """What the gateway follows its requests with."""
    # Imported only here, because it needs the whole pipeline.
    from .observed_run import RunObservation

    return RunObservation(observer)
