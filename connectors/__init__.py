"""One file per source: source to events."""
