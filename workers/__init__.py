"""Broker, outbox, actors, LLM client, supervisor."""
