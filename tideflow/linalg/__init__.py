"""Linear operators: matrices by what they do, for structures that need not be written out."""

from tideflow.linalg import (  # noqa: F401
    circulant,
    compounds,
    dense,
    forms,
    householder,
    identities,
    low_rank,
    rules,
    wrapped,
)
