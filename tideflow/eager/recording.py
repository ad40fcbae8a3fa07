"""What tapes record: the operations that ran, as gradient functions ask for them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tideflow.graph.graph_def import node_def_proto, op_def_proto
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import get_default_graph

if TYPE_CHECKING:
    from tideflow.eager.execute import BoundKernel
    from tideflow.eager.tape import GradientTape
    from tideflow.graph.op import Op


class _Recording(threading.local):
    """The tapes of a thread that record what it runs now."""

    tapes: tuple[GradientTape, ...] = ()


recording = _Recording()

# The ids of the tapes that record, in any thread. While it is empty, operations need not look for the tapes
# of their thread, which takes longer.
taping: set[int] = set()


def begin(tape: Any, others: Iterable[Any]) -> None:
    """Has a tape record what this thread runs. `others` are the tapes that record already."""
    taping.add(id(tape))
    recording.tapes = (*others, tape)


def end(tape: Any) -> None:
    """Has a tape record no more of what this thread runs."""
    recording.tapes = tuple(other for other in recording.tapes if other is not tape)
    taping.discard(id(tape))


class Record:
    """An operation that has run. It has what gradient functions use of an `Operation`."""

    __slots__ = (
        "_gradient_name",
        "attrs",
        "definition",
        "gradient",
        "inputs",
        "outputs",
        "takes_none",
        "wanted",
    )

    def __init__(
        self,
        definition: Op,
        attrs: dict[str, Any],
        inputs: Any,
        outputs: Any,
        gradient_name: Any = None,
        gradient: Any = None,
        takes_none: bool = False,
    ):
        self.definition = definition
        self.attrs = attrs
        self.inputs = inputs
        self.outputs = outputs
        self._gradient_name = gradient_name
        self.gradient = gradient  # the gradient function, if it is not that of the op type
        self.takes_none = takes_none  # whether it takes None, not zeros, for outputs without gradients
        self.wanted: Any = ()  # in a backward pass: the ids of the tensors whose gradients are asked for

    _control_flow_context = None
    control_inputs = ()
    device = ""
    user_line = "its line of the program"

    def wants_gradient(self, index: int) -> bool:
        """Whether the gradient of an input is used."""
        return id(self.inputs[index]) in self.wanted

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def type(self) -> str:
        return self.definition.name

    @property
    def graph(self) -> Any:
        return get_default_graph()

    @property
    def op_def(self) -> Any:
        return op_def_proto(self.definition)

    @property
    def node_def(self) -> Any:
        return node_def_proto(self)  # type: ignore[arg-type]

    get_attr = Operation.get_attr
    _get_control_flow_context = Operation._get_control_flow_context


# What a tape keeps of an operation: of one that ran a kernel, only the kernel, the inputs and the outputs.
Entry: TypeAlias = "Record | tuple[BoundKernel, Sequence[Any], Sequence[Any]]"


def as_record(entry: Entry) -> Record:
    """The entry with all that gradient functions use."""
    if isinstance(entry, Record):
        return entry
    bound, inputs, outputs = entry
    return Record(bound.node.definition, bound.attrs, inputs, outputs)
