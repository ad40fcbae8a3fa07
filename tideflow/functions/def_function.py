"""`tf.function`: a function that may make variables on its first call only."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.eager.locks import give_lock
from tideflow.eager.tensor import EagerTensor
from tideflow.export import export
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.function_spec import FunctionSpec
from tideflow.functions.lifting import NewVariables
from tideflow.functions.retracing import why_traced_again
from tideflow.functions.tracing import Tracer, weak_method
from tideflow.graph.scopes import get_default_graph
from tideflow.graph.traceback import user_frames, user_line
from tideflow.graph.user_functions import converted
from tideflow.interrupts import deferred
from tideflow.ops.state import resource_variables
from tideflow.platform import logging

if TYPE_CHECKING:
    from tideflow.graph.typing import Structure

_OFTEN = 5  # traces that were made in as many calls


class _Switch:
    run_eagerly = False


@export("config.experimental_run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes calls of functions run their Python code, untraced, which helps to debug them.

    Args:
      run_eagerly: Whether they do so from now on.
    """
    _Switch.run_eagerly = bool(run_eagerly)


def _no_variables(next_creator: Any, **arguments: Any) -> Any:
    raise ValueError(
        "tf.function-decorated function tried to create variables on non-first call.\n    made at "
        f"{user_line(user_frames())}"
    )


_no_variables.of_a_function = True  # type: ignore[attr-defined]


class Function:
    """A Python function that runs as a graph. `tf.function` makes it."""

    _lock: Any

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        autograph: bool = True,
        experimental_autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
    ) -> None:
        self._python_function = python_function
        self._name = name
        self._function_spec = FunctionSpec(python_function, input_signature)
        self._autograph = autograph
        self._autograph_options = experimental_autograph_options
        self.experimental_relax_shapes = experimental_relax_shapes
        self._made: list[weakref.ref[Any]] = []  # the variables of the first call
        self._new = NewVariables()
        self._first: Tracer | None = None  # may make variables
        self._later: Tracer | None = None
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        self._quick: dict[Any, ConcreteFunction] = {}  # by the keys of arguments that are eager tensors
        give_lock(self)
        self._calls = self._retraces = 0
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function."""
        return self._python_function

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The signature that all calls must have; None where each has its own."""
        return self._function_spec.input_signature

    @property
    def function_spec(self) -> FunctionSpec:
        """The parameters of the Python function."""
        return self._function_spec

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function: traces it, if it was not traced for arguments like these."""
        if _Switch.run_eagerly:
            return self._python_function(*args, **kwargs)
        if not kwargs and get_default_graph().is_eager:
            key: Any = []
            for arg in args:
                if type(arg) is not EagerTensor:
                    key = None
                    break
                key.append(arg._key)
            if key is not None:
                key = tuple(key)
                found = self._quick.get(key)
                if found is not None:
                    return found._call_eager(args)
                concrete, args, kwargs = self._concrete_for(args, kwargs)
                if all(type(arg) is EagerTensor for arg in args):
                    self._quick[key] = concrete
                return concrete._call_filtered(args, kwargs)
        concrete, args, kwargs = self._concrete_for(args, kwargs)
        return concrete._call_filtered(args, kwargs)

    def _concrete_for(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ConcreteFunction, tuple[Any, ...], dict[str, Any]]:
        if self._first is None:
            traced: Any = self._first_trace(lambda tracer: tracer.concrete_for(args, kwargs))
            self._new.forget()
            return traced
        tracer = self._tracer_now()
        before = tracer.count
        found = tracer.concrete_for(args, kwargs)
        if not self._made and self._new.variables:
            raise ValueError(
                "Creating variables on a non-first call to a function decorated with tf.function."
            )
        self._tell_of_retracing(tracer.count - before)
        return found

    def _first_trace(self, trace: Callable[[Tracer], Any]) -> Any:
        """Traces the function for the first time. If it makes variables, they are initialized, and it is
        traced once more, as it is from then on.
        """
        with self._lock:
            if self._first is not None:  # by another thread
                return trace(self._tracer_now())
            new = NewVariables()
            first, later = self._tracer(new), self._tracer(_no_variables)
            found = trace(first)
            if new.variables and not new.depend_on_arguments:
                found = trace(later)
            with deferred:  # an interrupt before it leaves a function that was never called
                self._made = [weakref.ref(variable) for variable in new.variables]
                self._new, self._later, self._first = new, later, first
            return found

    def _tracer_now(self) -> Tracer:
        """What traces the function, once it has been traced for the first time."""
        tracer = self._later if self._made else self._first
        assert tracer is not None, "it was traced"
        return tracer

    def _tracer(self, creator: Any) -> Tracer:
        return Tracer(
            self._converted(), self._name, self._function_spec, creator, self.experimental_relax_shapes
        )

    def _converted(self) -> Callable[..., Any]:
        """The function that is traced."""
        if not self._autograph:
            return self._python_function
        options = self._autograph_options
        return converted(self._python_function, user_requested=True, optional_features=options)

    def _tell_of_retracing(self, traces: int) -> None:
        """Says once, and why, that a function is traced again and again."""
        self._calls += 1
        self._retraces += traces
        if not traces or self._retraces != _OFTEN:
            return
        reason = why_traced_again(self._function_spec, self._tracer_now().all_traces())
        logging.warning(
            "%d out of the last %d calls to %r triggered tf.function retracing. Tracing is expensive: it is "
            "done once for each combination of the types and shapes of tensors and the values of all other "
            "arguments. %s",
            self._retraces,
            self._calls,
            self._python_function,
            reason,
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments like these.

        Args:
          *args: Tensors, specs of tensors, or Python values, by position; none where the function has an
            input signature.
          **kwargs: The same by name.

        Returns:
          The ConcreteFunction.

        Raises:
          ValueError: If the arguments do not fit the input signature.
        """
        if self._first is None:
            self._first_trace(lambda tracer: tracer.get_concrete_function(*args, **kwargs))
            self._new.forget()
        return self._tracer_now().get_concrete_function(*args, **kwargs)

    def get_initialization_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """A function that gives the variables of the first call their initial values again.

        Args:
          *args: Arguments for the first trace, by position.
          **kwargs: The same by name.

        Returns:
          A ConcreteFunction without arguments.

        Raises:
          RuntimeError: If the function has been called or traced.
        """
        if self._first is not None:
            raise RuntimeError(
                "get_initialization_function cannot be called after the function has been used"
            )
        self._first_trace(lambda tracer: tracer.concrete_for(args, kwargs))
        if get_default_graph().is_eager:
            for variable in self._new.variables:
                resource_variables.destroy_resource_op(variable.handle)
        initialize = self._new.initialize
        spec = FunctionSpec(initialize, None)
        made = Tracer(initialize, "initialize_variables", spec).get_concrete_function()
        self._new.forget()
        return made

    def _decorate(self, decorator: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Decorates the Python function, before it is traced."""
        if self._first is not None:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._function_spec = FunctionSpec(self._python_function, self.input_signature)

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """All traces; the one of the signature, if there is a signature and nobody has called it."""
        if self._function_spec.input_signature is not None:
            self.get_concrete_function()
        return self._all_traces()

    def _all_traces(self) -> list[ConcreteFunction]:
        """The traces that calls use."""
        return [] if self._first is None else self._tracer_now().all_traces()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The function of an instance, where this one decorates a method."""
        if instance is None:
            return self
        found = self._bound.get(instance)
        if found is None:
            with self._lock:
                found = self._bound.get(instance) or self._of(instance)
                self._bound[instance] = found
        return found

    def _of(self, instance: Any) -> Function:
        return Function(
            weak_method(self._python_function, instance),
            self._name,
            self.input_signature,
            self._autograph,
            self._autograph_options,
            self.experimental_relax_shapes,
        )


@export("function", "contrib.eager.function")
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Structure[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:
    """Makes a function whose calls run as a graph.

        @tf.function
        def step(x):
            return tf.reduce_sum(x * x)

    The Python function is called once, to trace it, for each combination of the types and shapes of the
    tensors among its arguments and the values of all others. From then on a call runs what was traced. What
    it does besides tensor operations happens only while it is traced. It may make variables on its first call
    only.

    Args:
      func: The function; where it is left out, a decorator is returned.
      input_signature: A structure of `tf.TensorSpec`: the one signature that all calls have.
      autograph: Whether Python's `if` and loops over tensors become parts of the graph.
      experimental_autograph_options: Further options of that conversion.
      experimental_relax_shapes: Whether a second trace is made for less specific shapes, to avoid more.
      experimental_compile: Accepted for TensorFlow's sake: functions that prove hot are compiled anyway.

    Returns:
      The function, or the decorator.

    Raises:
      TypeError: If the signature is no structure of specs.
      ValueError: If there is a signature and the function has parameters that are given by name only.
    """

    def decorated(inner: Callable[..., Any]) -> Function:
        called = getattr(inner, "__name__", "function")
        return Function(
            inner,
            called,
            input_signature,
            autograph,
            experimental_autograph_options,
            experimental_relax_shapes,
        )

    return decorated if func is None else decorated(func)
