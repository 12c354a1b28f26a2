"""Which features a ranker finds, and how sure that is: permutation tests, stability over subsamples, a plot.

pandas (for ``to_frame``) and matplotlib (for :func:`plot_weights`) are imported when they are first used.
"""

from reliefe.agreement import Stability, selection_stability
from reliefe.inspection.permutation import PermutationTest, permutation_test
from reliefe.inspection.plotting import plot_weights
from reliefe.inspection.subsamples import SubsampleStability, stability

__all__ = [
    "PermutationTest",
    "Stability",
    "SubsampleStability",
    "permutation_test",
    "plot_weights",
    "selection_stability",
    "stability",
]
