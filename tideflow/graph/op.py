"""Op: everything about one op type in one place. All operations of graphs are made by one.

    matmul_op = Op("MatMul", "a: T, b: T -> product: T", T=NUMERIC, transpose_a=False, transpose_b=False)

    @matmul_op.shape      # partial shapes in, partial shapes out
    @matmul_op.kernel     # torch tensors in, torch tensors out
    @matmul_op.gradient   # (op, *grads) -> one tensor or None per input
    matmul_op.samples(...)
    matmul_op.refuses(...)

The shape rule and the kernel get the inputs named in `host` (sizes, axes, permutations) as Python values, not
as tensors; a rule gets None for a value that is not known yet. The keyword-only parameters of rules and
kernels are attributes of the op. A rule may also have the parameter `values` (what is known of every input's
value, by argument). A kernel may have `device` (a torch.device), `resources` (the session's state), `state`
(a dict of this node in each session), `node` (the operation), `planned` (the graph's functions as callables)
and `context` (the StepContext of the running step). The output of a `handle` op is an object of the session,
such as a variable or a queue; the plan looks it up once. A `blocking` kernel may wait. A `suspendable` kernel
does not wait itself: it returns a PendingValue, for which the plan waits.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MappingProxyType
from typing import Any, TypeVar, overload

from tideflow.graph import dtypes, errors, schema
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.func_attrs import named_function
from tideflow.graph.op_errors import ShapeError as ShapeError
from tideflow.graph.op_errors import (
    no_kernel,
    of_another_graph,
    passed_another_count,
    passed_another_type,
    passed_mixed_types,
    passed_other_types,
    shape_message,
    type_mismatch,
    type_word,
)
from tideflow.graph.op_registry import definition as definition
from tideflow.graph.op_registry import definitions as definitions
from tideflow.graph.op_registry import register
from tideflow.graph.op_registry import role_of as role_of
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.schema import REQUIRED, Arg
from tideflow.graph.scopes import executing_eagerly, get_default_graph, get_eager_graph, graph_of
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.traceback import Frame, defining_frame, file_and_line, user_frames, user_line

KERNEL_EXTRAS = ("device", "resources", "state", "node", "planned", "context")

F = TypeVar("F", bound=Callable[..., Any])

not_differentiable = object()
_NO_ATTRS: dict[str, Any] = {}


def undefined_gradient(op: Operation, *grads: Any) -> None:
    """The gradient function of an op for which TensorFlow has none, nor says that it has none.

    It raises.
    """
    raise LookupError(
        f"No gradient defined for operation '{op.name}' (op type: {op.type}), made at {op.user_line}. "
        "tf.stop_gradient makes its results count as constants; tf.RegisterGradient gives it a gradient."
    )


# What `differentiable` says of an op, as its gradient function; that of True is still to come.
_GRADIENTS = {True: None, False: not_differentiable, None: undefined_gradient}


def check_complete(ops: Sequence[Op] | None = None) -> None:
    """Raises TypeError, with the op's name, if an op lacks a shape rule, a kernel, a gradient or tests.

    Tests are generated from samples. An op that cannot run by itself names the file of its tests instead.
    """
    for op in definitions().values() if ops is None else ops:
        is_tested = bool(op.sample_cases) or op.covered_by is not None
        op.check_parts({**op.parts(), "samples (.samples), or the tests that cover it": is_tested})


class Op:
    """One op type: schema, shape rule, kernels, gradient, samples."""

    def __init__(
        self,
        name: str,
        signature: str,
        *,
        host: str | Sequence[str] = (),
        stateful: bool = False,
        handle: bool = False,
        on_host: bool = False,
        blocking: bool = False,
        suspendable: bool = False,
        registered: bool = True,
        commutative: bool = False,
        aggregate: bool = False,
        uninitialized_ok: bool = False,
        colocate: str | None = None,
        differentiable: bool | None = True,
        role: str = "",
        is_model_state: bool = False,
        awaited: bool = True,
        waits_in_functions: bool = False,
        touches: str = "",
        reads_file: str = "",
        holds_step_values: str = "",
        as_number: str = "",
        may_overflow: bool = False,
        sums_inputs: int = 0,
        is_spread: bool = False,
        has_static_value: bool = False,
        has_numeric_gradient: bool = True,
        gradient_follows: str = "",
        importable: bool | None = None,
        schema_attrs: Mapping[str, Any] = MappingProxyType({}),
        **attrs: Any,
    ):
        """Declares an op type.

        Args:
          name: The op type, as in a GraphDef.
          signature: The inputs and outputs with their types: `"a: T, b: T -> product: T"`; see
            `graph/schema.py`.
          host: The inputs that rules and kernels get as Python values.
          stateful: Whether a step runs it exactly once, in order, and never folds or merges it.
          handle: Whether its output is an object of the session.
          on_host: Whether its kernel always runs on the CPU.
          blocking: Whether its kernel may wait.
          suspendable: Whether its kernel returns a PendingValue instead of waiting.
          registered: False for an op type that belongs to one graph.
          commutative: Whether its two inputs may be exchanged.
          aggregate: Whether it adds up gradients.
          uninitialized_ok: Whether a variable among its inputs may be uninitialized.
          colocate: The input with which the op is placed.
          differentiable: False if the gradients of its inputs are None; None if nothing is known of them, so
            that a gradient through it is an error, as it is in TensorFlow.
          role: The role of the op in the structure of a graph, if other code depends on it: "constant",
            "placeholder", "identity", "metadata" (of its input's shape alone),
            "variable" (a reference), "variable handle", "read" (of a variable), "assign", "save", "restore",
            "step values" (a stack or TensorArray of a control-flow construct, and the ops that read it).
          is_model_state: Whether it holds state of a model, which belongs on a parameter server.
          awaited: False for an op that may wait, but for which no other op waits.
          waits_in_functions: Whether it waits only in the functions of its own dataset.
          touches: What its kernel reaches outside of the session: "files" (it may read or write files that
            the graph names), or "python" (it calls Python functions of the process, which take any time). A
            session that does not trust its graph refuses it.
          reads_file: The input that names the only file that it reads, if it does no more than that.
          holds_step_values: The type attribute of an op that holds a step's values: it is placed with them.
          as_number: The op on Python numbers, for counters of loops: `"{} + {}"`.
          may_overflow: Whether that number may leave the range of the op's type.
          sums_inputs: The number of its first inputs to which the others are added: a loop adds in place.
          is_spread: Whether it passes on resources of several devices, each of which stays on its device.
          has_static_value: Whether TensorFlow's `constant_value` computes it from constant inputs.
          has_numeric_gradient: Whether the gradient can be compared with numeric differentiation, in the
            generated tests. That is not so if the gradient ignores rounding, or uses only a half of a matrix.
          gradient_follows: The outputs whose gradients the op's gradient uses, for the generated tests; all
            if it is empty.
          importable: Whether a GraphDef from outside may contain it. By default it may, unless the name
            begins with an underscore: the kernels of such ops do not check their inputs.
          schema_attrs: Further attributes, which may have the names of the arguments above.
          **attrs: The attributes: a default value, a set of allowed types, or an `attr(...)`.
        """
        self.name = name
        self.attrs = {key: schema.declare(value) for key, value in {**attrs, **schema_attrs}.items()}
        self.inputs, self.outputs = schema.parse_signature(signature, self.attrs)
        self.host = frozenset(host.replace(",", " ").split() if isinstance(host, str) else host)
        self.stateful = stateful
        self.effects = stateful or any(arg.is_ref for arg in self.inputs)  # runs in order, and exactly once
        self.handle = handle
        self.on_host = on_host
        self.blocking = blocking or suspendable
        self.suspendable = suspendable
        self.commutative = commutative
        self.aggregate = aggregate
        self.uninitialized_ok = uninitialized_ok
        self.colocate = colocate
        self.role = role
        self.is_model_state = is_model_state
        self.awaited = awaited
        self.waits_in_functions = waits_in_functions
        self.touches = touches
        self.reads_file = reads_file
        self.holds_step_values = holds_step_values
        self.as_number = as_number
        self.may_overflow = may_overflow
        self.sums_inputs = sums_inputs
        self.is_spread = is_spread
        self.has_static_value = has_static_value
        self.has_numeric_gradient = has_numeric_gradient
        self.gradient_follows = gradient_follows.split()
        self.flops_rule: Callable[..., Any] | None = None
        self.sizes_rule: Callable[..., Any] | None = None
        self.importable = not name.startswith("_") if importable is None else importable
        self._frame = defining_frame()
        self.shape_rule: Callable[..., Any] | None = None
        self._rule_wants_values = self._rule_wants_in_step = False
        self.value_rule: Callable[..., Any] | None = None
        self.specialize_rule: Callable[..., Any] | None = None
        self.reference: Callable[..., Any] | None = None
        self.law: Callable[..., Any] | None = None
        self.covered_by: str | None = None
        self.kernels: dict[str, Callable[..., Any]] = {}
        self.gradient_function: Any = _GRADIENTS[differentiable]
        self.sample_cases: list[tuple[Any, ...]] = []
        self._checked = False
        self.refusals: list[tuple[Any, ...]] = []
        self._defaults = {
            key: spec.default for key, spec in self.attrs.items() if spec.default is not REQUIRED
        }
        self._required = [key for key, spec in self.attrs.items() if spec.default is REQUIRED]
        self._wanted: dict[Callable[..., Any], tuple[str, ...]] = {}
        self.takes_lists = any(arg.is_list for arg in self.inputs)
        self.input_kinds = [(arg.is_list, arg.name in self.host) for arg in self.inputs]
        self.calls_functions = any("func" in spec.kind for spec in self.attrs.values())
        self.takes_resources = any(arg.dtype is dtypes.resource for arg in self.inputs)
        self._takes_references = any(arg.is_ref for arg in self.inputs)
        self._result = self._result_packer()
        # For an op type that calls a function by its name: the function, and its attributes, for a node.
        self.calls: Callable[[Any], tuple[str, dict[str, Any]]] | None = None
        if registered:
            register(self)

    # ------------------------------------------------------------------ decorators that register parts

    def shape(self, rule: F) -> F:
        """Registers the shape rule. It returns a shape, or a list of shapes if there are several outputs."""
        self._name_part(rule, "shape")
        names = _keyword_names(rule)
        self._wanted[rule] = tuple(name for name in names if name in self.attrs)
        self._rule_wants_values = "values" in names and "values" not in self.attrs
        self._rule_wants_in_step = "in_step" in names
        self.shape_rule = rule
        return rule

    def value(self, rule: F) -> F:
        """Registers a function from the operation to its value, as far as it follows from the graph alone."""
        self._name_part(rule, "value")
        self.value_rule = rule
        return rule

    @overload
    def kernel(self, function: str) -> Callable[[F], F]: ...

    @overload
    def kernel(self, function: F) -> F: ...

    def kernel(self, function: F | str) -> F | Callable[[F], F]:
        """Registers the kernel; `@op.kernel("cuda")`, "string" and "unsigned" are for one kind of values."""
        if isinstance(function, str):
            return lambda fn: self._add_kernel(function, fn)
        return self._add_kernel("", function)

    def _add_kernel(self, key: str, function: F) -> F:
        self._name_part(function, f"{key}_kernel" if key else "kernel")
        self._wanted[function] = tuple(
            name for name in _keyword_names(function) if name in self.attrs or name in KERNEL_EXTRAS
        )
        self.kernels[key] = function
        return function

    def specialize(self, rule: F) -> F:
        """Registers a function from a planned node to a faster callable of its tensor inputs, or None."""
        self._name_part(rule, "specialize")
        self.specialize_rule = rule
        return rule

    def gradient(self, function: Any) -> Any:
        """Registers the gradient, a function of the operation and its outputs' gradients."""
        self._name_part(function, "gradient")
        self.gradient_function = function
        return function

    def flops(self, rule: F) -> F:
        """Registers a function from the operation to its number of floating-point operations."""
        self._name_part(rule, "flops")
        self.flops_rule = rule
        return rule

    def sizes(self, rule: F) -> F:
        """Registers what TensorFlow knows of an output that is a vector of sizes (`known_sizes.py`).

        The rule is a function of the operation. It returns NotImplemented if the general rule applies.
        """
        self._name_part(rule, "sizes")
        self.sizes_rule = rule
        return rule

    def samples(
        self,
        *cases: Any,
        against: Callable[..., Any] | None = None,
        law: Callable[..., Any] | None = None,
        covered_by: str | None = None,
    ) -> None:
        """Registers the samples from which the op's tests are generated.

        Args:
          *cases: For each sample a tuple of inputs, which may end with a dict of attributes; a single input
            need not be in a tuple.
          against: Computes the expected outputs from the inputs and the attributes that it names, with NumPy,
            SciPy or a slower definition.
          law: A property of the outputs, if there is no such function. It takes the inputs, the outputs and
            the attributes that it names, and returns what must be true: booleans, or pairs of equal values.
          covered_by: The test file of an op that cannot run by itself (one of several that share a queue, a
            TensorArray or a dataset), relative to the root of the repository.
        """
        self.sample_cases += [case if isinstance(case, tuple) else (case,) for case in cases]
        self.reference = against or self.reference
        self.law = law or self.law
        self.covered_by = covered_by or self.covered_by

    def refuses(self, inputs: tuple[Any, ...], message: str, error: type[Exception] = ValueError) -> None:
        """Registers an example of invalid inputs, with the error and a part of the message that users get."""
        self.refusals.append((inputs, message, error))

    def parts(self) -> dict[str, bool]:
        """The required parts of an op, by description, and whether the op has them."""
        return {
            "a shape rule (@op.shape)": self.shape_rule is not None,
            "a kernel (@op.kernel)": bool(self.kernels),
            "a gradient (@op.gradient), or differentiable=False": self.gradient_function is not None,
        }

    def check_parts(self, parts: dict[str, bool]) -> None:
        """Raises TypeError with the descriptions of all missing parts."""
        missing = [text for text, there in parts.items() if not there]
        if missing:
            raise TypeError(
                f"op {self.name!r}, defined at {user_line((self._frame,))}, lacks {'; '.join(missing)}"
            )

    @property
    def place(self) -> tuple[str, int]:
        """The file and the line of the op's definition."""
        return file_and_line(self._frame)

    def _name_part(self, function: Any, part: str) -> None:
        """Names a part that is a lambda or a private function after the op, for instance `MatMul.kernel`.

        Tracebacks, profiles and plans show the name. A part that several ops share keeps its first name.
        """
        while isinstance(function, FunctionType):
            if function.__name__.startswith(("_", "<")):
                function.__name__ = function.__qualname__ = name = f"{self.name}.{part}"
                function.__code__ = function.__code__.replace(co_name=name)
                if sys.version_info >= (3, 11):
                    function.__code__ = function.__code__.replace(co_qualname=name)
            function = getattr(function, "__wrapped__", None)

    def wants(self, function: Callable[..., Any]) -> tuple[str, ...]:
        """The keyword-only parameters of a rule or kernel of this op: attributes and extras."""
        return self._wanted[function]

    # ------------------------------------------------------------------ making a node

    def __call__(self, *args: Any, name: str | None = None, **attrs: Any) -> Any:
        """Adds a node to the graph; returns its output tensor or tensors, or the operation if it has none.

        In eager mode, runs the kernel instead; an op without outputs gives None then.
        """
        return self.apply(args, name, attrs)

    def apply(self, args: tuple[Any, ...], name: str | None = None, attrs: dict[str, Any] = _NO_ATTRS) -> Any:
        """The same as a call, and quicker than one: eager mode's most common functions use it."""
        graph = get_eager_graph()
        if graph is not None:
            return graph.execute(self, args, attrs, name)
        return self._result(self.node(*args, name=name, **attrs))

    def raw(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a node to the graph, with all inputs given by name, as `tf.raw_ops` does."""
        if args:
            raise TypeError(
                f"{self.name} only takes keyword args (possible keys: {[a.name for a in self.inputs]}). "
                "Please pass these args as kwargs instead."
            )
        name = kwargs.pop("name", None)
        missing = [arg.name for arg in self.inputs if arg.name not in kwargs]
        if missing:
            raise TypeError(f"{self.name}() missing required arguments: {', '.join(missing)}")
        inputs = [kwargs.pop(arg.name) for arg in self.inputs]
        return self(*inputs, name=name, **kwargs)

    def node(self, *args: Any, name: str | None = None, **attrs: Any) -> Operation:
        """Adds a node to the graph and returns it. Python values among the inputs become constants."""
        self.check_call(args)
        graph = graph_of(args)
        if graph is not get_default_graph():
            with graph.as_default():
                return self._node(graph, args, name or self.name, attrs)
        return self._node(graph, args, name or self.name, attrs)

    def check_call(self, args: Sequence[Any]) -> None:
        """Raises TypeError if the op gets another number of inputs, or lacks a part."""
        if len(args) != len(self.inputs):
            expected = ", ".join(arg.name for arg in self.inputs)
            raise TypeError(f"{self.name} takes {len(self.inputs)} inputs ({expected}), {len(args)} given")
        if not self._checked:
            self.check_parts(self.parts())
            self._checked = True

    def _node(self, graph: Any, args: tuple[Any, ...], name: str, attrs: dict[str, Any]) -> Operation:
        local = graph._local
        outer = local.name_stack
        full_name = local.name_stack = graph._scope_for(name)
        try:
            inputs, resolved = self.resolve(args, attrs)
        finally:
            local.name_stack = outer
        flat = []
        for arg, value in zip(self.inputs, inputs, strict=True):
            if arg.is_list:
                flat += value
            else:
                flat.append(value)
        if not self._takes_references:
            return self._insert(graph, full_name, flat, inputs, resolved)
        with contextlib.ExitStack() as stack:  # an op that changes a variable is placed with it
            for tensor in self._references(inputs):
                stack.enter_context(graph.colocate_with(tensor.op))
            return self._insert(graph, full_name, flat, inputs, resolved)

    def resolve(self, args: Sequence[Any], attrs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The inputs as tensors, by argument, and all attributes: given, inferred from inputs, or default."""
        resolved = dict(self._defaults)
        for key, value in attrs.items():
            self._set_attr(resolved, key, value)
        given = set(attrs)
        inputs = [
            self._convert(arg, value, resolved, given) for arg, value in zip(self.inputs, args, strict=True)
        ]
        self._check_attrs(resolved)
        return inputs, resolved

    def _references(self, inputs: list[Any]) -> list[Tensor]:
        pairs = [(arg, value) for arg, value in zip(self.inputs, inputs, strict=True) if arg.is_ref]
        return [tensor for arg, value in pairs for tensor in (value if arg.is_list else [value])]

    def node_from_flat(self, inputs: list[Tensor], attrs: dict[str, Any], name: str) -> Operation:
        """Adds a node from tensors and attributes in their stored form, as an import has them.

        Attributes that the schema does not have are kept.
        """
        graph = get_default_graph()
        resolved = {**self._defaults, **attrs}
        missing = [key for key in self._required if key not in resolved]
        if missing:
            raise ValueError(
                f"NodeDef missing attrs {', '.join(map(repr, missing))} from {self.name} node '{name}'"
            )
        return self._insert(
            graph, graph._scope_for(name), inputs, self.group_inputs(inputs, resolved), resolved
        )

    def inferred_attrs(self, inputs: Sequence[Tensor]) -> dict[str, Any]:
        """The type attributes that follow from the inputs, unless there are list inputs."""
        if self.takes_lists:
            return {}
        pairs = zip(self.inputs, inputs)
        return {arg.type_attr: tensor.dtype.base_dtype for arg, tensor in pairs if arg.type_attr is not None}

    def _insert(
        self, graph: Any, name: str, flat: list[Tensor], grouped: list[Any], attrs: dict[str, Any]
    ) -> Operation:
        frames = user_frames()
        for i, tensor in enumerate(flat):
            if tensor.is_eager or tensor.op.graph is not graph:
                if graph.building_function:
                    flat[i] = graph.capture(tensor)
                    continue
                if tensor.is_eager:
                    raise RuntimeError("Attempting to capture an EagerTensor without building a function.")
                raise of_another_graph(self, name, tensor, flat[0])
        if graph.building_function:
            grouped = self.group_inputs(flat, attrs)
        context, given = graph._local.context, flat
        for tensor in flat:
            if tensor.op._control_flow_context is not None:
                tensor.op._control_flow_context.check_use(tensor, name, self.name, context)
        if context is not None:
            home = context.home(self.name, flat)
            if home is not context:
                graph._local.context = home
                try:
                    return self._insert(graph, name, flat, grouped, attrs)
                finally:
                    graph._local.context = context
            with graph.name_scope(f"{name}/"):
                flat = [context.enter_value(tensor) for tensor in flat]
            grouped = self.group_inputs(flat, attrs)
        types = self.output_types(attrs)
        shapes = self.infer(grouped, attrs, name, frames)  # what it refuses never consumes its inputs
        op = Operation._made(graph, self, name, flat, attrs, types, frames)
        for tensor, shape in zip(op.outputs, shapes, strict=True):
            tensor._shape = shape
        graph._insert(op, given)
        return op

    def _set_attr(self, resolved: dict[str, Any], key: str, value: Any) -> None:
        spec = self.attrs.get(key)
        if spec is None:
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
        if value is None and key in self._defaults:
            return
        if value is None and spec.kind == "type":
            return  # inferred from the inputs
        if spec.kind in ("func", "list(func)"):
            value = named_function(value)
        resolved[key] = value = schema.normalize(key, spec.kind, value)
        self._check_value(key, value)

    def _check_value(self, key: str, value: Any, arg: Arg | None = None, given: Any = None) -> None:
        """Raises if the attribute may not have the value, perhaps because of what is `given` for an input."""
        spec = self.attrs[key]
        wrong = schema.what_is_refused(spec, value)
        if wrong is None:
            return
        if executing_eagerly():
            raise no_kernel(self, key, wrong)
        described = "" if given is None else _describe(given)
        raise schema.refused(self.name, arg.name if arg else key, spec, wrong, described)

    def _check_attrs(self, resolved: dict[str, Any]) -> None:
        for key in self._required:
            if key not in resolved:
                raise TypeError(f"No argument for attr {key} of op {self.name}")

    # ------------------------------------------------------------------ inputs

    def _convert(self, arg: Arg, value: Any, attrs: dict[str, Any], given: set[str]) -> Any:
        """Converts an input to a tensor or a list of tensors, of the type that the attributes require.

        Attributes that follow from the input are added to `attrs` and `given`.
        """
        if arg.type_list_attr is not None:
            return self._convert_mixed_list(arg, value, attrs)
        key = arg.type_attr
        wanted = arg.dtype if key is None else attrs[key] if key in given else None
        tensors: Any
        if arg.number_attr is not None:
            tensors = self._convert_list(arg, value, wanted, attrs)
            count = len(tensors)
            minimum = self.attrs[arg.number_attr].minimum
            if minimum is not None and count < minimum:
                raise ValueError(
                    f"List argument '{arg.name}' to '{self.name}' Op with length {count} shorter than "
                    f"minimum length {minimum}."
                )
            if arg.number_attr in given and attrs[arg.number_attr] != count:
                raise passed_another_count(self, arg, count, attrs[arg.number_attr])
            if not count and key is not None and key not in attrs:
                raise TypeError(
                    "Don't know how to infer type variable from empty input list passed to input "
                    f"'{arg.name}' of '{self.name}' Op."
                )
            attrs[arg.number_attr] = count
            given.add(arg.number_attr)
            found = tensors[0].dtype if tensors else wanted or (attrs.get(key) if key else None)
        else:
            tensors = self._convert_one(arg, value, wanted, attrs)
            found = tensors.dtype
        if key is not None and found is not None:
            base = found.base_dtype
            if key not in given:
                self._check_value(key, base, arg, value)
                attrs[key] = base
                given.add(key)
        return tensors

    def _convert_one(
        self, arg: Arg, value: Any, wanted: DType | None, attrs: dict[str, Any], name: str | None = None
    ) -> Tensor:
        if isinstance(value, Tensor):
            tensor = value
        else:
            preferred = attrs.get(arg.type_attr) if arg.type_attr and wanted is None else None
            tensor = self._to_tensor(arg, value, wanted, preferred, name or arg.name)
        if wanted is not None and tensor.dtype.base_dtype is not wanted.base_dtype:
            if value is tensor and tensor.is_eager:
                raise errors.invalid_argument(
                    f"cannot compute {self.name} as input #{self.inputs.index(arg)}(zero-based) was expected "
                    f"to be a {type_word(wanted)} tensor but is a {type_word(tensor.dtype)} tensor "
                    f"[Op:{self.name}]"
                )
            raise type_mismatch(self, arg, tensor, wanted)
        if arg.is_ref and not tensor.dtype._is_ref_dtype:
            raise TypeError(
                f"'{self.name}' Op requires that input '{arg.name}' be a mutable tensor (e.g.: a tf.Variable)"
            )
        graph: Any = get_default_graph()
        return graph.capture(tensor, name or arg.name) if graph.building_function else tensor

    def _to_tensor(
        self, arg: Arg, value: Any, wanted: DType | None, preferred: DType | None, name: str
    ) -> Tensor:
        try:
            return convert_to_tensor(
                value, dtype=wanted, name=name, as_ref=arg.is_ref, preferred_dtype=preferred
            )
        except (TypeError, ValueError) as error:
            if value is None:
                raise ValueError(
                    f"Tried to convert '{arg.name}' to a tensor and failed. Error: None values not "
                    f"supported. (op {self.name})"
                ) from None
            if wanted is None or isinstance(error, ValueError) and not _has_tensor(value):
                raise
            if executing_eagerly() and isinstance(error, TypeError):
                raise
            if isinstance(error, TypeError):
                raise passed_another_type(self, arg, value, wanted, error) from None
            raise type_mismatch(self, arg, convert_to_tensor(value, as_ref=arg.is_ref), wanted) from None

    def _convert_list(
        self, arg: Arg, value: Any, wanted: DType | None, attrs: dict[str, Any]
    ) -> list[Tensor]:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for '{arg.name}' argument to '{self.name}' Op, not {value}.")
        earlier = wanted
        if wanted is None:  # a tensor among the values determines the type of the Python numbers
            for item in value:
                if isinstance(item, Tensor) or hasattr(item, "dtype") and hasattr(item, "_as_graph_element"):
                    wanted = item.dtype.base_dtype
                    break
        tensors: list[Tensor] = []
        for i, item in enumerate(value):
            try:
                tensor = self._convert_one(arg, item, wanted, attrs, f"{arg.name}_{i}")
            except (TypeError, ValueError) as error:
                if isinstance(error, ValueError) and (item is not None or executing_eagerly()):
                    raise
                raise passed_other_types(self, arg, value, earlier, error) from None
            wanted = wanted or tensor.dtype.base_dtype
            tensors.append(tensor)
        return tensors

    def _convert_mixed_list(self, arg: Arg, value: Any, attrs: dict[str, Any]) -> list[Tensor]:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for '{arg.name}' argument to '{self.name}' Op, not {value}.")
        key = arg.type_list_attr
        assert key is not None, "the argument is a list of types"
        wanted = attrs.get(key)
        if wanted is None or len(wanted) != len(value):
            wanted = [None] * len(value)
        try:
            tensors = [
                self._convert_one(arg, item, dtype, attrs, f"{arg.name}_{i}")
                for i, (item, dtype) in enumerate(zip(value, wanted, strict=True))
            ]
        except (TypeError, ValueError) as error:
            if executing_eagerly():
                raise
            raise passed_mixed_types(self, arg, value, attrs.get(key), error) from None
        found = [tensor.dtype.base_dtype for tensor in tensors]
        self._check_value(key, found, arg)
        attrs[key] = found
        return tensors

    def group_inputs(self, flat: Sequence[Any], attrs: dict[str, Any]) -> list[Any]:
        """Groups flat inputs (tensors or values) by argument.

        An attribute has the length of a list argument.
        """
        if len(flat) == len(self.inputs) and not self.takes_lists:
            return list(flat)
        grouped, position = [], 0
        for arg in self.inputs:
            if arg.is_list:
                count = _count(arg, attrs)
                grouped.append(list(flat[position : position + count]))
                position += count
            else:
                grouped.append(flat[position])
                position += 1
        if position != len(flat):
            raise ValueError(f"{self.name} takes {position} inputs by its attributes, {len(flat)} given")
        return grouped

    # ------------------------------------------------------------------ outputs

    def output_types(self, attrs: dict[str, Any]) -> list[DType]:
        """The dtype of every output tensor."""
        types: list[DType] = []
        for arg in self.outputs:
            if arg.type_list_attr is not None:
                types += attrs[arg.type_list_attr]
                continue
            dtype: Any = arg.dtype if arg.type_attr is None else attrs[arg.type_attr]
            if arg.is_ref:
                dtype = dtype._as_ref
            types += [dtype] * (attrs[arg.number_attr] if arg.number_attr else 1)
        return types

    def infer(
        self,
        inputs: list[Any],
        attrs: dict[str, Any],
        name: str,
        frames: tuple[Frame, ...] = (),
        in_step: bool = False,
    ) -> list[TensorShape]:
        """The outputs' shapes, from inputs grouped by argument. An input is anything with a `shape`.

        Where the shapes are those of a step (`in_step`), what is wrong is said in the words of kernels too; a
        rule that has this as an argument knows that what TensorFlow refuses in graphs alone is right there.
        """
        rule: Any = self.shape_rule
        known = [self._known(arg, value) for arg, value in zip(self.inputs, inputs, strict=True)]
        try:
            wanted = {key: attrs[key] for key in self._wanted[rule]}
            if self._rule_wants_values:
                wanted["values"] = [self._partial_values(value) for value in inputs]
            if self._rule_wants_in_step:
                wanted["in_step"] = in_step
            result = rule(*known, **wanted)
            if len(self.outputs) == 1 and not self.outputs[0].is_list:
                return [as_shape(result)]
            return [as_shape(shape) for shape in result or ()]
        except ValueError as error:
            said = error.step_message if in_step and isinstance(error, ShapeError) else str(error)
            said = said.replace(ShapeError.NODE, name)
            raise ValueError(shape_message(said, self, name, inputs, frames)) from None

    def _known(self, arg: Arg, value: Any) -> Any:
        if arg.name in self.host:
            return self._partial_values(value)
        return [v.shape for v in value] if arg.is_list else value.shape

    @staticmethod
    def _partial_values(value: Any) -> Any:
        return [partial_value(v) for v in value] if isinstance(value, list) else partial_value(value)

    def _result_packer(self) -> Callable[[Operation], Any]:
        if not self.outputs:
            return lambda op: op
        if len(self.outputs) == 1:
            return (lambda op: list(op.outputs)) if self.outputs[0].is_list else (lambda op: op.outputs[0])
        fields: Any = namedtuple(self.name, [arg.name for arg in self.outputs])  # type: ignore[misc]
        return lambda op: fields(*self.group_outputs(op))

    def group_outputs(self, op: Operation) -> list[Any]:
        """Groups the outputs by argument of the schema; a list argument is a list."""
        grouped: list[Any] = []
        position = 0
        for arg in self.outputs:
            if not arg.is_list:
                grouped.append(op.outputs[position])
                position += 1
                continue
            count = _count(arg, op.attrs)
            grouped.append(op.outputs[position : position + count])
            position += count
        return grouped

    def __repr__(self) -> str:
        return f"<Op {self.name}>"


def _keyword_names(function: Callable[..., Any]) -> tuple[str, ...]:
    if isinstance(function, FunctionType) and not vars(function):  # a short path for thousands of functions
        code = function.__code__
        return code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # a builtin without a signature takes tensors only
        return ()
    return tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)


def _count(arg: Arg, attrs: dict[str, Any]) -> int:
    """The number of tensors of a list argument."""
    if arg.number_attr is not None:
        return int(attrs[arg.number_attr])
    assert arg.type_list_attr is not None, "a list is of a number of tensors, or of types"
    return len(attrs[arg.type_list_attr])


def _has_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _describe(value: Any) -> str:
    is_named = isinstance(value, Tensor) and not value.is_eager
    return value.name if is_named else type(value).__name__
