"""How much memory of a GPU is in use: the ops of `tf.contrib.memory_stats`."""

from __future__ import annotations

import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor

_TESTS = "tests/contrib/test_memory_stats.py"


def _of_a_gpu(device: torch.device, op_type: str) -> torch.device:
    """The device, which must be one whose allocator counts what it gives."""
    if torch.device(device).type != "cuda":
        raise errors.invalid_argument(
            f"No OpKernel was registered to support Op '{op_type}' on the CPU: only GPUs count their "
            'memory. Put it under tf.device("/gpu:0").'
        )
    return torch.device(device)


bytes_in_use_op = Op("BytesInUse", " -> out: int64", stateful=True, differentiable=False)


@bytes_in_use_op.shape
def _bytes_in_use_shape():
    return []


@bytes_in_use_op.kernel
def _bytes_in_use_kernel(*, device):
    return torch.tensor(torch.cuda.memory_allocated(_of_a_gpu(device, "BytesInUse")))


bytes_in_use_op.samples(covered_by=_TESTS)


@export("contrib.memory_stats.BytesInUse")
def BytesInUse() -> Tensor:
    """How many bytes of the GPU's memory tensors occupy, in each step; a scalar int64."""
    return bytes_in_use_op()


bytes_limit_op = Op("BytesLimit", " -> out: int64", stateful=True, differentiable=False)


@bytes_limit_op.shape
def _bytes_limit_shape():
    return []


@bytes_limit_op.kernel
def _bytes_limit_kernel(*, device):
    return torch.tensor(torch.cuda.get_device_properties(_of_a_gpu(device, "BytesLimit")).total_memory)


bytes_limit_op.samples(covered_by=_TESTS)


@export("contrib.memory_stats.BytesLimit")
def BytesLimit() -> Tensor:
    """How many bytes of memory the GPU has; a scalar int64."""
    return bytes_limit_op()


max_bytes_in_use_op = Op("MaxBytesInUse", " -> out: int64", stateful=True, differentiable=False)


@max_bytes_in_use_op.shape
def _max_bytes_in_use_shape():
    return []


@max_bytes_in_use_op.kernel
def _max_bytes_in_use_kernel(*, device):
    return torch.tensor(torch.cuda.max_memory_allocated(_of_a_gpu(device, "MaxBytesInUse")))


max_bytes_in_use_op.samples(covered_by=_TESTS)


@export("contrib.memory_stats.MaxBytesInUse")
def MaxBytesInUse() -> Tensor:
    """The most bytes of the GPU's memory that tensors occupied so far; a scalar int64."""
    return max_bytes_in_use_op()
