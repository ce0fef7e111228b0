"""Values and protocols that both sides of a plugin boundary share."""
