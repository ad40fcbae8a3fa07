"""What a step learns from the machine around it, or does to it: the time, a file's memory, the end."""

from __future__ import annotations

import mmap
import os
import sys
import time

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr

# ---------------------------------------------------------------------------------- time

timestamp_op = Op("Timestamp", " -> ts: double", stateful=True, differentiable=False)


@timestamp_op.shape
def _timestamp_shape():
    return []


@timestamp_op.kernel
def _timestamp_kernel():
    return torch.tensor(time.time(), dtype=torch.float64)


timestamp_op.samples(covered_by="tests/ops/files/test_machine.py")


@export("timestamp")
def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970, when the step comes here."""
    return timestamp_op(name=name)


# ---------------------------------------------------------------------------------- files as memory

immutable_const_op = Op(
    "ImmutableConst",
    " -> tensor: dtype",
    shape=attr("shape"),
    memory_region_name=attr("string"),
    differentiable=False,
)


@immutable_const_op.shape
def _immutable_const_shape(*, shape):
    return shape


def _mapped(path, dtype, sizes):
    """The file's bytes as a tensor, which nobody may write to."""
    if dtype.torch is None:
        raise errors.unimplemented(f"Sorry, {dtype.name} is not currently supported")
    try:
        with open(path, "rb") as file:
            wanted = int(np.prod(sizes)) * dtype.size
            found = os.fstat(file.fileno()).st_size
            if found < wanted:
                raise errors.internal(
                    f"Readonly memory region has wrong length ({found}) when allocating {wanted}"
                )
            # A private copy on write, because torch has no read-only tensors.
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if wanted else b""
    except FileNotFoundError:
        raise errors.not_found(f"{path}; No such file or directory") from None
    if not wanted:
        return torch.zeros(sizes, dtype=dtype.torch)
    return torch.frombuffer(memory, dtype=dtype.torch, count=int(np.prod(sizes))).reshape(sizes)


@immutable_const_op.kernel
def _immutable_const_kernel(*, dtype, shape, memory_region_name, state, device):
    if "value" not in state:
        state["value"] = _mapped(memory_region_name, dtype, shape.as_list()).to(device)
    return state["value"]


immutable_const_op.samples(covered_by="tests/ops/files/test_machine.py")

# ---------------------------------------------------------------------------------- the end

abort_op = Op("Abort", "", error_msg="", exit_without_error=False, differentiable=False)
abort_op.effects = True  # TensorFlow's list of op types does not say so


@abort_op.shape
def _abort_shape():
    return []


@abort_op.kernel
def _abort_kernel(*, error_msg, exit_without_error):
    sys.stdout.flush()
    if exit_without_error:
        os._exit(0)
    print(f"Abort: {error_msg}", file=sys.stderr, flush=True)
    os.abort()


abort_op.samples(covered_by="tests/ops/files/test_machine.py")

# ---------------------------------------------------------------------------------- a fact

fact_op = Op("Fact", " -> fact: string", differentiable=False)


@fact_op.shape
def _fact_shape():
    return []


@fact_op.kernel
def _fact_kernel():
    return np.array(b"0! == 1", dtype=object)


fact_op.samples((), against=lambda: np.array(b"0! == 1", dtype=object))
