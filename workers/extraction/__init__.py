"""Extraction: from messages to insights, by a local model or by rules. Knows neither queue nor vault."""
