"""`tf.contrib.layers`: layers as functions of tensors that make their variables where they stand."""

from tideflow.contrib.layers import (  # noqa: F401
    arrangement,
    columns,
    convolutions,
    dense,
    divisive,
    embeddings,
    normalizers,
    optimization,
    penalties,
    pools,
    reversible,
    scaling,
    summaries,
    utilities,
)
