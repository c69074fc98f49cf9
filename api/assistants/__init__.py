"""Tying assistants to the engine: what to write into whose configuration, and how to take it out.

`targets` says what goes where, `jsonc` and `tomltext` change a file and leave the rest of its text
alone, `install` writes, with a backup.
"""
