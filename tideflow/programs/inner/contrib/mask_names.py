"""`tensorflow.contrib.distributions.python.ops.bijectors.masked_autoregressive`: the masks of its layers."""

from __future__ import annotations

import numpy as np

import tideflow as tf
from tideflow.contrib.distributions.bijectors.flows import block_mask

MASK_INCLUSIVE = "inclusive"
MASK_EXCLUSIVE = "exclusive"


def _gen_mask(
    num_blocks: int, n_in: int, n_out: int, mask_type: str = MASK_EXCLUSIVE, dtype: tf.DType = tf.float32
) -> np.ndarray:
    """Which inputs (columns) each output (row) sees."""
    mask = block_mask(num_blocks, n_in, n_out, mask_type == MASK_EXCLUSIVE)
    return mask.T.astype(dtype.as_numpy_dtype)
