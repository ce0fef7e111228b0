"""The playground: inference by whoever has signed in."""
