"""Extraction: from messages to insights, by a local model or by rules. No queue, no vault."""
