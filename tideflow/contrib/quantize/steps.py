"""A step counter of its own, by which quantization begins, or batch norms freeze, after a while."""

from __future__ import annotations

from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph, name_scope
from tideflow.ops.arrays.constants import identity
from tideflow.ops.state.reference_variables import assign_add
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable

_NAME = "fake_quantization_step"


def quantization_step() -> Tensor:
    """The counter of the default graph, which each step that reads it advances."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_NAME}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        counter = get_variable(
            _NAME,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )
        with name_scope(f"{counter.op.name}/"):
            return identity(assign_add(counter, 1))
