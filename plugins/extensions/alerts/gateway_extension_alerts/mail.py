"""Sending a mail: RFC 5321, by the standard library, in a thread."""

import asyncio
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from hashlib import sha256

from .settings import Settings

TIMEOUT = 10.0
"""Seconds for each answer of the server."""


async def send_mail(settings: Settings, subject: str, text: str, id: str) -> None:
    """Send a mail to everybody who gets alerts. Raises OSError."""
    message = EmailMessage()
    message["Subject"] = " ".join(subject.split())
    message["From"] = settings.mail_from
    message["To"] = ", ".join(settings.mail_to)
    message["Date"] = formatdate()
    domain = settings.mail_from.rpartition("@")[2]
    message["Message-ID"] = f"<{sha256(id.encode()).hexdigest()[:32]}@{domain}>"
    message.set_content(f"{text}\n")
    await asyncio.to_thread(_send, settings, message)


def _send(settings: Settings, message: EmailMessage) -> None:
    where = (settings.smtp_host, settings.smtp_port)
    protection = ssl.create_default_context()
    server = (
        smtplib.SMTP_SSL(*where, timeout=TIMEOUT, context=protection)
        if settings.smtp_security == "tls"
        else smtplib.SMTP(*where, timeout=TIMEOUT)
    )
    with server:
        if settings.smtp_security == "starttls":
            server.starttls(context=protection)
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
        server.send_message(message)
