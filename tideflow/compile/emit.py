"""From a program to a plan: Python source, one line a kernel call, values freed after their last use."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from tideflow.compile.ir import Guards, Node, Program, Value
from tideflow.compile.kernels import COMMUTATIVE, FRESH, REUSING, has_objects, kernel_for
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.operation import Operation
from tideflow.runtime.denormals import flushing
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.values import host_value, to_torch

_CPU = torch.device("cpu")
_BUILTINS = (type(torch.add), type(torch.Tensor.add_))
_VALUE = re.compile(r"(v|c|var|feed)\d")  # how the plan calls its values
_WORTH_FLUSHING = 256  # elements
_INLINE = 200  # characters: longer literals are bound to a name instead


@dataclass
class Plan:
    """A compiled step: call `function(*feeds)`; the rest explains it."""

    function: Callable
    source: str
    lines: dict[int, Node]  # line of the source -> the node it runs
    program: Program
    namespace: dict[str, Any]  # what the source's names mean
    applied: list[str] = field(default_factory=list)  # rewrites that changed something
    compile_seconds: float = 0.0

    def operation_at(self, line: int) -> Operation | None:
        node = self.lines.get(line)
        return None if node is None else node.source


def emit(program: Program, resources: ResourceManager, after_each: Callable | None = None) -> Plan:
    """Compiles the program. `after_each(node, outputs, inputs)` is called after every kernel, for checks and
    traces.
    """
    return _Emitter(program, resources, after_each).plan()


class _Emitter:
    def __init__(self, program: Program, resources: ResourceManager, after_each: Callable | None):
        self.program = program
        self.resources = resources
        self.after_each = after_each
        self.namespace: dict[str, Any] = {"host": host_value}
        self.names: dict[Any, str] = {}  # a value, or (value, device, block) for its copy there
        self.text: list[str] = []
        self.lines: dict[int, Node] = {}
        self.bound: dict[int, str] = {}
        self.block: Guards = frozenset()
        self.indent = "    "
        self.unfreed: list[str] = []
        self.fresh: set[Value] = set()  # values in memory of their own
        self.uses = program.uses()
        self.position = {node: i for i, node in enumerate(program.nodes)}

    def plan(self) -> Plan:
        feeds = [self._name(value, "feed") for value in self.program.feeds]
        self.text.append(f"def step({', '.join(feeds)}):")
        last_use = self._last_uses()
        for node in self.program.nodes:
            self._enter_block(node)
            self._emit(node)
            self._free(last_use.get(node, ()))
        self._leave_block()
        fetched = "".join(f"{self._argument(value, _CPU)}, " for value in self.program.fetches)
        self.text.append(f"    return ({fetched})")
        source = "\n".join(self.text) + "\n"
        exec(compile(source, "<tideflow plan>", "exec"), self.namespace)
        step = self.namespace["step"]
        function = flushing(step) if self._computes_with_floats() else step
        return Plan(function, source, self.lines, self.program, self.namespace)

    def _computes_with_floats(self) -> bool:
        """Whether the step's arithmetic is more than the cost of setting how it is done."""
        outputs = (value for node in self.program.nodes if node.type != "Const" for value in node.outputs)
        floats = (value.shape.num_elements() for value in outputs if value.dtype.base_dtype.is_floating)
        return any(count is None or count >= _WORTH_FLUSHING for count in floats)

    def _last_uses(self) -> dict[Node, list[Value]]:
        seen = set(self.program.fetches)
        last: dict[Node, list[Value]] = {}
        for node in reversed(self.program.nodes):
            ending = [
                value for value in dict.fromkeys((*node.dependencies, *node.outputs)) if value not in seen
            ]
            seen.update(ending)
            if ending:
                last[node] = ending
        return last

    # ------------------------------------------------------------------ conditional blocks

    def _enter_block(self, node: Node) -> None:
        """Opens the `if` under which this node runs, unless it is open already."""
        if node.guards == self.block or node.type == "Const" or node.definition.handle:
            return
        self._leave_block()
        if node.guards:
            self.text.append(f"    if {self._condition(node.guards)}:")
            self.block, self.indent = node.guards, "        "

    def _leave_block(self) -> None:
        self.block, self.indent = frozenset(), "    "
        if self.unfreed:
            self.text.append(f"    {' = '.join(self.unfreed)} = None")
            self.unfreed = []

    def _condition(self, guards: Guards) -> str:
        """The guards as an expression, outer predicates first: an inner one may exist only where the outer
        ones hold.
        """
        ordered = sorted(guards, key=lambda guard: self.position.get(guard[0].op, -1))
        return " and ".join(f"{'' if side else 'not '}{self.names[pred]}" for pred, side in ordered) or "True"

    def _free(self, values: Any) -> None:
        names = [
            (self.names[v], v) for v in values if v in self.names and self.names[v] not in self.namespace
        ]
        here = [name for name, value in names if value.op.guards == self.block]
        if here:
            self.text.append(f"{self.indent}del {', '.join(here)}")
        later = [name for name, value in names if value.op.guards != self.block]
        if self.block:
            self.unfreed += later  # freed whether or not this block runs
        elif later:
            self.text.append(f"    {' = '.join(later)} = None")

    # ------------------------------------------------------------------ one node

    def _emit(self, node: Node) -> None:
        op = node.definition
        if node.type == "Const":
            self._bind_value(node.outputs[0], to_torch(node.attrs["value"], node.device), "c")
            return
        if op.handle:
            function = op.kernels[""]
            self._bind_value(node.outputs[0], function(**self._keywords(node, function)), "var")
            return
        if node.choices:
            self._emit_merge(node)
            return
        call = self._call(node)
        self._line(self._assignment(node) + call, node)
        if self.after_each is not None:
            self._emit_after(node)

    def _emit_merge(self, node: Node) -> None:
        """A Merge is the choice among its inputs by the conditions under which each is there."""
        output, index = (self._name(value, "v") for value in node.outputs)
        texts = []
        for i, (value, guards) in enumerate(zip(node.inputs, node.choices, strict=True)):
            position = self._bind(f"index{i}", torch.tensor(i, dtype=torch.int32))
            texts.append(f"({self._argument(value, node.device)}, {position}) if {self._condition(guards)}")
        if _one_holds(node.choices):
            texts[-1] = texts[-1].partition(" if ")[0]
        else:
            texts.append(f"{self._bind('no_branch', _no_branch)}({self._literal(node.name)})")
        self._line(f"{output}, {index} = {' else '.join(texts)}", node)

    def _assignment(self, node: Node) -> str:
        names = [self._name(value, "v") for value in node.outputs]
        if not names:
            return ""
        single = len(node.definition.outputs) == 1 and not node.definition.outputs[0].is_list
        return f"{names[0]} = " if single else f"{', '.join(names)}, = "

    def _call(self, node: Node) -> str:
        if node.type == "_Read":
            return f"{self._argument(node.inputs[0], node.device)}.read()"
        function, args, keywords = self._shortcut(node) or self._kernel_call(node)
        reused = self._reusable(node, function, args) if not keywords else None
        if reused is not None:
            function = REUSING[function]
            args = [args[reused], *args[:reused], *args[reused + 1 :]]
        if function in FRESH:
            self.fresh.update(node.outputs)
        texts = [self._argument(a, node.device) if isinstance(a, Value) else a for a in args]
        texts += [f"{key}={self._literal(value)}" for key, value in keywords.items()]
        hint = function.__name__ if isinstance(function, _BUILTINS) else node.type
        return f"{self._bind(hint, function)}({', '.join(texts)})"

    def _kernel_call(self, node: Node) -> tuple[Callable, list[Value | str], dict[str, Any]]:
        op = node.definition
        function = kernel_for(node)
        args: list[Value | str] = []
        for arg, given in zip(op.inputs, node.grouped_inputs, strict=True):
            if arg.is_list:
                args.append(f"[{', '.join(self._input(arg, value, node) for value in given)}]")
            else:
                args.append(self._input(arg, given, node) if arg.name in op.host else given)
        return function, args, self._keywords(node, function)

    def _shortcut(self, node: Node) -> tuple[Callable, list[Value | str], dict[str, Any]] | None:
        """A cheaper call that the op's own rule proposes for these attributes, shapes and constants."""
        rule = node.definition.specialize_rule
        if rule is None or has_objects(node):
            return None
        try:
            chosen = rule(node)
        except ValueError:  # bad sizes are the step's to report, if it ever comes here
            return None
        if chosen is None:
            return None
        function, args = chosen
        return function, [a if isinstance(a, Value) else self._literal(a) for a in args], {}

    def _reusable(self, node: Node, function: Callable, args: list[Value | str]) -> int | None:
        """The argument whose memory can take the result: made here, as large, and taken by nobody else."""
        if function not in REUSING or self.after_each is not None:
            return None
        output = node.outputs[0]
        for i, value in enumerate(args[: 2 if function in COMMUTATIVE else 1]):
            if (
                isinstance(value, Value)
                and value in self.fresh
                and self.uses[value] == 1
                and value.dtype is output.dtype
                and value.op.device == node.device
                and value.op.guards == node.guards
                and output.shape.is_fully_defined()
                and value.shape.tuple == output.shape.tuple
            ):
                return i
        return None

    def _input(self, arg: Any, value: Value, node: Node) -> str:
        if arg.name in node.definition.host:
            if value.constant is not None:
                return self._literal(value.constant.tolist())
            return f"host({self._argument(value, _CPU)})"
        return self._argument(value, node.device)

    def _argument(self, value: Value, device: torch.device | None) -> str:
        """The name of a value on a device, with a copy made there on first use."""
        name = self.names[value]
        home = value.op.device
        if (
            device is None
            or home is None
            or home == device
            or value.dtype.torch is None
            or value.dtype._is_ref_dtype
        ):
            return name
        key = (value, device, self.block)
        if key not in self.names:
            self.names[key] = f"{name}_{device.type}{device.index or 0}"
            self._line(f"{self.names[key]} = {name}.to({self._literal(device)})", value.op)
        return self.names[key]

    def _keywords(self, node: Node, function: Callable) -> dict[str, Any]:
        return {name: self._keyword(node, name) for name in node.definition.wants(function)}

    def _keyword(self, node: Node, name: str) -> Any:
        if name in node.attrs:
            return node.attrs[name]
        if name == "device":
            return node.device or _CPU
        if name == "resources":
            return self.resources
        if name == "state":
            return self.resources.get_or_create("", "state of an op", node.name, dict)
        return node

    def _emit_after(self, node: Node) -> None:
        outputs = "".join(f"{self.names[value]}, " for value in node.outputs)
        inputs = "".join(f"{self.names[value]}, " for value in node.inputs)
        hook, bound = self._bind("after_each", self.after_each), self._bind("node", node)
        self._line(f"{hook}({bound}, ({outputs}), ({inputs}))", node)

    # ------------------------------------------------------------------ names and literals

    def _line(self, text: str, node: Node) -> None:
        self.text.append(self.indent + text)
        self.lines[len(self.text)] = node

    def _name(self, value: Value, prefix: str) -> str:
        name = self.names[value] = f"{prefix}{len(self.names)}"
        return name

    def _bind_value(self, value: Value, obj: Any, prefix: str) -> None:
        self.namespace[self._name(value, prefix)] = obj

    def _bind(self, hint: str, obj: Any) -> str:
        """A name of the plan's globals for this object."""
        if id(obj) not in self.bound:
            base = re.sub(r"\W", "_", hint)
            if not base.isidentifier() or keyword.iskeyword(base) or base == "step" or _VALUE.match(base):
                base = f"{base}_"
            name, count = base, 1
            while name in self.namespace:
                name, count = f"{base}_{count}", count + 1
            self.namespace[name] = obj
            self.bound[id(obj)] = name
        return self.bound[id(obj)]

    def _literal(self, value: Any) -> str:
        if isinstance(value, DType):
            return self._bind(value.name, value)
        if _is_plain(value):
            text = repr(value)
            if len(text) <= _INLINE and "nan" not in text and "inf" not in text:
                return text
        return self._bind(type(value).__name__, value)


def _one_holds(choices: list[Guards]) -> bool:
    """Whether one of the conditions holds whatever happens: the two sides of one predicate, as of a cond."""
    if frozenset() in choices:
        return True
    if len(choices) != 2 or len(choices[0]) != 1 or len(choices[1]) != 1:
        return False
    (((left, side),), ((right, other),)) = choices
    return left is right and side is not other


def _no_branch(name: str) -> None:
    raise InvalidArgumentError(
        None, None, f"'{name}' does not have a value: no branch that makes it was taken in this step."
    )


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or type(value) in (bool, int, float, str, bytes)
