"""An OAuth front for assistants that take no fixed token. A server of its own, off by default."""
