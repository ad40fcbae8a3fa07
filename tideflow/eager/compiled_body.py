"""Bodies of functions as plans: what eager mode calls instead of one kernel after the other.

A body is compiled as a session's step is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tideflow.compile.failures import fail
from tideflow.compile.plan import Plan
from tideflow.compile.request import FeedShapes, StepRequest
from tideflow.compile.variants import Variants
from tideflow.eager.locks import give_lock
from tideflow.eager.tensor import EagerTensor, eager_devices, handle_key, key_of
from tideflow.graph import dtypes
from tideflow.graph.functions import FunctionBody
from tideflow.graph.operation import Tensor
from tideflow.ops.helpers.variables import HandleShape
from tideflow.runtime.devices import CPU, Placement, renamed
from tideflow.runtime.resources import device_of, put_back
from tideflow.runtime.waiting import StepContext
from tideflow.session.executor import LocalExecutor, compiled

if TYPE_CHECKING:
    from tideflow.eager.context import EagerGraph

_new = object.__new__


class _StepsOfThread(threading.local):
    """The context of the step that this thread runs, if any. Steps of its calls end when that one does."""

    outer: StepContext | None = None


steps_of_thread = _StepsOfThread()


class _CalledBodies:
    """The bodies that were called since somebody wants to know; None where nobody does."""

    since: list[FunctionBody] | None = None


called_bodies = _CalledBodies()


class CompiledBody:
    """A body that eager mode can call. `handles` are the inputs that are the same in every call, so that a
    plan knows their variables as it knows those of a graph; the other inputs are fed.
    """

    _lock: Any

    def __init__(
        self,
        name: str,
        body: FunctionBody,
        mode: Callable[[], EagerGraph],
        handles: dict[Tensor, Any] | None = None,
    ) -> None:
        self.name = name
        self.body = body
        self._mode = mode  # eager mode's graph, which has the resources
        self._handles = handles or {}
        self._states: dict[str, dict[str, Any]] = {}  # by operation: what it keeps between calls
        self._plan: Plan | None = None  # where the shapes of all inputs are known
        self._variants: Variants[Plan] | None = None
        self._executor: LocalExecutor | None = None
        self._feeds: list[Tensor] = []
        self._fed: list[int] = []  # the positions of the feeds among the inputs
        self._open: list[int] = []  # the feeds whose shapes are known only when it is called
        self._feed_devices: tuple[torch.device, ...] | None = None
        # A body for each combination of the feeds' devices; None where there is only the CPU.
        self._elsewhere: dict[tuple[torch.device, ...], CompiledBody] | None = None
        give_lock(self)
        self._outputs: list[tuple[dtypes.DType, Any, Any]] = []

    def values(self, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """What the body computes from all inputs. Tapes do not record it."""
        if self._executor is None:
            self._prepare()
        return self.run([tensors[i]._value for i in self._fed])

    def fed_positions(self) -> list[int]:
        """The positions of the inputs whose values `run` takes."""
        if self._executor is None:
            self._prepare()
        return self._fed

    def run(self, fed: list[Any]) -> list[EagerTensor]:
        """What the body computes from the values of the inputs that are fed."""
        if self._executor is None:
            self._prepare()
        if called_bodies.since is not None:
            called_bodies.since.append(self.body)
        if self._elsewhere is not None:
            return self._for_devices(tuple([device_of(value) or CPU for value in fed])).run(fed)
        plan = self._plan or self._plan_for(fed)
        try:
            if plan.takes_context:
                results = plan.function(StepContext(outer=steps_of_thread.outer), *fed)
            else:
                results = plan.function(*fed)
        except Exception as error:
            fail(error, plan)
        except BaseException:  # an interrupt, which may have come while a kernel had a variable's buffer
            put_back((*self._handles.values(), *fed))
            raise
        outputs = []
        for value, (dtype, key, shape) in zip(results, self._outputs):
            output: EagerTensor = _new(EagerTensor)
            output._value, output.dtype, output._key = value, dtype, key or key_of(value, dtype)
            if shape is not None:
                output._shape = shape
            outputs.append(output)
        return outputs

    def _prepare(self) -> None:
        with self._lock:
            if self._executor is not None:
                return
            self._fed = [i for i, x in enumerate(self.body.inputs) if x not in self._handles]
            self._feeds = [self.body.inputs[i] for i in self._fed]
            self._open = [i for i, x in enumerate(self._feeds) if not x.shape.is_fully_defined()]
            self._outputs = [_described(tensor) for tensor in self.body.outputs]
            if self._mode().accelerated and self._feed_devices is None:
                self._elsewhere = {}
            here = eager_devices()
            devices = [*here, *(each for task in self._mode().tasks for each in renamed(here, task))]
            self._executor = LocalExecutor(self._mode().resources, Placement(tuple(devices), soft=True))

    def _for_devices(self, devices: tuple[torch.device, ...]) -> CompiledBody:
        """This body for feeds on these devices."""
        assert self._elsewhere is not None, "there is more than the CPU"
        found = self._elsewhere.get(devices)
        if found is None:
            with self._lock:
                found = CompiledBody(self.name, self.body, self._mode, self._handles)
                found._states, found._feed_devices = self._states, devices
                found = self._elsewhere.setdefault(devices, found)
        return found

    def _plan_for(self, fed: list[Any]) -> Plan:
        if not self._open:
            with self._lock:
                if self._plan is None:
                    self._plan = self._compiled((), StepContext(), self._replace)
                return self._plan
        sized = [fed[i] for i in self._open]
        if self._variants is None:
            with self._lock:
                self._variants = self._variants or Variants(self._compiled)
        found = self._variants.plans.get(tuple([value.shape for value in sized]))
        return found or self._variants.plan_for(sized, StepContext())

    def _replace(self, plan: Plan) -> None:
        self._plan = plan

    def _compiled(self, sizes: FeedShapes, context: StepContext, replace: Callable[[Plan], None]) -> Plan:
        assert self._executor is not None, "it was prepared"
        shapes: list[Any] = [None] * len(self._feeds)
        for i, size in zip(self._open, sizes):
            shapes[i] = size
        request = StepRequest(
            tuple(self.body.outputs),
            tuple(self.body.targets),
            feeds=tuple(self._feeds),
            feed_shapes=tuple(shapes),
            known=self._handles,
            feed_devices=self._feed_devices or (),
            fetches_stay=True,
            prefix=f"{self.name}/",
            states=self._states,
        )
        return compiled(self._executor, request, context, replace)


def _described(tensor: Tensor) -> tuple[dtypes.DType, Any, Any]:
    """The type of an output, its key (`tensor.Key`) if that is known already, and the shape of a handle."""
    dtype = tensor.dtype.base_dtype
    if isinstance(tensor.shape, HandleShape):
        return dtype, handle_key(tensor.shape), tensor.shape
    return dtype, None, None
