"""Relief-family feature rankers for dense and sparse data, with scikit-learn's interface."""

from reliefe.reliefe import ReliefE
from reliefe.relieff import ReliefF

__version__ = "0.1.0"

__all__ = ["ReliefE", "ReliefF", "__version__"]
