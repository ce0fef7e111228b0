"""HTTP/1.1, as RFC 9112 defines it, with limits on everything that a client sends."""
