"""One cell: data set × ranker × repeat → rows."""
