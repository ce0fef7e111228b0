"""TLS before HTTP: handshakes, and a transport that closes as HTTP/1.1 needs it."""
