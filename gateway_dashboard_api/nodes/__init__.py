"""Nodes: the operator's own endpoints."""
