"""Components: functions whose signatures say what artifacts they take and write.

    @component
    def CountRows(context: Context, examples: Input[Examples], count: Output[Count], limit: int = 0) -> None:
        (count.uri / "rows").write_text(...)

    count = CountRows(examples=example_gen.outputs["examples"], limit=10)

Calling a component does not run it: it makes a node, whose outputs other nodes take. A runner calls the
function with artifacts, when they are there.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, overload

from tideflow.pipeline.orchestration.artifacts import Artifact

A = TypeVar("A", bound=Artifact)
Input = Annotated[A, "input"]
Output = Annotated[A, "output"]


@dataclasses.dataclass
class Context:
    """What a component may ask of the run that it is part of.

    Attributes:
        files: what the component's `reads` found. A component that writes such a file itself sets here what
            is found from now on, so that its own file is not new to the next run.
        work: a folder that outlives a kill: the next attempt at the same work finds what was left there.
        workers: how many processes the engine may use; None for as many as there are cores.
        ray: the address of a Ray cluster for the engine, or None.
        progress: called with (done, total, unit) as work proceeds.
        say: tells whoever watches the run something that does not stop it.
        refusals: why what depends on this component must not run; see `refuse`.
    """

    files: Any
    work: Path
    workers: int | None = None
    ray: str | None = None
    progress: Callable[[int, int, str], None] = lambda done, total, unit: None
    say: Callable[[str], None] = lambda words: None
    refusals: list[str] = dataclasses.field(default_factory=list)

    def refuse(self, reason: str) -> None:
        """Publishes the outputs, but stops what depends on them, for a reason that a person reads."""
        self.refusals.append(reason)


@dataclasses.dataclass(frozen=True)
class Channel:
    """One output of a node, before it exists."""

    node: Node
    name: str
    type: type[Artifact]


@dataclasses.dataclass(frozen=True)
class Resolved:
    """An input that is looked for in the metadata when its component is about to run: an earlier artifact.

    Attributes:
        channel: the output, of this or earlier runs, that it is one of.
        rule: "earlier_span" takes the newest of a lower span than that of this run; "before" the newest that
            is older than the artifact which this run has in the channel.
        blessed: whether every blessing of it must say so.
    """

    channel: Channel
    rule: str
    blessed: bool

    @property
    def type(self) -> type[Artifact]:
        return self.channel.type


def earlier_span(channel: Channel, blessed: bool = False) -> Resolved:
    """What this output was for the span before, for drift and for warm starts; None where there is none.

    Args:
        channel: an output of a component.
        blessed: only what has been blessed.
    """
    return Resolved(channel, "earlier_span", blessed)


def latest_blessed(channel: Channel) -> Resolved:
    """The newest blessed artifact before the one that this run makes: the baseline of an evaluation.

    Args:
        channel: the output `model` of a trainer.
    """
    return Resolved(channel, "before", True)


class Node:
    """A component with its arguments: a step of a pipeline.

    Attributes:
        name: unique in its pipeline; the component's own name unless `named` gave another.
        component: what it calls.
        inputs: channels, or what is resolved when it runs, by argument.
        parameters: the other arguments.
        outputs: its channels by name.
        upstream: nodes that must have ended well though nothing is taken from them.
    """

    def __init__(self, component: Component, inputs: dict[str, Any], parameters: dict[str, Any]) -> None:
        self.name = component.name
        self.component = component
        self.inputs, self.parameters = inputs, parameters
        self.outputs = {name: Channel(self, name, kind) for name, kind in component.outputs.items()}
        self.upstream: list[Node] = []

    def named(self, name: str) -> Node:
        """Gives the node another name, for a component that a pipeline uses twice.

        Args:
            name: letters, digits, `_`, `-` and `.`.
        """
        self.name = name
        return self

    def after(self, *nodes: Node) -> Node:
        """Runs only when these nodes ended well and refused nothing.

        Args:
            *nodes: steps whose outputs it does not take.
        """
        self.upstream += nodes
        return self

    def take(self, **inputs: Channel | Resolved) -> Node:
        """Gives it further inputs: such as can only be named once it is there, of its own earlier outputs.

        Args:
            **inputs: by argument.
        """
        unknown = inputs.keys() - self.component.inputs.keys()
        if unknown:
            raise TypeError(f"{self.component.name} has no input {', '.join(sorted(unknown))}")
        self.inputs |= {name: self.component.checked(name, value) for name, value in inputs.items()}
        return self

    def dependencies(self) -> Iterator[Node]:
        """The nodes that must have ended before this one."""
        for channel in self.inputs.values():
            if isinstance(channel, Channel):
                yield channel.node
            elif channel.rule == "before":
                yield channel.channel.node
        yield from self.upstream

    @property
    def is_alone(self) -> bool:
        """Whether no other node may run beside it."""
        return self.component.alone is not None and self.component.alone(**self.parameters)

    def __repr__(self) -> str:
        return f"<{self.component.name} {self.name!r}>"


class Component:
    """A function with its signature read: which arguments are inputs, outputs and parameters."""

    def __init__(
        self,
        function: Callable[..., None],
        reads: Callable[..., Any] | None,
        alone: Callable[..., bool] | None = None,
    ) -> None:
        self.reads, self.alone = reads, alone
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__
        self.signature = inspect.signature(function)
        hints = typing.get_type_hints(function, include_extras=True)
        self.inputs: dict[str, type[Artifact]] = {}
        self.outputs: dict[str, type[Artifact]] = {}
        for name in list(self.signature.parameters)[1:]:
            role, kind = _role(hints.get(name))
            if role == "input":
                self.inputs[name] = kind
            elif role == "output":
                self.outputs[name] = kind

    def __call__(self, **arguments: Any) -> Node:
        """Makes a node. Args: **arguments: inputs as channels of other nodes, and parameters."""
        _, *parameters = self.signature.parameters.values()
        taken = self.signature.replace(parameters=[p for p in parameters if p.name not in self.outputs])
        try:
            bound = taken.bind(**arguments)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        inputs = {
            name: self.checked(name, value)
            for name, value in bound.arguments.items()
            if name in self.inputs and value is not None
        }
        given = {name: value for name, value in bound.arguments.items() if name not in self.inputs}
        return Node(self, inputs, given)

    def checked(self, name: str, value: Any) -> Channel | Resolved:
        """An input, if it is of the argument's type.

        Args:
            name: the argument.
            value: what it is given.
        """
        wanted = self.inputs[name]
        if not isinstance(value, (Channel, Resolved)):
            raise TypeError(
                f"{self.name}: {name} is to be an output of a component, such as "
                f'node.outputs["{name}"], and not {value!r}'
            )
        if not issubclass(value.type, wanted):
            raise TypeError(
                f"{self.name}: {name} takes {wanted.__name__}, and was given {value.type.__name__}"
            )
        return value


@overload
def component(function: Callable[..., None], /) -> Component: ...


@overload
def component(
    *, reads: Callable[..., Any] | None = None, alone: Callable[..., bool] | None = None
) -> Callable[[Callable[..., None]], Component]: ...


def component(
    function: Callable[..., None] | None = None,
    *,
    reads: Callable[..., Any] | None = None,
    alone: Callable[..., bool] | None = None,
) -> Any:
    """Makes a component of a function.

    Args:
        function: takes a `Context`, then inputs (`Input[Examples]`, with `| None = None` where it can do
            without), outputs (`Output[Model]`) and parameters, all by name.
        reads: for a component that reads files which no component wrote. Called with its parameters before it
            runs, it finds them: paths, in any structure of lists and dicts. Their contents are then part of
            what the result depends on, and the structure is given to the function as `context.files`.
        alone: for a component that measures time. Called with its parameters, it says whether no other node
            may run beside this one.
    """
    if function is None:
        return lambda function: Component(function, reads, alone)
    return Component(function, reads, alone)


def _role(hint: Any) -> tuple[str, Any]:
    """ "input" or "output" with the artifact's type, or "parameter"."""
    if get_origin(hint) in (Union, types.UnionType):
        roles = [_role(each) for each in get_args(hint)]
        return next((found for found in roles if found[0] != "parameter"), ("parameter", None))
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        for mark in marks:
            if mark in ("input", "output"):
                return mark, kind
    return "parameter", None
