"""Compiled loops over flat arrays: no objects, no text, no randomness.

Each kernel has a slow, obvious twin in ``tests/naive.py``. All release the interpreter lock and take the
half-open range they are to work on, so that the caller decides how work is spread over threads; no result
depends on how it is spread.
"""
