"""WebSockets: RFC 6455 over HTTP/1.1, and RFC 8441 over HTTP/2."""
