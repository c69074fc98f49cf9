"""Chunking, embedding and hybrid search over the vault."""
