"""What kind of TensorFlow this is: `tensorflow.python.tf2`, `platform.build_info` and the like."""

import collections.abc as collections_abc  # noqa: F401 - looked up by programs

from tideflow.graph import dtypes
from tideflow.variables.behavior import v2_behavior_enabled


def enabled() -> bool:
    """Whether the program behaves as with TensorFlow 2."""
    return v2_behavior_enabled()


is_cuda_build = is_rocm_build = False  # of TensorFlow's own library; GPUs are PyTorch's affair
cuda_version_number = cudnn_version_number = ""


def preload_check() -> None:
    """Nothing: there is no library of TensorFlow's to look for."""


def get_default_communication_protocol() -> str:
    """How the address of a server begins."""
    return "grpc"


def TF_bfloat16_type() -> type:
    """NumPy's type of numbers of 16 bits with the exponents of float32."""
    return dtypes.bfloat16.as_numpy_dtype
