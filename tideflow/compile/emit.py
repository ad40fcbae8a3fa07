"""From a program to a plan: Python source, one line a kernel call, values freed after their last use."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable
from typing import Any

import torch

from tideflow.compile.ir import Guards, Loop, Node, Program, Value, walk
from tideflow.compile.kernels import (
    COMMUTATIVE,
    FRESH,
    REUSING,
    Kernel,
    KernelArguments,
    constant_value,
    host_constant,
    kernel_for,
    specialized,
    wants_context,
)
from tideflow.compile.loop_values import number_text, scalar_variables, sums
from tideflow.compile.plan import LocalPlan
from tideflow.compile.progress import Progress
from tideflow.compile.prune import read_op
from tideflow.compile.request import Hook
from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.ops.control_flow.switches import scalar_predicate
from tideflow.runtime.denormals import flushing
from tideflow.runtime.devices import CPU
from tideflow.runtime.kernel_threads import thread_choice
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.values import host_value
from tideflow.runtime.waiting import PendingValue, StepContext

_BUILTINS = (type(torch.add), type(torch.Tensor.add_))
_RESERVED = re.compile(r"step|context|pending|(v|c|var|feed)\d.*")  # names that the plan gives itself
_WORTH_FLUSHING = 256  # elements
_MOST_OPEN_LOOPS = 16  # in one function; Python nests 20
_INLINE = 200  # characters: longer literals are bound to a name instead


def emit(
    program: Program,
    arguments: KernelArguments,
    hook: Hook | None = None,
    implied: Guards = frozenset(),
    in_place: bool = True,
    suspendable: bool = False,
    progress: Progress | None = None,
) -> LocalPlan:
    """The plan of a placed program.

    `implied` are conditions that hold wherever the plan runs. Without `in_place`, every result is in memory
    of its own. A `suspendable` plan yields pending values instead of blocking its thread.
    """
    emitter = _Emitter(program, arguments, hook, implied, in_place, suspendable, progress or Progress())
    return emitter.plan()


class _Emitter:
    def __init__(
        self,
        program: Program,
        arguments: KernelArguments,
        hook: Hook | None,
        implied: Guards,
        in_place: bool,
        suspendable: bool,
        progress: Progress,
    ):
        self.program = program
        self.progress = progress
        self.in_place = in_place and (hook is None or not hook.looks_at_values)
        self.arguments = arguments
        self.hook = hook
        self.namespace: dict[str, Any] = {"host": host_value}
        self.names: dict[Any, str] = {}  # a value, or (value, device, block) for its copy there
        self.text: list[str] = []  # of the function that is being written
        self.lines: dict[int, Node] = {}
        self.functions: list[tuple[list[str], dict[int, Node]]] = []  # of loops, with their lines
        self.open_loops = 0  # `while` statements around the next line
        self.bound: dict[int, str] = {}
        self.loop: Loop | None = None  # the innermost loop being written
        self.implied = implied  # conditions that hold at the next line, besides those of the open `if`
        self.base = "    "
        self.block: Guards = frozenset()  # the conditions of the open `if`
        self.unfreed: list[str] = []
        self.fresh: set[Value] = set()  # values in memory of their own
        self.numbers: set[Value] = set()  # values that are Python numbers, not tensors
        self.asked: dict[Value, str] = {}  # predicates on accelerators, and the names of their booleans
        self.suspendable = suspendable
        self.suspends = False  # whether there is a line where the plan may suspend
        self.takes_context = hook is not None
        self.uses = program.uses()
        self.position = {node: i for i, node in enumerate(walk(program))}

    def plan(self) -> LocalPlan:
        feeds = [self._name(value, "feed") for value in self.program.feeds]
        self.text.append("")  # the first line, which is written when it is known whether it takes a context
        if self.hook is not None and self.hook.before is not None:
            self.text.append(f"    {self._bind('before', self.hook.before)}()")
        self._emit_all(self.program)
        fetched = "".join(f"{self._argument(v, self.program.fetch_to)}, " for v in self.program.fetches)
        self.text.append(f"    return ({fetched})")
        self.text[0] = f"def step({', '.join(['context', *feeds] if self.takes_context else feeds)}):"
        for text, lines in self.functions:
            self.lines |= {len(self.text) + number: node for number, node in lines.items()}
            self.text += text
        source = "\n".join(self.text) + "\n"
        exec(compile(source, "<tideflow plan>", "exec"), self.namespace)
        # Taken out: a function among its own globals would keep all they hold until a full collection.
        step = function = self.namespace.pop("step")
        computes = self._computes_with_floats()
        if computes and not self.suspends:
            function = flushing(function)
        return LocalPlan(
            function,
            source,
            self.takes_context,
            program=self.program,
            step=step,
            lines=self.lines,
            namespace=self.namespace,
            names=self.names,
            suspendable=self.suspends,
            threads=thread_choice() if computes else None,
            advice=tuple(self.program.advice),
        )

    def _computes_with_floats(self) -> bool:
        """Whether the step has so much floating-point arithmetic on the CPU that it is worth flushing
        denormals: setting the processor to it, and back, takes time too.
        """
        values = (
            value
            for node in walk(self.program)
            if node.definition.role != "constant" and node.device in (None, CPU)
            for value in (*node.inputs, *node.outputs)
        )
        floats = (value.shape.num_elements() for value in values if value.dtype.base_dtype.is_floating)
        return any(count is None or count >= _WORTH_FLUSHING for count in floats)

    def _emit_all(self, program: Program) -> None:
        last_use = _last_uses(program)
        for node in program.nodes:
            self.progress.node()
            self._enter_block(node)
            self._emit(node)
            self._free(last_use.get(node, ()))
        self._leave_block()

    # ------------------------------------------------------------------ conditional blocks

    @property
    def indent(self) -> str:
        return f"{self.base}    " if self.block else self.base

    def _enter_block(self, node: Node) -> None:
        """Opens the `if` under which this node runs, unless it is open already."""
        if node.definition.role == "constant" or node.definition.handle:
            return
        if self.loop is not None and (self.loop.pred, True) in node.guards - self.implied:
            self._break_unless_continued(self.loop)
        guards = node.guards - self.implied
        if guards == self.block:
            return
        self._leave_block()
        if guards:
            for pred, _ in guards:
                self._ask_once(pred)
            self.text.append(f"{self.base}if {self._condition(guards)}:")
            self.block = guards

    def _ask_once(self, pred: Value) -> None:
        """Lets the host wait for a predicate on an accelerator here, and not at every `if`."""
        is_everywhere = not pred.op.guards - self.implied
        if pred.device not in (None, CPU) and is_everywhere and pred not in self.asked:
            self.asked[pred] = f"{self.names[pred]}_holds"
            self.text.append(f"{self.base}{self.asked[pred]} = bool({self._truth(pred)})")

    def _leave_block(self) -> None:
        self.block = frozenset()
        if self.unfreed:
            self.text.append(f"{self.base}{' = '.join(self.unfreed)} = None")
            self.unfreed = []

    def _number(self, value: Value) -> str:
        if value.constant is not None:
            return self._literal(value.constant.item())
        return self.names[value] if value in self.numbers else f"{self.names[value]}_number"

    def _condition(self, guards: Guards) -> str:
        """The guards as an expression, outer predicates first: an inner one may exist only where the outer
        ones hold.
        """
        ordered = sorted(guards - self.implied, key=lambda guard: self.position.get(guard[0].op, -1))
        names = [(self.asked.get(pred) or self._truth(pred), side) for pred, side in ordered]
        return " and ".join(name if side else f"not {name}" for name, side in names) or "True"

    def _truth(self, pred: Value, text: str = "") -> str:
        """A predicate as Python asks for it; one whose rank the plan does not know is checked."""
        text = text or self.names[pred]
        if pred in self.numbers or pred.shape.ndims == 0:
            return text
        return f"{self._bind('scalar', scalar_predicate)}({text})"

    def _free(self, values: Iterable[Value]) -> None:
        names = [
            (self.names[v], v.op.guards - self.implied)
            for v in values
            if v in self.names and self.names[v] not in self.namespace
        ]
        here = [name for name, guards in names if guards == self.block]
        if here:
            self.text.append(f"{self.indent}del {', '.join(here)}")
        later = [name for name, guards in names if guards != self.block]
        if self.block:
            self.unfreed += later  # freed whether or not this block runs
        elif later:
            self.text.append(f"{self.base}{' = '.join(later)} = None")

    # ------------------------------------------------------------------ loops

    def _emit_loop(self, node: Loop) -> None:
        """Writes the variables, then the body in a `while`. The outputs of the loop are its variables."""
        variables = node.body.feeds
        if self.in_place:
            numbers, wanted = scalar_variables(node, self.numbers)
            self.numbers |= numbers
            for value in wanted:
                self._line(f"{self.names[value]}_number = {self._argument(value, CPU)}.item()", node)
        initial = [self._entering(v, var) for v, var in zip(node.inputs, variables, strict=True)]
        if self.in_place:
            added_to = sums(node, self.uses)
            self.fresh.update(added_to)
            pairs = zip(initial, variables, strict=True)
            initial = [f"{text}.clone()" if var in added_to else text for text, var in pairs]
        names = [self._name(value, "v") for value in variables]
        self._line(f"{', '.join(names)} = {', '.join(initial)}", node)
        if self.open_loops < _MOST_OPEN_LOOPS:
            texts = self._emit_while(node)
        else:
            texts = self._emit_apart(node, names)
        for value, variable, name in zip(node.outputs, variables, names, strict=True):
            self.names[value] = name
            if variable in self.numbers and self.uses.get(value):
                self._line(f"{name} = {self._as_tensor(variable)}", node)
        made = {self.names[v] for inner in node.body.nodes for v in inner.outputs if v in self.names}
        left = [text for text in dict.fromkeys(texts) if text in made and text not in self.namespace]
        if left:
            self._line(f"{' = '.join(left)} = None", node)

    def _emit_apart(self, node: Loop, variables: list[str]) -> list[str]:
        """Writes a loop as a function of its own; returns the texts that are left to free, which are none."""
        outside = self.text, self.lines, self.base, self.block, self.unfreed, self.implied, self.open_loops
        self.implied, self.block, self.unfreed = self.implied | self.block, frozenset(), []
        self.text, self.lines, self.base, self.open_loops = [""], {}, "    ", 0
        self._emit_while(node)
        results = "".join(f"{variable}, " for variable in variables)
        self.text.append(f"    return ({results})")
        parts = list(ast.walk(ast.parse("\n".join(["if True:", *self.text[1:]]))))
        taken = ", ".join([*variables, *self._taken_from_outside(parts)])
        name = self._bind("loop", node)
        self.text[0] = f"def {name}({taken}):"
        self.functions.append((self.text, self.lines))
        self.text, self.lines, self.base, self.block, self.unfreed, self.implied, self.open_loops = outside
        suspends = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts)
        self._line(f"{results}= {'yield from ' if suspends else ''}{name}({taken})", node)
        return []

    def _taken_from_outside(self, parts: list[ast.AST]) -> list[str]:
        """The names that the text of a loop takes from the function around it, besides its variables."""
        names = [part for part in parts if isinstance(part, ast.Name)]
        own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        return sorted({name.id for name in names} - own - self.namespace.keys() - vars(builtins).keys())

    def _emit_while(self, node: Loop) -> list[str]:
        """Writes the loop itself; returns the texts of the variables' next values."""
        variables = node.body.feeds
        names = [self.names[value] for value in variables]
        self._line("while True:", node)
        self.open_loops += 1
        outside = self.loop, self.implied, self.base, self.block, self.unfreed
        self.loop, self.base = node, f"{self.indent}    "
        self.implied, self.block, self.unfreed = self.implied | self.block, frozenset(), []
        self.takes_context = True
        resources, check = self._bind("resources", self.arguments.resources), self._bind("check", _check)
        self._line(f"if {resources}.closed or context.may_end: {check}(context, {resources})", node)
        self._emit_all(node.body)
        if (node.pred, True) not in self.implied:
            self._break_unless_continued(node)
        following = node.body.fetches[1:]
        texts = [self._entering(v, var) for v, var in zip(following, variables, strict=True)]
        changed = [(name, text) for name, text in zip(names, texts, strict=True) if name != text]
        if changed:
            self._line(", ".join(n for n, _ in changed) + " = " + ", ".join(t for _, t in changed), node)
        self.loop, self.implied, self.base, self.block, self.unfreed = outside
        self.open_loops -= 1
        return texts

    def _entering(self, value: Value, variable: Value) -> str:
        """The text of a value that is assigned to a loop's variable."""
        if variable not in self.numbers:
            return self._argument(value, variable.device)
        if value in self.numbers:
            return self.names[value]
        if value.constant is not None:
            return self._literal(value.constant.item())
        return f"{self._argument(value, CPU)}.item()"

    def _as_tensor(self, number: Value) -> str:
        tensor, kind = self._bind("tensor", torch.tensor), self._literal(number.dtype.torch)
        return f"{tensor}({self.names[number]}, dtype={kind})"

    def _break_unless_continued(self, loop: Loop) -> None:
        self._leave_block()
        pred = self.names[loop.pred] if loop.pred in self.numbers else self._argument(loop.pred, CPU)
        self._line(f"if not {self._truth(loop.pred, pred)}: break", loop)
        self.implied |= {(loop.pred, True)}

    # ------------------------------------------------------------------ one node

    def _emit(self, node: Node) -> None:
        op = node.definition
        if node.definition.role == "constant":
            self._bind_value(node.outputs[0], constant_value(node), "c")
            return
        if op.handle:
            function = op.kernels[""]
            self._bind_value(node.outputs[0], function(**self.arguments.of(node, function)), "var")
            return
        if node.choices:
            self._emit_merge(node)
            return
        if isinstance(node, Loop):
            self._emit_loop(node)
            return
        if node.outputs and node.outputs[0] in self.numbers:
            inputs = [self._number(value) for value in node.inputs]
            call = number_text(node, inputs)
        else:
            call = self._call(node)
            if op.suspendable and self.suspendable:
                call = self._suspending(call, node)
            elif op.blocking:
                call = self._blocking(call)
        self._line(self._assignment(node) + call, node)
        if self.hook is not None:
            self._emit_hook(node, self.hook)

    def _blocking(self, call: str) -> str:
        """The text of a call of a kernel that may wait: the thread blocks until its value has arrived."""
        self.takes_context = True
        kernel, _, arguments = call.partition("(")
        return f"context.resolve({kernel}, {arguments}"

    def _suspending(self, call: str, node: Node) -> str:
        """The text of a call's value, for which the plan suspends where it is pending."""
        self.suspends = True
        self._line(f"pending = {call}", node)
        kind = self._bind("PendingValue", PendingValue)
        return f"(yield pending) if isinstance(pending, {kind}) else pending; del pending"

    def _emit_merge(self, node: Node) -> None:
        """Writes a Merge as a choice among its inputs, by the conditions under which each is computed."""
        output, index = (self._name(value, "v") for value in node.outputs)
        texts = []
        for i, (value, guards) in enumerate(zip(node.inputs, node.choices, strict=True)):
            position = self._bind(f"index{i}", torch.tensor(i, dtype=torch.int32))
            texts.append(f"({self._chosen(value, node.device)}, {position}) if {self._condition(guards)}")
        if _one_holds(node.choices):
            texts[-1] = texts[-1].partition(" if ")[0]
        else:
            texts.append(
                f"{self._bind('no_branch', _no_branch)}({self._literal(node.name)}, {self._fetched_at(node)})"
            )
        self._line(f"{output}, {index} = {' else '.join(texts)}", node)

    def _fetched_at(self, node: Node) -> int:
        return next((i for i, value in enumerate(self.program.fetches) if value.op is node), 0)

    def _chosen(self, value: Value, device: torch.device | None) -> str:
        """The text of an input of a Merge, which exists only if it is chosen: so a copy to another device, or
        of a number to a tensor, is part of the choice.
        """
        text = self._as_tensor(value) if value in self.numbers else self.names[value]
        return f"{text}.to({self._literal(device)})" if self._must_move(value, device) else text

    def _assignment(self, node: Node) -> str:
        names = [self._name(value, "v") for value in node.outputs]
        if not names:
            return ""
        single = len(node.definition.outputs) == 1 and not node.definition.outputs[0].is_list
        return f"{names[0]} = " if single else f"{', '.join(names)}, = "

    def _call(self, node: Node) -> str:
        if node.definition is read_op:
            return f"{self._argument(node.inputs[0], node.device)}.read()"
        function, args, keywords = self._shortcut(node) or self._kernel_call(node)
        reused = self._reusable(node, function, args) if not keywords else None
        if reused is not None:
            function = REUSING[function]
            args = [args[reused], *args[:reused], *args[reused + 1 :]]
        if function in FRESH:
            self.fresh.update(node.outputs)
        texts = [self._argument(a, node.device) if isinstance(a, Value) else a for a in args]
        texts += [f"{key}={text}" for key, text in keywords.items()]
        hint = function.__name__ if isinstance(function, _BUILTINS) else node.type
        return f"{self._bind(hint, function)}({', '.join(texts)})"

    def _kernel_call(self, node: Node) -> tuple[Kernel, list[Value | str], dict[str, str]]:
        op = node.definition
        function = kernel_for(node)
        args: list[Value | str] = []
        for arg, given in zip(op.inputs, node.grouped_inputs, strict=True):
            if arg.is_list:
                args.append(f"[{', '.join(self._input(arg, value, node) for value in given)}]")
            else:
                args.append(self._input(arg, given, node) if arg.name in op.host else given)
        keywords = {key: self._literal(value) for key, value in self.arguments.of(node, function).items()}
        if wants_context(node, function):
            self.takes_context = True
            keywords["context"] = "context"
        return function, args, keywords

    def _shortcut(self, node: Node) -> tuple[Kernel, list[Value | str], dict[str, str]] | None:
        chosen = specialized(node)
        if chosen is None:
            return None
        function, args = chosen
        return function, [a if isinstance(a, Value) else self._literal(a) for a in args], {}

    def _reusable(self, node: Node, function: Kernel, args: list[Value | str]) -> int | None:
        """The argument whose memory can take the result: a temporary as large, which nothing else takes."""
        if function not in REUSING or not self.in_place:
            return None
        output = node.outputs[0]
        for i, value in enumerate(args[: 2 if function in COMMUTATIVE else 1]):
            if (
                isinstance(value, Value)
                and value in self.fresh
                and self.uses[value] == 1
                and value.dtype is output.dtype
                and value.device == node.device
                and value.op.guards - self.implied == node.guards - self.implied
                and output.shape.is_fully_defined()
                and value.shape.tuple == output.shape.tuple
            ):
                return i
        return None

    def _input(self, arg: Any, value: Value, node: Node) -> str:
        if arg.name in node.definition.host:
            if value.constant is not None:
                return self._literal(host_constant(value))
            if value in self.numbers:
                return self.names[value]
            return f"host({self._argument(value, CPU)})"
        return self._argument(value, node.device)

    def _argument(self, value: Value, device: torch.device | None) -> str:
        """The name of a value on a device; its first use there writes a copy."""
        name = self.names[value]
        key: Any
        if value in self.numbers:
            # Beside tensors of another device, torch accepts a number of the host, but not a boolean.
            away = device is not None and device != CPU and value.dtype.is_bool
            key = (value, "tensor", device if away else None, self.loop, self.block)
            if key not in self.names:
                self.names[key] = f"{name}_tensor{'_there' if away else ''}"
                moved = f".to({self._literal(device)})" if away else ""
                self._line(f"{self.names[key]} = {self._as_tensor(value)}{moved}", value.op)
            return self.names[key]
        if device is None or not self._must_move(value, device):
            return name
        there = f"{name}_{device.type}{device.index or 0}"
        if value.constant is not None:  # moved now, not in every step
            self.namespace.setdefault(there, self.namespace[name].to(device))
            return there
        key = (value, device, self.loop, self.block)
        if key not in self.names:
            self.names[key] = there
            self._line(f"{self.names[key]} = {name}.to({self._literal(device)})", value.op)
        return self.names[key]

    @staticmethod
    def _must_move(value: Value, device: torch.device | None) -> bool:
        home = value.device
        if device is None or home is None or home == device:
            return False
        return value.dtype.torch is not None and not value.dtype._is_ref_dtype

    def _emit_hook(self, node: Node, hook: Hook) -> None:
        outputs = "".join(f"{self.names[value]}, " for value in node.outputs)
        inputs = "".join(f"{self.names[value]}, " for value in node.inputs)
        after, bound = self._bind("after_each", hook.after), self._bind("node", node)
        self._line(f"{after}(context, {bound}, ({outputs}), ({inputs}))", node)

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
            if not base.isidentifier() or keyword.iskeyword(base) or _RESERVED.fullmatch(base):
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


def _last_uses(program: Program) -> dict[Node, list[Value]]:
    """By node, the values of which it is the last user."""
    seen = set(program.fetches)
    made = {value for node in program.nodes for value in node.outputs}
    if not program.is_body:
        made.update(program.feeds)
    last: dict[Node, list[Value]] = {}
    for node in reversed(program.nodes):
        taken = dict.fromkeys((*node.dependencies, *node.outputs))
        ending = [value for value in taken if value in made and value not in seen]
        seen.update(ending)
        if ending:
            last[node] = ending
    return last


def _check(context: StepContext, resources: ResourceManager) -> None:
    context.check(resources.is_closed, "Running a loop", "Loop execution")


def _one_holds(choices: list[Guards]) -> bool:
    """Whether one of the conditions always holds: they are the two sides of one predicate, as of a `cond`."""
    if frozenset() in choices:
        return True
    if len(choices) != 2 or len(choices[0]) != 1 or len(choices[1]) != 1:
        return False
    (((left, side),), ((right, other),)) = choices
    return left is right and side is not other


def _no_branch(name: str, place: int) -> None:
    raise errors.invalid_argument(
        f"Retval[{place}] does not have value: '{name}' does not have a value, as no branch that makes it "
        "was taken in this step.",
    )


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or type(value) in (bool, int, float, str, bytes)
