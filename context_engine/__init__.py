"""Kernel of the context engine: what every other package may import, importing none of them."""

__version__ = "0.1.0"
