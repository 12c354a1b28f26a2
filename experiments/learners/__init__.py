"""Learners of this project, and scikit-learn's forest computed another way.

``NestedLogisticRegression`` is named in configurations, and so in the keys of published rows, as
``experiments.learners.NestedLogisticRegression``: it stays importable from here.
"""

from experiments.learners.nested_logistic_regression import NestedLogisticRegression

__all__ = ["NestedLogisticRegression"]
