"""Markdown notes: the truth."""
