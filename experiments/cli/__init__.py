"""Programs: what ``run.py``, ``report.py``, ``publish.py`` and ``reliefe-study`` do."""
