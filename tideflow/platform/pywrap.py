"""`tf.pywrap_tensorflow`: what programs ask of TensorFlow's C++ side."""

from __future__ import annotations

import torch

from tideflow.export import export, expose
from tideflow.graph import graph
from tideflow.platform import testing

expose(graph.GRAPH_DEF_VERSION, "pywrap_tensorflow.GRAPH_DEF_VERSION")
expose(testing.is_built_with_cuda, "pywrap_tensorflow.IsGoogleCudaEnabled")
expose(testing.is_built_with_rocm, "pywrap_tensorflow.IsBuiltWithROCm")


@export("pywrap_tensorflow.IsMklEnabled")
def is_mkl_enabled() -> bool:
    """Whether convolutions and products run on oneDNN."""
    return torch.backends.mkldnn.is_available()
