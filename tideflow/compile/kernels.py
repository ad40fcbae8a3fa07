"""Which kernel of an op runs a node, and what it is given beside the node's inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tideflow.compile.ir import Node, Value
from tideflow.graph import dtypes
from tideflow.graph.errors import ResourceExhaustedError, UnimplementedError
from tideflow.graph.memory import check_memory
from tideflow.graph.tensor_proto import is_repeated
from tideflow.ops.helpers import cpu_functions, cpu_products
from tideflow.runtime.devices import CPU
from tideflow.runtime.resources import OP_STATE, ResourceManager
from tideflow.runtime.values import is_out_of_memory, to_torch

Kernel = Callable[..., Any]

# Element-wise functions, and the forms of them that write their result over the first argument.
REUSING: dict[Kernel, Kernel] = {
    getattr(torch, name): getattr(torch.Tensor, f"{name}_")
    for name in (
        "abs add addcmul addcdiv cos div exp expm1 log log1p mul neg reciprocal relu rsqrt sigmoid sin sqrt "
        "square sub tanh true_divide"
    ).split()
}
COMMUTATIVE = frozenset((torch.add, torch.mul))


def _add_product(transpose_a: bool, transpose_b: bool) -> Kernel:
    """`addmm` of transposed matrices; its form that writes over the first argument is in REUSING."""

    def addmm(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.addmm(total, a.t() if transpose_a else a, b.t() if transpose_b else b)

    def addmm_(total: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return total.addmm_(a.t() if transpose_a else a, b.t() if transpose_b else b)

    REUSING[addmm] = addmm_
    return addmm


REUSING[torch.addmm] = torch.Tensor.addmm_
REUSING.update(cpu_functions.REUSING)
ADD_PRODUCT: dict[tuple[bool, bool], Kernel] = {(False, False): torch.addmm} | {
    key: _add_product(*key) for key in ((False, True), (True, False), (True, True))
}
# Functions whose result is in memory of its own, shared with no other value.
FRESH = frozenset(
    (
        *(*REUSING, *REUSING.values(), torch.mm, torch.bmm, torch.conv2d, torch.log_softmax),
        *(
            each
            for way in (cpu_products.ONEDNN, cpu_products.TRANSPOSED)
            for form in way
            for each in form.values()
        ),
    )
)

_LARGEST_HOST_CONSTANT = 64 << 20  # bytes

# What kernels ask for that only a running session has: such a node cannot be compiled, recorded or exported.
OF_A_RUN = frozenset(("state", "resources", "context", "planned"))

_UNSIGNED = frozenset((dtypes.uint16, dtypes.uint32, dtypes.uint64))
_OBJECTS = frozenset((dtypes.string, dtypes.variant))


def has_objects(node: Node) -> bool:
    """Whether a value of the node is an array of Python objects (strings), not a torch tensor."""
    if any(value.dtype.base_dtype is dtypes.resource for value in node.outputs):
        return True  # an array of handles
    return any(value.dtype.base_dtype in _OBJECTS for value in (*node.inputs, *node.outputs))


def kernel_for(node: Node) -> Kernel:
    """The kernel for the node's types ("string", "unsigned"), for its device, or for all."""
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


def specialized(node: Node) -> tuple[Kernel, Sequence[Any]] | None:
    """The cheaper call that the op's `specialize` rule proposes for the node's attributes, shapes and
    constants: a function and its arguments.
    """
    rule = node.definition.specialize_rule
    if rule is None or has_objects(node):
        return None
    try:
        chosen: tuple[Kernel, Sequence[Any]] | None = rule(node)
    except ValueError:  # the kernel reports sizes that do not fit, if the step ever runs it
        return None
    return chosen


def constant_value(node: Node) -> Any:
    """The runtime value of a constant. A repeated one (`is_repeated`) gets its memory here."""
    array = node.attrs["value"]
    try:
        if is_repeated(array):
            check_memory(array.shape, node.outputs[0].dtype.base_dtype)
        return to_torch(array, node.device)
    except (ResourceExhaustedError, MemoryError, RuntimeError) as error:
        if not isinstance(error, ResourceExhaustedError) and not is_out_of_memory(error):
            raise
        source = node.source
        raise ResourceExhaustedError(source and source.node_def, source, str(error)) from None


def host_constant(value: Value) -> Any:
    """A constant as Python numbers, the form in which kernels take sizes and axes."""
    array = value.constant
    if array.nbytes > _LARGEST_HOST_CONSTANT:
        source = value.op.source
        raise ResourceExhaustedError(
            source and source.node_def,
            source,
            f"A constant with shape{list(array.shape)} and type {value.dtype.name} is too large for sizes, "
            f"axes or indices that a kernel takes on the host: at most {_LARGEST_HOST_CONSTANT} bytes",
        )
    return array.tolist()


def call_kernel(
    node: Node,
    tensor: Callable[[Value], torch.Tensor],
    number: Callable[[Value], Any],
    kernel: Callable[..., Any] | None = None,
) -> list[Any]:
    """Runs a node on the CPU, outside of a plan. `tensor` gives an input as a tensor, `number` one that the
    kernel takes as Python numbers. `kernel` is another one than the node's own.
    """
    op = node.definition
    named = op.wants(kernel_for(node)) if kernel is None else inspect.getfullargspec(kernel).kwonlyargs
    kernel = kernel or kernel_for(node)
    args: list[Any] = []
    for arg, given in zip(op.inputs, node.grouped_inputs, strict=True):
        take = number if arg.name in op.host else tensor
        args.append([take(value) for value in given] if arg.is_list else take(given))
    extras = {"device": CPU, "node": node}
    wanted = {name: node.attrs[name] if name in node.attrs else extras[name] for name in named}
    result = kernel(*args, **wanted)
    return list(result) if isinstance(result, (tuple, list)) else [result]


class KernelArguments:
    """What kernels are given beside their inputs, by the names that they ask for (`KERNEL_EXTRAS` in
    `graph/op.py`): a session's state, and the graph's functions as callables.
    """

    def __init__(
        self,
        resources: ResourceManager,
        plan_function: Callable[[Node, str, Sequence[Any], ResourceManager], Callable[..., Any]],
        states: dict[str, dict[str, Any]] | None = None,
    ):
        self.resources = resources
        self._plan_function = plan_function
        self._states = states

    def of(self, node: Node, kernel: Kernel) -> dict[str, Any]:
        """The keyword arguments of a node's kernel, but for `context`, which only a running step has."""
        wanted = node.definition.wants(kernel)
        return {name: self._argument(node, name) for name in wanted if not _is_context(node, name)}

    def _argument(self, node: Node, name: str) -> Any:
        if name in node.attrs:
            return node.attrs[name]
        if name == "device":
            return node.device or CPU
        if name == "resources":
            return self.resources
        if name == "state" and self._states is not None:
            return self._states.setdefault(node.name, {})
        if name == "state":
            return self.resources.get_or_create("", OP_STATE, node.name, dict)
        if name == "node":
            return node
        assert name == "planned", f"{node.type} has no attribute '{name}'"
        return lambda key, captured=(): self._plan_function(node, key, captured, self.resources)


def wants_context(node: Node, kernel: Kernel) -> bool:
    """Whether a node's kernel asks for the context of the step that runs it."""
    return any(_is_context(node, name) for name in node.definition.wants(kernel))


def _is_context(node: Node, name: str) -> bool:
    return name == "context" and name not in node.attrs
