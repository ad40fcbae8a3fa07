"""Tideflow: TensorFlow 1's dataflow graphs on today's kernels.

`import tideflow as tf`, and the program runs as it is.
"""

import gc
import sys

from tideflow.runtime import process  # noqa: F401 - before torch is loaded

# isort: split
from tideflow import (  # noqa: F401
    autodiff,
    cluster,
    contrib,
    data,
    distributions,
    feature_column,
    graph,
    image,
    io,
    layers,
    linalg,
    lookup,
    losses,
    metrics,
    nn,
    ops,
    platform,
    profiler,
    queues,
    ragged,
    random,
    raw_ops,
    saved_model,
    session,
    signal,
    summary,
    train,
    variables,
)
from tideflow.export import publish
from tideflow.graph.op import check_complete

__version__ = "0.1.0"

check_complete()
ragged.dispatch.install()
publish(sys.modules[__name__])

# Some hundred thousand objects, of torch and ours, are here to stay. Frozen, they are not looked at again
# while a program builds a large graph, which was a fifth of the building.
gc.freeze()
