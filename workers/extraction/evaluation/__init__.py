"""Measuring an extractor over labelled conversations; a set of our own is shipped in `data/`."""
