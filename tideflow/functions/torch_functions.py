"""`tf.torch_function`: functions, library ops, Triton kernels and modules of PyTorch as op types.

A function gets an op type of its own, whose kernel calls it. Types and shapes of its outputs follow from a
call with fake tensors, which computes nothing. Its gradient is a function too, which asks torch's autograd,
and becomes an op type in the same way: derivatives of any order follow.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import logging
import re
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.op import Op, ShapeError, definitions
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.shapes import TensorShape, unknown_shape
from tideflow.runtime.values import to_numpy
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_TRIALS = (7, 11)  # for a size that is unknown: what is equal after both does not depend on it
_made: dict[Any, TorchFunction] = {}  # those made of functions without a name


@export("torch_function")
def torch_function(
    function: Callable[..., Any],
    name: str | None = None,
    stateful: bool = False,
    output_types: DTypeLike | Sequence[DTypeLike] | None = None,
) -> TorchFunction:
    """Makes an op of a function of PyTorch: a library op, a launch of a Triton kernel, a module.

    The result is called with tensors by position, and with Python values by keyword, and adds an operation to
    the graph. Its gradient is torch's. The parameters of a module become variables. The function must not
    write into its inputs. A GraphDef holds the op type and the Python values; a process that imports it makes
    the op first, under the same name.

    Args:
      function: A function of torch tensors that returns one or several, such as `torch.ops.mine.fused` or the
        `apply` of a `torch.autograd.Function`; or a `torch.nn.Module`.
      name: The op type; by default made of the function's name.
      stateful: Whether the function does more than compute its outputs, such as draw random numbers: it is
        then called exactly once in a step.
      output_types: The type of the tensor that it returns, or a list of types. By default a call with fake
        tensors tells, for which the ranks of the inputs must be known, and unknown sizes may be any.

    Returns:
      A function that makes operations. For a module it has `variables` and `trainable_variables`.

    Raises:
      ValueError: If there is another op type of the name, or if the module is in training mode and has
        buffers: what a call writes into those is not kept.
    """
    if isinstance(function, torch.nn.Module):
        if function.training and any(True for _ in function.buffers()):
            raise ValueError(
                f"{type(function).__name__} is in training mode and has buffers, which a graph does not "
                "update: call its eval() first"
            )
        return _TorchModule(function, name or _free_name(type(function).__name__), stateful, output_types)
    if name is not None:
        return TorchFunction(function, name, stateful, output_types)
    if function not in _made:
        _made[function] = TorchFunction(function, _free_name(_name_of(function)), stateful, output_types)
    return _made[function]


def _name_of(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    if getattr(function, "__name__", "") == "apply":  # the `apply` of a torch.autograd.Function
        return getattr(function.__self__, "__name__", "apply")
    name = getattr(function, "__name__", type(function).__name__)
    return name.removesuffix(".default")


def _free_name(name: str) -> str:
    """An op type made of a name: TorchScaledDot of scaled_dot."""
    words = [word for word in re.split(r"\W|_", name) if word] or ["Function"]
    base = "Torch" + "".join(word[0].upper() + word[1:] for word in words)
    names = itertools.chain([base], (f"{base}{i}" for i in itertools.count(2)))
    return next(free for free in names if free not in definitions())


# -------------------------------------------------------------------------------------------------- functions


class TorchFunction:
    """A function of PyTorch as an op type.

    Attributes:
      op_type: The op type.
    """

    def __init__(
        self, function: Callable[..., Any], op_type: str, stateful: bool = False, output_types: Any = None
    ) -> None:
        self.op_type = op_type
        self._function = function
        self._output_types = output_types
        self._fixed: frozenset[int] = frozenset()  # inputs with respect to which it is never differentiated
        self._stateful = stateful
        self._backward: dict[tuple[Any, ...], TorchFunction] = {}
        self._op = Op(
            op_type,
            "inputs: Tin -> outputs: Tout",
            arguments="",
            Tin=attr("list(type)", minimum=0),
            Tout=attr("list(type)", minimum=1),
            stateful=stateful,
            touches="python",
        )
        self._op.shape(self._shapes)
        self._op.kernel(self._kernel)
        self._op.gradient(self._gradient)

    def __call__(self, *inputs: TensorLike, name: str | None = None, **arguments: Any) -> Any:
        """Adds an operation that calls the function.

        Args:
          *inputs: The tensors.
          name: A name for the operation.
          **arguments: Python values: numbers, strings, booleans, and lists of them.

        Returns:
          The tensor that the function returns, or a tuple of them.

        Raises:
          TypeError: If the function does not take such inputs.
        """
        tensors = [convert_to_tensor(value) for value in inputs]
        found = self._output_types
        if found is None:
            result = self._tried([(x.dtype, x.shape) for x in tensors], arguments, _TRIALS[0])
            found = result.dtype if isinstance(result, torch.Tensor) else [y.dtype for y in result]
        outputs = self._op(
            tensors,
            arguments=json.dumps(arguments, sort_keys=True) if arguments else "",
            Tout=list(map(as_dtype, _as_tuple(found))),
            name=name,
        )
        return tuple(outputs) if isinstance(found, (list, tuple)) else outputs[0]

    def _shapes(self, inputs: Sequence[TensorShape], *, Tin: list[DType], Tout: list[DType], arguments: str):
        if any(shape.ndims is None for shape in inputs):
            return [unknown_shape()] * len(Tout)
        given = list(zip(Tin, inputs, strict=True))
        words = _parsed(arguments)
        try:
            first, second = (
                [tuple(y.shape) for y in _as_tuple(self._tried(given, words, size))] for size in _TRIALS
            )
        except TypeError as error:
            if self._output_types is None and all(shape.is_fully_defined() for shape in inputs):
                raise ShapeError(str(error)) from None
            return [unknown_shape()] * len(Tout)
        return [_common(*pair) for pair in zip(first, second, strict=True)]

    def _tried(
        self, inputs: Sequence[tuple[DType, TensorShape]], arguments: dict[str, Any], size: int
    ) -> Any:
        """What the function returns for fake tensors, `size` standing for each size that is unknown."""
        from torch._subclasses.fake_tensor import FakeTensorMode  # loaded when asked for

        for dtype, shape in inputs:
            if dtype.torch is None:
                raise TypeError(f"{self.op_type} takes tensors of numbers, not of type {dtype.name}")
            if shape.ndims is None:
                raise TypeError(
                    f"{self.op_type} was given a tensor of unknown rank, so that the types of its outputs do "
                    "not follow: give output_types, or say more by set_shape"
                )
        try:
            _skip_launches_on_fakes()
            with _silent(), FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
                fakes = [
                    torch.empty([size if d is None else d for d in shape.tuple], dtype=dtype.torch)
                    for dtype, shape in inputs
                ]
                result = self._function(*fakes, **arguments)
        except Exception as error:
            shapes = ", ".join(f"{dtype.name}{shape}" for dtype, shape in inputs)
            raise TypeError(f"{self.op_type} does not take {shapes or 'no inputs'}: {error}") from error
        if not all(isinstance(y, torch.Tensor) for y in _as_tuple(result)) or not _as_tuple(result):
            raise TypeError(f"{self.op_type} must return tensors, not {type(result).__name__}")
        return result

    def _kernel(self, inputs: list[torch.Tensor], *, arguments: str, Tout: list[DType]) -> list[torch.Tensor]:
        with torch.no_grad():
            results = _as_tuple(self._function(*inputs, **_parsed(arguments)))
        found = [as_dtype(y.dtype) for y in results]
        if found != Tout:
            raise errors.invalid_argument(
                f"{self.op_type} returned tensors of types {[d.name for d in found]}, and the graph expects "
                f"{[d.name for d in Tout]}"
            )
        return list(results)

    def _gradient(self, op: Any, *grads: Tensor) -> list[Tensor | None]:
        smooth = tuple(_is_smooth(x.dtype) and i not in self._fixed for i, x in enumerate(op.inputs))
        given = tuple(_is_smooth(y.dtype) and g is not None for y, g in zip(op.outputs, grads, strict=True))
        key = (op.attrs["arguments"], smooth, given)
        if key not in self._backward:
            backward = functools.partial(_backward, self._function, _parsed(key[0]), smooth, given)
            name = _free_name(f"{self.op_type.removeprefix('Torch')}_grad")
            known = self._output_types and [x.dtype for x in itertools.compress(op.inputs, smooth)]
            self._backward[key] = TorchFunction(backward, name, self._stateful, known)
        try:
            found = self._backward[key](*op.inputs, *itertools.compress(grads, given))
        except TypeError as error:
            raise LookupError(
                f"No gradient defined for operation '{op.name}' (op type: {op.type}): {error}"
            ) from error
        each = iter(found)
        return [next(each) if is_smooth else None for is_smooth in smooth]


def _backward(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    smooth: Sequence[bool],
    given: Sequence[bool],
    *values: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """The gradients of a function's inputs, from the inputs and the gradients of its outputs."""
    is_outer = torch.is_grad_enabled()  # within the gradient of this gradient
    inputs, grads = values[: len(smooth)], values[len(smooth) :]
    with torch.enable_grad():
        leaves = [
            x if not is_smooth or is_outer and x.requires_grad else x.detach().requires_grad_()
            for x, is_smooth in zip(inputs, smooth, strict=True)
        ]
        outputs = [y for y, is_given in zip(_as_tuple(function(*leaves, **arguments)), given) if is_given]
        pairs = [(y, g) for y, g in zip(outputs, grads, strict=True) if y.requires_grad]
        if not pairs:
            raise TypeError("torch knows no derivative of it")
        wanted = [x for x, is_smooth in zip(leaves, smooth, strict=True) if is_smooth]
        found = torch.autograd.grad(
            [y for y, _ in pairs], wanted, [g for _, g in pairs], create_graph=is_outer, allow_unused=True
        )
    return tuple(torch.zeros_like(x) if g is None else g for x, g in zip(wanted, found, strict=True))


def _skip_launches_on_fakes() -> None:
    """Has Triton launch no kernel on fake tensors, which have no memory: what a function allocates for the
    kernel's results says their types and shapes.
    """
    triton = sys.modules.get("triton.runtime.jit")
    if triton is None or triton.KernelInterface.__getitem__.__module__ == __name__:
        return
    from torch._subclasses.fake_tensor import FakeTensor  # loaded when asked for

    launcher_of = triton.KernelInterface.__getitem__

    def skipping_fakes(kernel: Any, grid: Any) -> Callable[..., Any]:
        launch = launcher_of(kernel, grid)

        def launched(*args: Any, **kwargs: Any) -> Any:
            is_fake = any(isinstance(each, FakeTensor) for each in (*args, *kwargs.values()))
            return None if is_fake else launch(*args, **kwargs)

        return launched

    triton.KernelInterface.__getitem__ = skipping_fakes


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keeps torch from logging why fake tensors do not fit: the error says it."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _is_smooth(dtype: DType) -> bool:
    return dtype.is_floating or dtype.is_complex


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


@functools.cache
def _parsed(arguments: str) -> dict[str, Any]:
    return json.loads(arguments) if arguments else {}


def _common(first: tuple[int, ...], second: tuple[int, ...]) -> TensorShape:
    if len(first) != len(second):
        return unknown_shape()
    return TensorShape([a if a == b else None for a, b in zip(first, second, strict=True)])


# ---------------------------------------------------------------------------------------------------- modules


class _TorchModule(TorchFunction):
    """A module of PyTorch: its parameters and buffers are variables of the graph, and inputs of the op.

    Attributes:
      op_type: The op type.
      variables: The variables in the default graph, once the module was called there.
      trainable_variables: Those of them that are parameters that require gradients.
    """

    def __init__(self, module: torch.nn.Module, op_type: str, stateful: bool, output_types: Any) -> None:
        values = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        self._values = {name: value.detach() for name, value in values.items()}
        self._trainable = {name for name, value in module.named_parameters() if value.requires_grad}
        self._variables: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
        count = len(self._values)

        def call(*inputs: torch.Tensor, **arguments: Any) -> Any:
            values = dict(zip(self._values, inputs[:count], strict=True))
            return torch.func.functional_call(module, values, inputs[count:], arguments)

        super().__init__(call, op_type, stateful, output_types)
        self._fixed = frozenset(i for i, key in enumerate(self._values) if key not in self._trainable)

    def __call__(self, *inputs: TensorLike, name: str | None = None, **arguments: Any) -> Any:
        values = self._in_graph().values()
        return super().__call__(*values, *inputs, name=name, **arguments)

    def _in_graph(self) -> dict[str, Any]:
        graph = get_default_graph()
        if graph not in self._variables:
            with variable_scope(None, default_name=self.op_type):
                self._variables[graph] = {
                    name: get_variable(
                        name.replace(".", "/"),
                        initializer=to_numpy(value.clone()),
                        trainable=name in self._trainable,
                        use_resource=True,
                    )
                    for name, value in self._values.items()
                }
        return self._variables[graph]

    @property
    def variables(self) -> list[Any]:
        return list(self._variables.get(get_default_graph(), {}).values())

    @property
    def trainable_variables(self) -> list[Any]:
        found = self._variables.get(get_default_graph(), {})
        return [variable for name, variable in found.items() if name in self._trainable]
