"""Long stretches of small arithmetic, computed by NumPy.

What an operation on a few numbers takes is mostly the call, and NumPy's calls take a third of ATen's. Sums,
products and quotients are the same to the last bit; tanh differs by at most two units in the last place. A
stretch pays where it has so many operations that turning its inputs and results into arrays and back does not
matter. The plan that the hot tier compiles, and plans with a hook, have the operations one by one.
"""

from __future__ import annotations

import contextvars
import copy
import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Loop, Node, Program, Value
from tideflow.compile.kernels import kernel_for, specialized
from tideflow.compile.stretches import Stretch, calling
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.math.adding import add_n_op
from tideflow.runtime.devices import CPU

_LARGEST = 1024  # elements of a value: beyond that the arithmetic takes longer than the call
_FEWEST = 16  # operations of a stretch
_PER_VALUE = 3  # operations that pay for turning one value into an array, or back

# One call of NumPy: the function and its arguments, where None is the result of the call before.
_Call = tuple[np.ufunc, list[Any]]

# ATen's functions and NumPy's, of as many arguments.
_UFUNCS: dict[Callable[..., Any], np.ufunc] = {
    torch.add: np.add,
    torch.sub: np.subtract,
    torch.mul: np.multiply,
    torch.div: np.divide,
    torch.true_divide: np.divide,
    torch.neg: np.negative,
    torch.abs: np.absolute,
    torch.square: np.square,
    torch.maximum: np.maximum,
    torch.minimum: np.minimum,
    torch.tanh: np.tanh,
}

small_arithmetic_op = Op(
    "_SmallArithmetic",
    "inputs: Tin -> outputs: Tout",
    Tin=attr("list(type)"),
    Tout=attr("list(type)"),
    function=attr("string"),
    differentiable=False,
)
small_arithmetic_op.shape(lambda inputs, *, Tout: [None] * len(Tout))
small_arithmetic_op.kernel(lambda inputs, *, function: function(*inputs))
small_arithmetic_op.specialize(lambda node: (node.attrs["function"], node.inputs))
small_arithmetic_op.samples(covered_by="tests/compile/test_small_arithmetic.py")


def with_small_arithmetic(program: Program) -> Program:
    """The program, or one with nodes that call NumPy in the place of stretches for which that pays."""
    if not _is_quiet_possible():
        return program
    nodes: list[Node] = []
    uses = functools.cache(program.uses)
    run: dict[Node, list[_Call]] = {}  # small nodes that follow each other, but for constants
    for node in program.nodes:
        calls = _small_calls(node)
        if run and (calls is None or node.guards != next(iter(run)).guards):
            if node.definition.role == "constant":
                nodes.append(node)
                continue
            nodes += _computed(run, uses)
            run = {}
        if calls is None:
            nodes.append(_with_small_body(node) if isinstance(node, Loop) else node)
        else:
            run[node] = calls
    nodes += _computed(run, uses)
    return dataclasses.replace(program, nodes=nodes)


def functions_of(program: Program) -> list[str]:
    """The sources of the functions that a program's nodes of small arithmetic call, for reading."""
    bodies = [text for node in program.nodes if isinstance(node, Loop) for text in functions_of(node.body)]
    return bodies + [
        node.attrs["function"].source for node in program.nodes if node.definition is small_arithmetic_op
    ]


def _with_small_body(loop: Loop) -> Loop:
    changed = copy.copy(loop)
    changed.body = with_small_arithmetic(loop.body)
    return changed


# -------------------------------------------------------------------------------- which stretches


def _small_calls(node: Node) -> list[_Call] | None:
    """The calls of NumPy that compute a node as ATen does: few floats of one type, in known sizes."""
    if isinstance(node, Loop) or node.effects or node.device not in (None, CPU):
        return None
    if len(node.outputs) != 1 or not node.inputs:
        return None
    output = node.outputs[0]
    if output.dtype not in (dtypes.float32, dtypes.float64) or not output.shape.ndims:
        return None  # of numbers without dimensions, NumPy makes objects that are no arrays
    for value in (output, *node.inputs):
        count = value.shape.num_elements()
        if value.dtype is not output.dtype or count is None or count > _LARGEST:
            return None
    return _calls(node)


def _computed(run: Mapping[Node, list[_Call]], uses: Callable[[], dict[Value, int]]) -> list[Node]:
    """The nodes that follow each other, or one that calls NumPy in their place."""
    operations = sum(map(len, run.values()))
    if operations < _FEWEST:
        return list(run)
    inside = Counter(value for node in run for value in node.inputs)
    made = [node.outputs[0] for node in run]
    wanted = [value for value in made if uses().get(value, 0) > inside[value]]
    stretch = Stretch(list(run), wanted)
    given = [value for value in stretch.taken if value.constant is None]  # constants are written into it
    if operations < _FEWEST + _PER_VALUE * (len(given) + len(wanted)):
        return list(run)
    function = _Writer(stretch, given, run).function()
    node = calling(small_arithmetic_op, function, given, wanted, stretch.nodes[-1], "small")
    node.guards = stretch.guards
    return [node]


def _calls(node: Node) -> list[_Call] | None:
    """The calls of NumPy that compute a node, one after the other; None where there are none."""
    if node.definition is add_n_op and len(node.inputs) > 1:
        first, second, *others = node.inputs
        return [(np.add, [first, second]), *((np.add, [None, other]) for other in others)]
    function, args = _aten_call(node)
    if function is torch.addcmul and len(args) == 3:
        addend, *factors = args
        # The sum is written over the product, which must be as large.
        is_whole = any(factor.shape.tuple == node.outputs[0].shape.tuple for factor in factors)
        return [(np.multiply, factors), (np.add, [addend, None])] if is_whole else None
    ufunc = _UFUNCS.get(function)
    return None if ufunc is None or ufunc.nin != len(args) else [(ufunc, args)]


def _aten_call(node: Node) -> tuple[Any, list[Any]]:
    """The function of ATen that runs a node, and its arguments; None where the kernel is more than that."""
    chosen = specialized(node)
    if chosen is not None:
        function, args = chosen
        return function, list(args)
    kernel = kernel_for(node)
    return (None if node.definition.wants(kernel) else kernel), list(node.inputs)


# -------------------------------------------------------------------------------- the function of a stretch


class _Writer:
    """Writes the Python function of a stretch: from tensors to tensors, a line a call."""

    def __init__(self, stretch: Stretch, given: Sequence[Value], small: Mapping[Node, list[_Call]]):
        self._stretch = stretch
        self._given = given
        self._small = small
        self._namespace: dict[str, Any] = {"from_numpy": torch.from_numpy}
        self._names: dict[Value, str] = {value: f"a{i}" for i, value in enumerate(given)}
        self._constants: dict[Any, str] = {}
        self._uses = self._count_uses()
        self._own: set[Value] = set()  # whose arrays the function has made, and nobody else wants

    def function(self) -> Callable[..., Any]:
        names = [self._names[value] for value in self._given]
        lines = [f"def small({', '.join(names)}):"]
        lines += [f"    {name} = {name}.numpy()" for name in names]
        for node in self._stretch.nodes:
            lines += self._lines(node)
        results = "".join(f"from_numpy({self._names[value]}), " for value in self._stretch.results)
        lines.append(f"    return ({results})")
        source = "\n".join(lines) + "\n"
        exec(compile(source, "<tideflow small arithmetic>", "exec"), self._namespace)
        return _quiet(self._namespace["small"], source)

    def _count_uses(self) -> dict[Value, int]:
        uses = dict.fromkeys(self._stretch.results, 1)
        for node in self._stretch.nodes:
            for value in node.inputs:
                uses[value] = uses.get(value, 0) + 1
        return uses

    def _lines(self, node: Node) -> list[str]:
        output = node.outputs[0]
        name = self._names[output] = f"a{len(self._names)}"
        lines = []
        for ufunc, args in self._small[node]:
            texts = [name if arg is None else self._text(arg, output) for arg in args]
            into = name if any(arg is None for arg in args) else self._reusable(args, output)
            self._namespace[ufunc.__name__] = ufunc
            lines.append(f"    {name} = {ufunc.__name__}({', '.join([*texts, into] if into else texts)})")
        self._own.add(output)
        return lines

    def _text(self, arg: Any, output: Value) -> str:
        if isinstance(arg, Value) and arg in self._names:
            return self._names[arg]
        number = np.asarray(arg.constant if isinstance(arg, Value) else arg, output.dtype.as_numpy_dtype)
        key = arg if isinstance(arg, Value) else (arg, output.dtype)
        name = self._constants.setdefault(key, f"c{len(self._constants)}")
        self._namespace[name] = number
        return name

    def _reusable(self, args: Sequence[Any], output: Value) -> str:
        """The array that can take the result: one of this function, as large, that nothing else wants."""
        for arg in args:
            if (
                isinstance(arg, Value)
                and arg in self._own
                and self._uses[arg] == 1
                and arg.shape.tuple == output.shape.tuple
            ):
                return self._names[arg]
        return ""


# -------------------------------------------------------------------------------- without NumPy's warnings

_ignoring = contextvars.copy_context()


def _is_quiet_possible() -> bool:
    """Whether NumPy keeps what it warns of in a context, as it does since version 2."""
    return np.lib.NumpyVersion(np.__version__) >= "2.0.0"


if _is_quiet_possible():
    _ignoring.run(np.seterr, all="ignore")  # overflow is no error in a step


def _quiet(function: Callable[..., Any], source: str) -> Callable[..., Any]:
    def small(*inputs: torch.Tensor) -> Any:
        return _ignoring.copy().run(function, *inputs)

    small.source = source  # type: ignore[attr-defined]
    return small
