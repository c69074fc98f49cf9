"""Which words announce which kind of insight. Data, one module a language; `table.py` joins it.

The patterns see a sentence in lower-case-insensitive mode, with one space between words, straight
apostrophes, and quotations blanked out to `〓`. Each is short and bounded: matching is linear.
"""
