"""Frames → figures. Draws what it is given; computes no result and reads no store."""
