"""Combos: named chains of models."""
