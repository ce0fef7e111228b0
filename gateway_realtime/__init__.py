"""Realtime sockets: admission, and the session with a chat model."""
