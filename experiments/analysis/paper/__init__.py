"""The paper's claims and side experiments, recomputed from rows."""
