"""The catalog of vendors: whom an account can be at, and what it has to hold."""
