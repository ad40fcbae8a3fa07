"""Names that libraries of decoders and cells take from inside TensorFlow's modules of recurrent networks."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.seq2seq.helpers import unstacked
from tideflow.graph import nest
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.graph.shapes import as_shape
from tideflow.programs.inner.graph.control_flow_names import GetContainingWhileContext
from tideflow.programs.inner.graph.operation_names import _concat
from tideflow.rnn.cells import batch_of_zeros
from tideflow.rnn.loops import best_effort_input_batch_size, infer_state_dtype, transpose_batch_time

__all__ = ["_concat"]

_best_effort_input_batch_size = best_effort_input_batch_size
_infer_state_dtype = infer_state_dtype
_transpose_batch_time = transpose_batch_time
_unstack_ta = unstacked
_zero_state_tensors = batch_of_zeros

_BIAS_VARIABLE_NAME, _WEIGHTS_VARIABLE_NAME = "bias", "kernel"
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"


def _create_zero_outputs(size: Any, dtype: Any, batch_size: Any) -> Any:
    """Outputs of zeros, of these sizes and types: structures alike."""
    return nest.map_structure(lambda s, d: batch_of_zeros(s, batch_size, d), size, dtype)


def _maybe_tensor_shape_from_tensor(shape: Any) -> Any:
    """What a tensor of sizes is known to be, as a shape; anything else as it is."""
    return as_shape(constant_value(shape)) if isinstance(shape, Tensor) else shape


def _should_cache() -> bool:
    """Whether a layer may read its variables once a step: not inside of a loop, nor in eager mode."""
    if executing_eagerly():
        return False
    return GetContainingWhileContext(get_default_graph()._get_control_flow_context()) is None
