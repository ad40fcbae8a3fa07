"""Tideflow from nothing: a dataflow system in one file, over NumPy. Run it: python docs/from_nothing.py

A TensorFlow program runs twice. The first time Python runs it, and nothing is computed: each line only adds
a node to a graph. The second time a session takes the part of the graph that an answer needs, compiles it,
and runs it as often as you like. Between the two the program is data, and data can be differentiated,
pruned, simplified, spread over machines and saved. That gap is the whole idea.

We build it bottom up, and at the end it learns to read handwritten digits (which scikit-learn brings). It
is small where Tideflow is complete (one dtype, one output an operation, one device), but the ideas and
their order are Tideflow's own. Each section ends in a `demo_` function that shows what was gained and
asserts it.
"""

import copy
import keyword
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count, repeat, zip_longest
from typing import Any

import numpy as np

# 1. The graph =============================================================================================
#
# An Operation is a node. A Tensor is an edge: a value that will exist when the graph runs. For now we know
# its shape, or a part of it: None is a size that only a feed can tell. A node holds the *name* of its type,
# not a function, so a graph can be saved here and run elsewhere. `after` lists tensors that must be
# computed first though their values are not used.


@dataclass(eq=False)
class Operation:
    graph: "Graph"
    index: int
    type: str
    name: str
    inputs: list["Tensor"]
    attrs: dict[str, Any]
    after: list["Tensor"]
    line: str
    output: "Tensor" = field(init=False)


@dataclass(eq=False)
class Tensor:
    op: Operation
    shape: tuple[int | None, ...]
    __array_ufunc__ = None  # in `array + tensor`, NumPy leaves the sum to us

    def __repr__(self):
        return f"{self.op.name}{self.shape}"


class Graph:
    """A graph only grows, and a node takes only tensors that exist.

    Therefore the order in which nodes were made is an order in which they can run. We lean on that
    throughout: there is no topological sort in this file.
    """

    newest: "Graph"  # where operations go

    def __init__(self):
        self.ops, self.names, self.initializers = [], set(), []
        Graph.newest = self

    def add(self, type, inputs=(), attrs=None, after=(), name=None, shape_rule=lambda *_: ()) -> Tensor:
        name, attrs, shapes = name or type.lower(), attrs or {}, [x.shape for x in inputs]
        op = Operation(self, len(self.ops), type, name, list(inputs), attrs, list(after), user_line())
        with blame(op, shapes):
            if any(x.op.graph is not self for x in chain(inputs, after)):
                raise ValueError("an input belongs to another graph")
            if not name.isidentifier():
                raise ValueError("the name must be a Python identifier")
            op.output = Tensor(op, tuple(shape_rule(*shapes, **attrs)))
        op.name = unique(name, self.names)
        self.ops.append(op)
        return op.output


def unique(wanted: str, taken: set[str]) -> str:
    """`wanted`, or else the first of wanted_1, wanted_2, ... that is free; it is taken from now on."""
    name = next(n for n in chain([wanted], (f"{wanted}_{i}" for i in count(1))) if n not in taken)
    taken.add(name)
    return name


def user_line() -> str:
    """The nearest caller outside this file, or in one of its demonstrations.

    A graph fails long after the line that was wrong, so each node remembers its line.
    """
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals is globals() and not frame.f_code.co_name.startswith("demo_"):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class OpError(Exception):
    """An error is the page of the manual that everybody reads: it tells what, where and why."""

    def __init__(self, op: Operation, shapes: list, why: Exception):
        inputs = f" of {', '.join(map(str, shapes))}" if shapes else ""
        super().__init__(f"{op.type} '{op.name}'{inputs}, made at {op.line}: {why}")


@contextmanager
def blame(op: Operation, shapes: list):
    try:
        yield
    except Exception as error:
        raise OpError(op, shapes, error) from error


def refusal(function: Callable, *args, **kwargs) -> str:
    """What the error said, for the demonstrations."""
    try:
        function(*args, **kwargs)
    except OpError as error:
        return str(error)
    raise AssertionError("a mistake was accepted")


def demo_graph():
    """A graph is data: nodes with names, and the lines that made them."""
    graph = Graph()
    moon = graph.add("Moon")
    graph.add("Tide", [moon])
    graph.add("Tide", [moon])
    for op in graph.ops:
        print(f"{op.type}({', '.join(x.op.name for x in op.inputs)}) is called {op.name}, made at {op.line}")
    assert [op.name for op in graph.ops] == ["moon", "tide", "tide_1"]


# 2. An operation, in one place ============================================================================
#
# What a type of operation *means* stands in a table, OPS, a paragraph each: its schema (inputs by position,
# attributes by keyword), its shape rule, its kernel (a plain function of arrays, which never writes into
# one it was given) and its gradient. Leave one out and Python itself refuses. To call a definition is to
# add a node.

OPS: dict[str, "Op"] = {}


@dataclass
class Op:
    type: str
    schema: str
    shape: Callable
    kernel: Callable
    gradient: Callable
    stateful: bool = False

    def __post_init__(self):
        OPS[self.type] = self

    def __call__(self, *inputs, name: str | None = None, after=(), **attrs) -> Tensor:
        wanted, _, keywords = self.schema.partition(";")
        if len(inputs) != len(wanted.split()) or attrs.keys() != set(keywords.split()):
            raise TypeError(f"{self.type} takes '{self.schema}': inputs by position; attributes by keyword")
        inputs = [x if isinstance(x, Tensor) else constant(x) for x in inputs]
        return Graph.newest.add(self.type, inputs, attrs, after, name, self.shape)


def product_shape(a, b):
    if len(a) != 2 or len(b) != 2:
        raise ValueError("both inputs must be matrices")
    if a[1] != b[0] and None not in (a[1], b[0]):
        raise ValueError(f"inner sizes {a[1]} and {b[0]} differ")
    return a[0], b[1]


# Here are two whole operations. A gradient is a law over tensors: given the inputs, the output y and the
# gradient g of y, it answers with one gradient for each input. It computes nothing. It is made of
# operations, so what it builds can be differentiated again.

matmul = Op(
    "MatMul", "a b", product_shape, np.matmul, lambda a, b, y, g: [g @ transpose(b), transpose(a) @ g]
)
transpose = Op("Transpose", "x", lambda x: x[::-1], np.transpose, lambda x, y, g: [transpose(g)])


def same(shape):
    return shape


def unfed(shape):
    """To forget a feed is no special case anywhere: it is what the kernel of a placeholder has to say."""
    raise ValueError("its value must be fed")


def not_differentiable(*_):
    """No gradient for any input, however many there are."""
    return repeat(None)


# Where values enter: constants, and placeholders, which are fed at each step.

const = Op("Const", "; value", lambda value: value.shape, lambda value: value, not_differentiable)
placeholder = Op("Placeholder", "; shape", same, unfed, not_differentiable, stateful=True)


def constant(value, name: str | None = None) -> Tensor:
    return const(value=np.array(value, dtype=float), name=name)


def spread_kernel(x, to):
    return np.broadcast_to(x, np.shape(to))


def collect_kernel(x, to):
    x = np.sum(x, axis=tuple(range(np.ndim(x) - np.ndim(to))))
    return np.sum(x, axis=tuple(i for i, size in enumerate(np.shape(to)) if size == 1), keepdims=True)


# Broadcasting lets a small array stand for a large one, so its gradient must gather what was spread. Two
# operations say it: `spread` x to the shape of another tensor, or `collect` it by summing. Each is the
# other's gradient.

spread = Op("Spread", "x to", lambda x, to: to, spread_kernel, lambda x, to, y, g: [collect(g, x), None])
collect = Op("Collect", "x to", lambda x, to: to, collect_kernel, lambda x, to, y, g: [spread(g, x), None])


def broadcast(a, b):
    """NumPy's rule, from the right; an unknown size gives way to any known one but 1."""
    sizes = []
    for m, n in zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m != n and not {m, n} & {1, None}:
            raise ValueError(f"sizes {m} and {n} do not broadcast")
        sizes.append(n if m == 1 or (m is None and n != 1) else m)
    return sizes[::-1]


def binary(type: str, kernel: Callable, law: Callable) -> Op:
    return Op(type, "a b", broadcast, kernel, lambda a, b, y, g: map(collect, law(a, b, y, g), (a, b)))


# Element-wise operations differ in a kernel and a law of calculus, so a line each is enough.

neg = Op("Neg", "x", same, np.negative, lambda x, y, g: [-g])
exp = Op("Exp", "x", same, np.exp, lambda x, y, g: [g * y])
log = Op("Log", "x", same, np.log, lambda x, y, g: [g / x])
tanh = Op("Tanh", "x", same, np.tanh, lambda x, y, g: [g * (1 - y * y)])
add = binary("Add", np.add, lambda a, b, y, g: [g, g])
sub = binary("Sub", np.subtract, lambda a, b, y, g: [g, -g])
mul = binary("Mul", np.multiply, lambda a, b, y, g: [g * b, g * a])
div = binary("Div", np.divide, lambda a, b, y, g: [g / b, -g * y / b])

Tensor.__neg__ = lambda x: neg(x)
for symbol, op in dict(add=add, sub=sub, mul=mul, truediv=div, matmul=matmul).items():
    setattr(Tensor, f"__{symbol}__", lambda a, b, op=op: op(a, b))
    setattr(Tensor, f"__r{symbol}__", lambda a, b, op=op: op(b, a))


def evaluate(tensor: Tensor, known: dict[Tensor, Any]):
    """All it takes to run a graph: ask for the inputs, then call the kernel.

    `known` starts with what is fed and remembers the rest. It keeps every value and runs out of stack on a
    deep graph, but it is obviously right, and the compiler of section 6 will be checked against it.
    """
    if tensor not in known:
        op = tensor.op
        for other in op.after:
            evaluate(other, known)
        known[tensor] = OPS[op.type].kernel(*[evaluate(x, known) for x in op.inputs], **op.attrs)
    return known[tensor]


def demo_op():
    """An operation is a paragraph; a mistake is found while the graph is built."""
    Graph()
    x = placeholder(shape=(None, 3), name="x")
    y = tanh(x @ np.ones((3, 2)) + 1)
    assert y.shape == (None, 2)
    assert np.allclose(evaluate(y, {x: np.zeros((5, 3))}), np.tanh(1))
    print(message := refusal(matmul, x, np.ones((4, 2)), name="product"))
    assert "MatMul 'product' of (None, 3), (4, 2)" in message and "inner sizes 3 and 4 differ" in message


# 3. State =================================================================================================
#
# A model must remember its weights. Values flow along edges and are gone; so let something flow that names
# a place: a handle, to which whoever runs the graph feeds a Cell. Reading and writing are operations that
# take the handle. They are stateful: run twice they may answer differently, so they are never run early.
#
# Two laws make state bearable. *A value that was read never changes*: a write puts a new array in the cell
# and leaves the old one to whoever holds it. (Tideflow writes in place when it can prove that nobody does.)
# *No update is lost*: adding is one operation under a lock; to read, add and write would be three, with
# room for another thread in between.


class Cell:
    def __init__(self):
        self.value, self.lock = None, threading.Lock()

    def read(self):
        if self.value is None:
            raise ValueError("the variable has no value yet; run the initializers first")
        return self.value

    def write(self, value):
        with self.lock:
            self.value = value
        return value

    def add(self, delta):
        with self.lock:
            self.value = self.read() + delta
            return self.value


def fits(wanted, found):
    """The shape `wanted`, if a value of shape `found` may be put there."""
    if len(wanted) != len(found) or any(m != n and None not in (m, n) for m, n in zip(wanted, found)):
        raise ValueError(f"shape {tuple(found)} does not fit {tuple(wanted)}")
    return wanted


handle = Op("VarHandle", "; shape", same, unfed, not_differentiable)  # the shape of the value behind it
read = Op("ReadVariable", "handle", same, Cell.read, not_differentiable, stateful=True)
assign = Op("Assign", "handle value", fits, Cell.write, not_differentiable, stateful=True)
assign_add = Op("AssignAdd", "handle delta", fits, Cell.add, not_differentiable, stateful=True)
no_op = Op("NoOp", "", lambda: (), lambda: None, not_differentiable)  # fetched for what comes before it


@dataclass
class Variable:
    handle: Tensor  # to write through
    value: Tensor  # as it was read


def variable(initial, name: str) -> Variable:
    initial = constant(initial)
    place = handle(shape=initial.shape, name=name)
    Graph.newest.initializers.append(assign(place, initial))
    return Variable(place, read(place, name=f"{name}_value"))


def demo_state():
    """State is a cell behind a handle; what was read stays as it was."""
    graph = Graph()
    level = variable(2.0, name="level")
    rise = assign_add(level.handle, 0.5, after=[level.value])
    later = read(level.handle, after=[rise])
    cell = Cell()
    evaluate(no_op(after=graph.initializers), {level.handle: cell})
    evaluate(later, step := {level.handle: cell})
    print(f"the level was {step[level.value]} and is {step[later]}")
    assert (step[level.value], step[later]) == (2.0, 2.5)


# 4. Gradients =============================================================================================


def gradients(y: Tensor, xs: list[Tensor]) -> list[Tensor | None]:
    """dy/dx for each x, as new graph; None where y does not depend on x.

    The chain rule is a walk backward over the graph. At each node we know what flows in from its consumers
    (they were made later, so we have passed them all), and its own law says what flows on to its inputs.
    The walk computes nothing. It adds nodes, which are then pruned, compiled and differentiated like any
    others.
    """
    flows = {y: spread(1.0, y)}
    for op in reversed(y.op.graph.ops[: y.op.index + 1]):
        if op.output in flows:
            law = OPS[op.type].gradient
            for x, grad in zip(op.inputs, law(*op.inputs, op.output, flows[op.output])):
                if grad is not None:
                    flows[x] = flows[x] + grad if x in flows else grad
    return [flows.get(x) for x in xs]


def demo_gradients():
    """Gradients are more graph, so gradients have gradients."""
    Graph()
    x = placeholder(shape=(), name="x")
    y = x * x * x
    (slope,) = gradients(y, [x])
    (bend,) = gradients(slope, [x])
    at_2 = [float(evaluate(t, {x: 2.0})) for t in (y, slope, bend)]
    print("x*x*x, its slope and its slope's slope at 2:", at_2)
    assert at_2 == [8, 12, 12]


# 5. Pruning ===============================================================================================


def needed(fetches, feeds=()) -> list[Operation]:
    """The operations that must run to answer the fetches, in an order in which they can.

    A graph holds all that a program may ever want: training, testing, initial values. A step wants a little
    of it. Walk back from what is fetched, and stop at what is fed. Any tensor may be fed, not only a
    placeholder.
    """
    found, todo = set(), list(fetches)
    while todo:
        tensor = todo.pop()
        if tensor not in feeds and tensor.op not in found:
            found.add(tensor.op)
            todo += tensor.op.inputs + tensor.op.after
    return sorted(found, key=lambda op: op.index)


def demo_pruning():
    """A step runs what its fetches need and stops at its feeds."""
    graph = Graph()
    x = placeholder(shape=(), name="x")
    hidden = tanh(x, name="hidden")
    y = exp(hidden, name="y")
    gradients(y, [x])
    whole, rest = ([op.name for op in needed([y], feeds)] for feeds in ([], [hidden]))
    print(f"of {len(graph.ops)} operations y needs {whole}; when hidden is fed, {rest}")
    assert (whole, rest) == (["x", "hidden", "y"], ["y"])


# 6. The compiler ==========================================================================================
#
# Now a step is a list of operations, known beforehand, that may run a million times. So we do not interpret
# it: we write it down as a Python function, one kernel call a line. Nothing is left to decide while it
# runs, and whoever wonders what the system is doing can read it.


def fold(ops: list[Operation], values: dict[Tensor, Any]) -> list[Operation]:
    """Adds to `values` what can be known now; returns the operations left to run.

    What depends on neither feed nor state is the same in every step, so it is computed here, once.
    Constants need no special treatment: they are operations without inputs.
    """
    left = []
    for op in ops:
        if OPS[op.type].stateful or any(x not in values for x in op.inputs):
            left.append(op)
        elif op.output not in values:
            inputs = [values[x] for x in op.inputs]
            with blame(op, [np.shape(x) for x in inputs]):
                values[op.output] = OPS[op.type].kernel(*inputs, **op.attrs)
    return left


def emit(ops: list[Operation], fetches, feeds, names: dict[Tensor, str]) -> str:
    """The source of a step. A value is freed by the line that uses it last.

    To find that line, note for each input who used it, in order: the last note stays. A result that nobody
    uses is not even given a name.
    """
    last_use = {x: op for op in ops for x in op.inputs}
    mortal = {op.output for op in ops} - set(fetches)
    lines = [f"def step({', '.join(names[x] for x in feeds)}):"]
    for op in ops:
        arguments = [names[x] for x in op.inputs] + [f"{key}={value!r}" for key, value in op.attrs.items()]
        line = f"{op.type}({', '.join(arguments)})"
        if op.output in last_use or op.output in fetches:
            line = f"{names[op.output]} = {line}"
        dying = [names[x] for x in dict.fromkeys(op.inputs) if x in mortal and last_use[x] is op]
        if dying:
            line += f"; del {', '.join(dying)}"
        lines.append(f"    {line:<70}  # {op.line}")
    return "\n".join([*lines, f"    return [{', '.join(names[x] for x in fetches)}]"])


@dataclass
class Plan:
    """A compiled step, which can tell what failed.

    One operation a line has a second use: when a kernel fails, Python names the line, the line the
    operation, and the operation the line of the user's program. A step that does not fail pays nothing for
    it.
    """

    source: str
    step: Callable
    ops: list[Operation]
    names: dict[Tensor, str]

    def __call__(self, *values):
        try:
            return self.step(*values)
        except Exception as error:
            frames = traceback.walk_tb(error.__traceback__)
            frame, number = next((f, n) for f, n in frames if f.f_code is self.step.__code__)
            op = self.ops[number - 2]  # the first operation is on line 2, below `def`
            seen = {**frame.f_globals, **frame.f_locals}
            raise OpError(op, [np.shape(seen[self.names[x]]) for x in op.inputs], error) from error


def compile_plan(fetches, feeds, cells: dict[Tensor, Cell]) -> Plan:
    """Prune, fold, name, write; then Python compiles. Kernels, cells and constants are the step's globals."""
    ops = needed(fetches, feeds)
    values = {op.output: cells.setdefault(op.output, Cell()) for op in ops if op.type == "VarHandle"}
    ops = fold(ops, values)
    taken = {"step", *OPS, *keyword.kwlist}
    names = {x: unique(x.op.name, taken) for x in [*feeds, *values, *(op.output for op in ops)]}
    source = emit(ops, fetches, feeds, names)
    scope = {type: op.kernel for type, op in OPS.items()}
    scope |= {names[x]: value for x, value in values.items()}
    exec(compile(source, "<plan>", "exec"), scope)
    return Plan(source, scope["step"], ops, names)


def demo_compiler():
    """A step becomes Python source: constants folded, values freed early."""
    Graph()
    x = placeholder(shape=(None,), name="x")
    two = add(exp(0.0), 1.0, name="two")
    y = tanh(x * two) / two
    plan = compile_plan([y], [x], cells={})
    print(plan.source)
    assert "Exp" not in plan.source and "Tanh(mul); del mul" in plan.source
    tide = np.linspace(-1, 1, 9)
    assert np.array_equal(plan(tide)[0], evaluate(y, {x: tide}))


# 7. The session ===========================================================================================


class Session:
    """Owns the cells, and the plans made so far: a step seen before costs one lookup and one call.

    Arrays are copied on the way in and on the way out, so what users do to theirs never changes state, nor
    does a later step change what they hold.
    """

    def __init__(self):
        self.cells, self.plans = {}, {}

    def plan(self, fetches, feeds=()) -> Plan:
        key = (tuple(fetches), tuple(feeds))
        if key not in self.plans:
            self.plans[key] = compile_plan(*key, self.cells)
        return self.plans[key]

    def run(self, fetches, feeds: dict[Tensor, Any] | None = None):
        if isinstance(fetches, Tensor):
            return self.run([fetches], feeds)[0]
        values = {}
        for x, value in (feeds or {}).items():
            with blame(x.op, []):
                values[x] = np.array(value, dtype=float)
                fits(x.shape, values[x].shape)
        return [copy.copy(answer) for answer in self.plan(fetches, values)(*values.values())]


def demo_session():
    """A session remembers state and plans, and blames the right line."""
    graph, session = Graph(), Session()
    level = variable(0.0, name="level")
    rise = assign_add(level.handle, 1.0)
    wave = placeholder(shape=(None, None), name="wave")
    broken = matmul(wave, wave, name="broken")
    session.run(no_op(after=graph.initializers))
    levels = [float(session.run(rise)) for _ in range(3)]
    print(f"three steps, one plan: {levels}")
    assert levels == [1, 2, 3] and len(session.plans) == 2
    for feeds, culprit in ({wave: np.ones((2, 3))}, broken), ({}, wave):
        print(message := refusal(session.run, broken, feeds))
        assert f"made at {culprit.op.line}" in message


# 8. What is missing =======================================================================================
#
# *Choice and repetition.* In a graph, a conditional is two operations. Switch sends its input to one of two
# outputs and leaves the other dead; what takes a dead input is dead; Merge passes on whichever input is
# alive. A loop adds NextIteration, the one edge that goes back and breaks our rule that a node takes only
# older tensors. They belong between `fold` and `emit`: a pass finds these nodes and makes blocks of them,
# so that `emit` can write `if` and `while` and indent what is inside.
#
# *Many devices.* Between `needed` and `fold`, give each operation a device. Cut each edge that crosses from
# one to another, with a Send on one side and a Recv on the other; each side then gets a plan of its own.
#
# *Better plans.* After `fold` there is room for more passes, operations in and operations out: share what
# is computed twice, fuse what belongs together, reuse a buffer just freed.

# 9. Reading digits ========================================================================================
#
# 1797 digits written by hand, 8 by 8 pixels each; two layers, cross entropy, gradient descent. Nothing in
# it is new, and none of the operations knows that it is learning.


def dense(x: Tensor, outputs: int, name: str, rng) -> tuple[Tensor, list[Variable]]:
    inputs = x.shape[1]
    weights = variable(rng.normal(size=(inputs, outputs)) / np.sqrt(inputs), name=f"{name}_w")
    bias = variable(np.zeros(outputs), name=f"{name}_b")
    return x @ weights.value + bias.value, [weights, bias]


def demo_digits():
    """A small network learns to read handwritten digits."""
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    pixels, digits = load_digits(return_X_y=True)
    order = rng.permutation(len(pixels))
    images, answers = pixels[order] / 16, digits[order]

    graph = Graph()
    x = placeholder(shape=(None, 64), name="x")
    labels = placeholder(shape=(None, 10), name="labels")
    hidden, first = dense(x, 32, "hidden", rng)
    logits, second = dense(tanh(hidden), 10, "logits", rng)
    ones = constant(np.ones((10, 1)), name="ones")  # a product with it sums each row
    loss = collect(log(exp(logits) @ ones) - (logits * labels) @ ones, 0.0)
    grads = gradients(loss, [v.value for v in first + second])
    updates = [assign_add(v.handle, -0.01 * grad) for v, grad in zip(first + second, grads)]
    descend = no_op(after=updates, name="descend")

    session = Session()
    session.run(no_op(after=graph.initializers))
    for epoch in range(1, 31):
        for batch in np.split(rng.permutation(1500), 30):
            feeds = {x: images[batch], labels: np.eye(10)[answers[batch]]}
            value, _ = session.run([loss, descend], feeds)
        if epoch in (1, 10, 30):
            print(f"epoch {epoch:2}: loss {value / 50:.4f}")

    # To fetch the logits alone prunes the labels, the loss and the training away.
    guesses = session.run(logits, {x: images[1500:]}).argmax(axis=1)
    accuracy = np.mean(guesses == answers[1500:])
    print(f"it reads {accuracy:.1%} of the digits it never saw")
    assert accuracy > 0.95
    print(f"\nThe graph has {len(graph.ops)} operations. This is a training step:\n")
    print(session.plan([loss, descend], [x, labels]).source)


if __name__ == "__main__":
    for name, demo in list(globals().items()):
        if name.startswith("demo_"):
            print(f"\n== {demo.__doc__}")
            demo()
