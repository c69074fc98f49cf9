"""Embedding backends behind one protocol."""
