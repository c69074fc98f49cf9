"""Routines: what the engine does by itself. Schedule, history, one run, and the thread of `up`."""
