"""Checks of vendors on the operator's behalf: reachability, keys, lists of models."""
