"""The owner's dashboard: server-rendered pages for one person on this machine."""
