"""Which kernel of an op runs a node: by what its values are, then by its device."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tideflow.compile.ir import Node
from tideflow.graph import dtypes
from tideflow.graph.errors import UnimplementedError

# Element-wise functions, and the forms of them that write their result over the first argument.
REUSING: dict[Callable, Callable] = {
    getattr(torch, name): getattr(torch.Tensor, f"{name}_")
    for name in (
        "abs add addcmul addcdiv cos div exp expm1 log log1p mul neg reciprocal relu rsqrt sigmoid sin sqrt "
        "square sub tanh true_divide"
    ).split()
}
COMMUTATIVE = frozenset((torch.add, torch.mul))


def _add_product(transpose_a: bool, transpose_b: bool) -> Callable:
    """`addmm` of transposed matrices, with its form that writes over the first argument."""

    def addmm(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.addmm(total, a.t() if transpose_a else a, b.t() if transpose_b else b)

    def addmm_(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return total.addmm_(a.t() if transpose_a else a, b.t() if transpose_b else b)

    REUSING[addmm] = addmm_
    return addmm


REUSING[torch.addmm] = torch.Tensor.addmm_
ADD_PRODUCT: dict[tuple[bool, bool], Callable] = {(False, False): torch.addmm} | {
    key: _add_product(*key) for key in ((False, True), (True, False), (True, True))
}
# Functions whose result is in memory of its own, shared with no other value.
FRESH = frozenset((*REUSING, *REUSING.values(), torch.mm, torch.bmm, torch.conv2d, torch.log_softmax))

_UNSIGNED = frozenset((dtypes.uint16, dtypes.uint32, dtypes.uint64))
_OBJECTS = frozenset((dtypes.string, dtypes.variant))


def has_objects(node: Node) -> bool:
    """Whether a value of the node is an array of Python objects (strings), not a torch tensor."""
    if any(value.dtype.base_dtype is dtypes.resource for value in node.outputs):
        return True  # handles, gathered or packed
    return any(value.dtype.base_dtype in _OBJECTS for value in (*node.inputs, *node.outputs))


def kernel_for(node: Node) -> Callable:
    """The kernel for the node's types ("string", "unsigned"), its device, or all."""
    kernels = node.definition.kernels
    if len(kernels) > 1:
        if "string" in kernels and has_objects(node):
            return kernels["string"]
        if "unsigned" in kernels and any(value.dtype.base_dtype in _UNSIGNED for value in node.inputs):
            return kernels["unsigned"]
        if node.device is not None and node.device.type in kernels:
            return kernels[node.device.type]
    if "" not in kernels:
        raise UnimplementedError(None, node.source, f"{node.type} has no kernel for {node.device or 'cpu'}")
    return kernels[""]
