"""The vocabulary: one module a family, one place an op."""

from tideflow.ops import (  # noqa: F401
    constants,
    control_flow,
    creation,
    decompositions,
    diagonals,
    flow,
    indexing,
    joining,
    resource_state,
    scatter,
    shapes,
    slicing,
    state,
    state_scatter,
    tiling,
)
