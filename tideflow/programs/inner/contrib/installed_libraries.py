"""Which libraries are installed that contrib works with, and does without."""

from __future__ import annotations

from importlib.util import find_spec

HAS_DASK = find_spec("dask") is not None
HAS_PANDAS = find_spec("pandas") is not None
HAS_SKLEARN = find_spec("sklearn") is not None
