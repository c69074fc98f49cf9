"""Hooks: what a coding assistant calls at the turns of a session.

`client` is the short-lived process that the assistant starts, `server` answers it inside the
engine, `bookend` words what a session is told.
"""
