# Written by `python -m tideflow.programs.stubs`.

from tideflow.graph.composite import SparseTensor as SparseTensor
from tideflow.ops.sparse.arithmetic import sparse_add as _add
from tideflow.ops.sparse.arithmetic import sparse_maximum as _maximum
from tideflow.ops.sparse.arithmetic import sparse_minimum as _minimum
from tideflow.ops.sparse.arithmetic import sparse_softmax as _softmax
from tideflow.ops.sparse.construction import sparse_expand_dims as _expand_dims
from tideflow.ops.sparse.construction import sparse_eye as _eye
from tideflow.ops.sparse.construction import sparse_merge as _merge
from tideflow.ops.sparse.construction import sparse_placeholder as _placeholder
from tideflow.ops.sparse.construction import sparse_reorder as _reorder
from tideflow.ops.sparse.construction import sparse_reset_shape as _reset_shape
from tideflow.ops.sparse.construction import sparse_reshape as _reshape
from tideflow.ops.sparse.construction import sparse_retain as _retain
from tideflow.ops.sparse.construction import sparse_transpose as _transpose
from tideflow.ops.sparse.crosses import sparse_cross as _cross
from tideflow.ops.sparse.crosses import sparse_cross_hashed as _cross_hashed
from tideflow.ops.sparse.parts import sparse_concat as _concat
from tideflow.ops.sparse.parts import sparse_fill_empty_rows as _fill_empty_rows
from tideflow.ops.sparse.parts import sparse_slice as _slice
from tideflow.ops.sparse.parts import sparse_split as _split
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_max as _reduce_max
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_max_sparse as _reduce_max_sparse
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_sum as _reduce_sum
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_sum_sparse as _reduce_sum_sparse
from tideflow.ops.sparse.sparse_segments import sparse_segment_mean as _segment_mean
from tideflow.ops.sparse.sparse_segments import sparse_segment_sqrt_n as _segment_sqrt_n
from tideflow.ops.sparse.sparse_segments import sparse_segment_sum as _segment_sum
from tideflow.ops.sparse.with_dense import from_dense as from_dense
from tideflow.ops.sparse.with_dense import sparse_mask as _mask
from tideflow.ops.sparse.with_dense import sparse_tensor_dense_matmul as _matmul
from tideflow.ops.sparse.with_dense import sparse_tensor_dense_matmul as _sparse_dense_matmul
from tideflow.ops.sparse.with_dense import sparse_tensor_to_dense as _to_dense
from tideflow.ops.sparse.with_dense import sparse_to_indicator as _to_indicator
from tideflow.queues.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator

add = _add
concat = _concat
cross = _cross
cross_hashed = _cross_hashed
expand_dims = _expand_dims
eye = _eye
fill_empty_rows = _fill_empty_rows
mask = _mask
matmul = _matmul
maximum = _maximum
merge = _merge
minimum = _minimum
placeholder = _placeholder
reduce_max = _reduce_max
reduce_max_sparse = _reduce_max_sparse
reduce_sum = _reduce_sum
reduce_sum_sparse = _reduce_sum_sparse
reorder = _reorder
reset_shape = _reset_shape
reshape = _reshape
retain = _retain
segment_mean = _segment_mean
segment_sqrt_n = _segment_sqrt_n
segment_sum = _segment_sum
slice = _slice
softmax = _softmax
sparse_dense_matmul = _sparse_dense_matmul
split = _split
to_dense = _to_dense
to_indicator = _to_indicator
transpose = _transpose
