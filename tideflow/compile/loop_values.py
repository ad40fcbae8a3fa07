"""Loop variables that need not be tensors of their own: counters become Python numbers, so that an iteration
of a small loop costs what Python costs and not what kernels do; sums are added to in place.
"""

from __future__ import annotations

from tideflow.compile.ir import Loop, Node, Value
from tideflow.graph import dtypes
from tideflow.runtime.devices import CPU

_BITS = {dtypes.int32: 32, dtypes.int64: 64}


def scalar_variables(loop: Loop, outside: set[Value]) -> tuple[set[Value], set[Value]]:
    """The loop's variables, and values of its body, that can be Python numbers; and the tensors from outside
    the loop that are needed as numbers for that.

    `outside` are the numbers of the loops around this one.
    """
    made = {value for node in loop.body.nodes for value in node.outputs}.union(loop.body.feeds)
    variables = {value for value in loop.body.feeds if _is_number(value)}
    while True:
        numbers: set[Value] = set(variables)
        wanted: set[Value] = set()
        for node in loop.body.nodes:
            if _computes_number(node, numbers, made):
                numbers.update(node.outputs)
                wanted.update(
                    v for v in node.inputs if v not in numbers and v not in outside and v.constant is None
                )
        known = numbers | outside
        kept = {
            value
            for value, following in zip(loop.body.feeds, loop.body.fetches[1:], strict=True)
            if value in variables and (following in known or _is_constant(following))
        }
        if kept == variables:
            return (numbers, wanted) if kept else (set(), set())
        variables = kept


def _is_number(value: Value) -> bool:
    is_whole = value.dtype in _BITS or value.dtype is dtypes.bool
    return is_whole and value.shape.tuple == () and value.device == CPU


def _is_constant(value: Value) -> bool:
    return value.constant is not None and _is_number(value)


def _computes_number(node: Node, numbers: set[Value], made: set[Value]) -> bool:
    """Whether a node is arithmetic on numbers: of the loop, or from outside of it."""
    if not node.definition.as_number or not _is_number(node.outputs[0]):
        return False
    if node.definition.may_overflow and node.outputs[0].dtype not in _BITS:
        return False
    from_loop = [value in numbers for value in node.inputs]
    return any(from_loop) and all(
        inside or _is_number(value) and (value.constant is not None or value not in made)
        for inside, value in zip(from_loop, node.inputs, strict=True)
    )


def number_text(node: Node, inputs: list[str]) -> str:
    """The node as an expression of Python numbers."""
    text = node.definition.as_number.format(*inputs)
    if not node.definition.may_overflow:
        return text
    half = 1 << (_BITS[node.outputs[0].dtype] - 1)
    return f"({text} + {half} & {2 * half - 1}) - {half}"  # wraps as the kernels do


def sums(loop: Loop, uses: dict[Value, int]) -> dict[Value, Node]:
    """Variables that an iteration only adds to, and the node that does."""
    found = {}
    for variable, following in zip(loop.body.feeds, loop.body.fetches[1:], strict=True):
        node = following.op
        if (
            variable in node.inputs[: node.definition.sums_inputs]
            and uses[variable] == uses[following] == 1
            and variable.dtype is following.dtype
            and variable.dtype.is_floating
            and variable.shape.is_fully_defined()
            and variable.shape.tuple == following.shape.tuple
            and variable.device == node.device
        ):
            found[variable] = node
    return found
