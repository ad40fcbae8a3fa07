"""Numbers: element-wise functions, reductions, segments, casts, checks and counts."""
