"""Rows → frames. Pure functions: no files, no drawing."""
