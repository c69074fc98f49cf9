"""Take secrets out of text before it is stored: keys, tokens, passwords, cookies, card numbers."""

from context_engine.redaction.engine import redact
from context_engine.redaction.model import CustomPattern, Redacted, RedactionOptions
from context_engine.redaction.patterns import custom_pattern

__all__ = ["CustomPattern", "Redacted", "RedactionOptions", "custom_pattern", "redact"]
