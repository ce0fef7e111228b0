"""Which modes are measured with which peers: the full line-up and a quick one."""

from .peers import (
    ASYNCIO,
    BARE_NGINX,
    BY_HYPERCORN,
    DIRECT,
    FLOOR,
    HYPERCORN,
    HYPERCORN_FLOOR,
    LIMITED,
    NGINX,
    OWN,
    TELEMETRY,
)
from .rounds import Scenario

USUAL = (NGINX.name, BARE_NGINX.name, FLOOR.name, OWN.name, DIRECT.name)
EVERYBODY = (
    *USUAL[:-1],
    LIMITED.name,
    TELEMETRY.name,
    ASYNCIO.name,
    HYPERCORN_FLOOR.name,
    HYPERCORN.name,
    BY_HYPERCORN.name,
    DIRECT.name,
)
THREE = (NGINX.name, OWN.name, DIRECT.name)
FOUR = (NGINX.name, FLOOR.name, OWN.name, DIRECT.name)
ANSWER = 0.3
"""Seconds that a paced answer takes. Clients that begin within so long do not move in step: in
step, a proxy gets the events of all of them at one instant and hardly has to wait for any."""
FULL = (
    Scenario(mode="plain", peers=EVERYBODY),
    Scenario(mode="stream", peers=EVERYBODY),
    Scenario(mode="paced", peers=FOUR, spread=ANSWER, seconds=3.0),
    *(Scenario(mode=mode, peers=USUAL) for mode in ("paced", "messages", "messages-stream")),
    Scenario(mode="burst", peers=(*THREE[:-1], ASYNCIO.name, DIRECT.name)),
    Scenario(mode="messages-paced", peers=THREE, spread=ANSWER, seconds=3.0),
    Scenario(mode="plain", connections=1, peers=EVERYBODY),
    Scenario(mode="stream", connections=1, peers=(*USUAL[:-1], ASYNCIO.name, DIRECT.name)),
    Scenario(mode="messages", connections=1, peers=USUAL),
    Scenario(mode="messages-stream", connections=1, peers=USUAL),
    Scenario(mode="plain", connections=256, peers=THREE),
    Scenario(mode="stream", connections=256, peers=THREE),
    Scenario(mode="plain", size="100 KB", peers=THREE),
    Scenario(mode="messages", size="100 KB", peers=THREE),
    Scenario(mode="plain", size="5 MB", peers=FOUR),
    Scenario(mode="plain", size="5 MB", connections=1, peers=FOUR),
    Scenario(mode="plain", connections=300, count=300, is_fresh=True, peers=THREE),
    Scenario(mode="plain", connections=1000, count=1000, is_fresh=True, peers=THREE),
    Scenario(mode="slow", connections=1000, count=1000, rounds=1, peers=THREE),
)
QUICK = (
    Scenario(mode="plain", peers=USUAL, seconds=1.0, rounds=2),
    Scenario(mode="stream", peers=USUAL, seconds=1.0, rounds=2),
    Scenario(mode="plain", connections=1, peers=USUAL, seconds=1.0, rounds=2),
)
