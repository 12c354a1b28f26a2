"""The benchmark: data sets, rankers, cross-validation, rows on disk, tables and figures."""
