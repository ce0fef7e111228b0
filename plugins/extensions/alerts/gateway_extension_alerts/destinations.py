"""Where alerts go: a webhook, what takes Slack's messages, and mail."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Protocol

import msgspec

from gateway_core import GatewayError, Host, UpstreamRequest

from .alert import Event
from .mail import send_mail
from .settings import Settings

SECRET_PREFIX = "whsec_"
TIMEOUT = 10.0
"""Seconds."""


class DeliveryFailed(Exception):
    """An alert did not arrive; the text says why and holds no secret."""


class Destination(Protocol):
    async def send(self, event: Event) -> None:
        """Deliver an event. Raises DeliveryFailed."""
        ...


def destinations(host: Host, settings: Settings) -> dict[str, Destination]:
    """By the names under which deliveries are kept."""
    found: dict[str, Destination] = {}
    if settings.webhook_url:
        found["webhook"] = Webhook(host, settings.webhook_url, settings.webhook_secret)
    if settings.slack_url:
        found["slack"] = Slack(host, settings.slack_url)
    if settings.smtp_host:
        found["mail"] = Mail(settings)
    return found


class Webhook:
    """Posts an event as JSON, signed as https://www.standardwebhooks.com has it."""

    def __init__(self, host: Host, url: str, secret: str) -> None:
        self._host, self._url, self._key = host, url, _key_of(secret)

    async def send(self, event: Event) -> None:
        body = msgspec.json.encode(event)
        headers = {"webhook-id": event.id, "webhook-timestamp": f"{self._host.clock():.0f}"}
        if self._key:
            signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
            digest = hmac.digest(self._key, signed, hashlib.sha256)
            headers["webhook-signature"] = f"v1,{base64.b64encode(digest).decode()}"
        await _post(self._host, self._url, body, headers)


class Slack:
    """Posts a message: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks"""

    def __init__(self, host: Host, url: str) -> None:
        self._host, self._url = host, url

    async def send(self, event: Event) -> None:
        lines = f"*{_escape(headline(event))}*\n{_escape(event.alert.text)}"
        await _post(self._host, self._url, msgspec.json.encode({"text": lines}), {})


class Mail:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def send(self, event: Event) -> None:
        try:
            await send_mail(self._settings, headline(event), event.alert.text, event.id)
        except OSError as error:  # Those of smtplib are some, too.
            raise DeliveryFailed(f"the mail server: {type(error).__name__}: {error}") from None


def headline(event: Event) -> str:
    """One line that says all."""
    prefix = {"begins": "", "worsens": "", "ends": "Over: "}[event.event]
    mark = "Critical: " if event.alert.severity == "critical" and not prefix else ""
    return f"{prefix}{mark}{event.alert.title}"


def _escape(text: str) -> str:
    """Slack reads these three as its own."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _key_of(secret: str) -> bytes:
    """The bytes of a secret; one that is no base64 is taken as it is written."""
    text = secret.removeprefix(SECRET_PREFIX)
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return text.encode()


async def _post(host: Host, url: str, body: bytes, headers: Mapping[str, str]) -> None:
    """Post JSON. Raises DeliveryFailed."""
    request = UpstreamRequest(
        url=url,
        headers={"content-type": "application/json", **headers},
        body=body,
        first_byte_timeout=TIMEOUT,
        silence_timeout=TIMEOUT,
    )
    try:
        response = await host.transport().send(request)
    except GatewayError as error:
        raise DeliveryFailed(error.message) from None
    await response.aclose()
    if not 200 <= response.status < 300:
        raise DeliveryFailed(f"it answered {response.status}")
