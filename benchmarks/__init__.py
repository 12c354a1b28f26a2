"""Measurements of speed, memory and overhead; see README.md in this folder."""
