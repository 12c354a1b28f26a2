"""One module per implementation that is measured.

Each has ``open_job(X, y, settings, threads)``, which returns a job with ``warm_up()``, ``fit()`` → seconds that the
timer's own wall clock is to be replaced by (or None), ``weights`` of the last fit, and ``notes`` (a dict); and
``versions()``. A module runs in the Python of its implementation, so nothing here may import from this project but
``ours`` and ``bare_umap``.
"""
