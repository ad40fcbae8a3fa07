"""`tf.contrib.summary`: summaries that a step writes by itself, and whether it does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    add_to_collection,
    control_dependencies,
    device,
    executing_eagerly,
    get_collection,
    get_default_graph,
    get_default_session,
    name_scope,
)
from tideflow.graph.stacks import replaced, summaries
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import conditionals
from tideflow.ops.files import summary_writers as ops
from tideflow.ops.math import binary
from tideflow.summary.functions import V2_SUMMARIES, all_v2_summary_ops, tagged
from tideflow.variables.global_step import get_or_create_global_step

if TYPE_CHECKING:
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    from tideflow.graph.typing import SessionLike, TensorLike

_INITIALIZERS = "_SUMMARY_WRITER_V2"

# ------------------------------------------------------------------------------------------------- writers


@export("contrib.summary.SummaryWriter")
class SummaryWriter:
    """A writer that steps open, write to and close. This one, of no directory, does nothing."""

    def set_as_default(self) -> None:
        """From here on summaries go to it."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """Inside, summaries go to it."""
        yield self

    def init(self) -> Operation | None:
        """The operation that opens it."""

    def flush(self) -> Operation | None:
        """The operation behind which all is on the disk."""

    def close(self) -> Operation | None:
        """The operation that closes it."""


class ResourceSummaryWriter(SummaryWriter):
    """A writer of the session's, shared by its name."""

    def __init__(self, shared_name: str, open_op: Callable[[Tensor], Operation], name: str | None = None):
        self._resource = ops.summary_writer_op(shared_name=shared_name, name=name)
        self._open_op = open_op
        self._init_op = open_op(self._resource)
        add_to_collection(_INITIALIZERS, self._init_op)

    def set_as_default(self) -> None:
        summaries.writer = self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        with replaced(summaries, "writer", self):
            yield self
            self.flush()

    def init(self) -> Operation:
        return self._open_op(self._resource)

    def flush(self) -> Operation | None:
        return flush(self)

    def close(self) -> Operation | None:
        with control_dependencies([self.flush()]), device("cpu:0"):
            return ops.close_summary_writer_op(self._resource)


class OwnSummaryWriter(ResourceSummaryWriter):
    """A writer of `tf.compat.v2.summary`: its file is its own, and one that was closed eagerly stays so."""

    _closed = False

    def set_as_default(self) -> None:
        self._check_open()
        super().set_as_default()

    @contextlib.contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        self._check_open()
        with super().as_default():
            yield self

    def init(self) -> Operation:
        self._check_open()
        return self._open_op(self._resource) if executing_eagerly() else self._init_op

    def flush(self) -> Operation | None:
        return None if self._is_closed() else super().flush()

    def close(self) -> Operation | None:
        if self._is_closed():
            return None
        done = super().close()
        self._closed = True
        return done

    def _is_closed(self) -> bool:
        return self._closed and executing_eagerly()

    def _check_open(self) -> None:
        if self._is_closed():
            raise RuntimeError("SummaryWriter is already closed")


@export("contrib.summary.create_file_writer", "contrib.summary.create_summary_file_writer")
def create_file_writer(
    logdir: TensorLike | None,
    max_queue: TensorLike | None = None,
    flush_millis: TensorLike | None = None,
    filename_suffix: TensorLike | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """Makes a writer whose event file steps open and write.

    Args:
      logdir: The directory; None for a writer that does nothing.
      max_queue: The number of events after which the file is flushed; 10 if None.
      flush_millis: The milliseconds after which the file is flushed; 120,000 if None.
      filename_suffix: The suffix of the file's name.
      name: The name under which sessions share the writer.

    Returns:
      The writer.
    """
    if logdir is None:
        return SummaryWriter()
    folder = os.fspath(logdir)
    with device("cpu:0"):
        most = constants.constant(10) if max_queue is None else max_queue
        millis = constants.constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        suffix = constants.constant(".v2") if filename_suffix is None else filename_suffix

        def open_op(writer: Tensor) -> Operation:
            return ops.create_summary_file_writer_op(writer, folder, most, millis, suffix)

        return ResourceSummaryWriter(f"logdir:{folder}" if name is None else name, open_op)


@export("contrib.summary.summary_writer_initializer_op")
def summary_writer_initializer_op() -> list[Operation]:
    """Lists the operations that open the writers of the default graph.

    Returns:
      The operations.
    """
    return get_collection(_INITIALIZERS)


@export("summary.initialize", "contrib.summary.initialize")
def initialize(graph: Graph | GraphDef | None = None, session: SessionLike | None = None) -> None:
    """Opens the writers of the default graph in a session.

    Args:
      graph: A graph to write to the default writer, or None.
      session: The session; the default session if None.

    Raises:
      ValueError: If there is no session.
    """
    if summaries.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        graph_def = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
        data = constants.placeholder(dtypes.string)
        session.run(write_graph(data, 0), {data: graph_def.SerializeToString()})


@export("contrib.summary.flush")
def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Operation:
    """Adds an operation that flushes a writer.

    Args:
      writer: The writer; the default writer if None.
      name: The name of the operation.

    Returns:
      The operation.
    """
    writer = summaries.writer if writer is None else writer
    if writer is None:
        return constants.no_op()
    with device("cpu:0"):
        return ops.flush_summary_writer_op(getattr(writer, "_resource", writer), name=name)


@export("contrib.summary.eval_dir")
def eval_dir(model_dir: str, name: str | None = None) -> str:
    """Makes the name of a directory for an evaluation's summaries.

    Args:
      model_dir: The directory of the model.
      name: The name of the evaluation, or None.

    Returns:
      The directory.
    """
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


# --------------------------------------------------------------------------------------- whether to record


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    with replaced(summaries, "condition", condition):
        yield


@export("contrib.summary.always_record_summaries")
def always_record_summaries() -> Any:
    """A context manager in whose block summaries are written."""
    return record_if(True)


@export("contrib.summary.never_record_summaries")
def never_record_summaries() -> Any:
    """A context manager in whose block summaries are not written."""
    return record_if(False)


@export("contrib.summary.record_summaries_every_n_global_steps")
def record_summaries_every_n_global_steps(n: int, global_step: TensorLike | None = None) -> Any:
    """A context manager in whose block summaries are written once in a number of steps.

    Args:
      n: The number of steps.
      global_step: The step; the global step if None.

    Returns:
      The context manager.
    """
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        return record_if(binary.equal(step % n, 0))


@export("contrib.summary.should_record_summaries")
def should_record_summaries() -> Tensor:
    """Whether summaries are written here.

    Returns:
      A bool or a bool tensor; False by default.
    """
    condition = False if summaries.condition is None else summaries.condition
    return binary.logical_and(True, condition)


expose(all_v2_summary_ops, "contrib.summary.all_summary_ops")

# ------------------------------------------------------------------------------------------- what to record


def _recorded(name: str, tensor: Any, family: str | None, write: Callable[[str, str], Operation]) -> Any:
    """The operation that writes a summary where that is wanted; it is among the graph's V2 summaries."""
    if summaries.writer is None:
        return constants.no_op()
    around = get_default_graph().get_name_scope()

    def record() -> Tensor:
        with name_scope(f"{around}/" if around else ""), tagged(name, family, [tensor]) as (tag, scope):
            with control_dependencies([write(tag, scope)]):
                return constants.constant(True)

    with device("cpu:0"):
        wanted = should_record_summaries()
        if isinstance(summaries.condition, Tensor):
            done = conditionals.cond(wanted, record, _nothing, name="")
        else:
            done = record() if summaries.condition else _nothing()
        add_to_collection(V2_SUMMARIES, done)
    return done


def write_tensor(
    tag: str, tensor: Any, step: TensorLike, metadata: SummaryMetadata | TensorLike | None, scope: str
) -> Tensor:
    """Writes a tensor under a tag where summaries are recorded; they are, unless a condition says otherwise.

    Args:
      tag: The tag.
      tensor: The tensor, or a function that makes it.
      step: The step.
      metadata: What plugins are told: a message, serialized or not, or None.
      scope: The name of the operation that writes.

    Returns:
      Whether it was written.
    """

    def write(writer: Tensor) -> Operation:
        value = constants.identity(tensor() if callable(tensor) else tensor)
        told = "" if metadata is None else metadata
        if not isinstance(told, (str, bytes, Tensor)):
            told = told.SerializeToString()
        return ops.write_summary_op(writer, _step(step), value, tag, told, name=scope)

    return _written(write)


def write_message(message: bytes | TensorLike, step: TensorLike, scope: str) -> Tensor:
    """Writes serialized Summary messages as one; where and what comes back, as of `write_tensor`."""
    return _written(
        lambda writer: ops.write_raw_proto_summary_op(
            writer, _step(step), constants.identity(message), name=scope
        )
    )


def _written(write: Callable[[Tensor], Operation]) -> Tensor:
    """Whether the operation that `write` adds has written, where summaries are recorded."""
    if summaries.writer is None:
        return constants.constant(False)

    def record() -> Tensor:
        with control_dependencies([write(summaries.writer._resource)]):
            return constants.constant(True)

    with device("cpu:0"):
        condition = True if summaries.condition is None else summaries.condition
        if callable(condition):
            condition = condition()
        if isinstance(condition, Tensor):
            done = conditionals.cond(condition, record, _nothing, name="summary_cond")
        else:
            done = record() if condition else _nothing()
        add_to_collection(V2_SUMMARIES, done)
    return done


def _nothing() -> Tensor:
    """What a summary that is not written returns."""
    return constants.constant(False)


def _step(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


@export("contrib.summary.scalar")
def scalar(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Any:
    """Writes a summary of one number.

    Args:
      name: The name of the summary.
      tensor: A real scalar.
      family: A prefix of the tag.
      step: The step; the global step if None.

    Returns:
      The operation that writes the summary, if summaries are recorded here.
    """

    def write(tag: str, scope: str) -> Operation:
        writer = summaries.writer._resource
        return ops.write_scalar_summary_op(writer, _step(step), tag, constants.identity(tensor), name=scope)

    return _recorded(name, tensor, family, write)


@export("contrib.summary.histogram")
def histogram(
    name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None
) -> Any:
    """Writes a summary of the distribution of a tensor's elements.

    Args:
      name: The name of the summary.
      tensor: The tensor.
      family: A prefix of the tag.
      step: The step; the global step if None.

    Returns:
      The operation that writes the summary, if summaries are recorded here.
    """

    def write(tag: str, scope: str) -> Operation:
        writer, values = summaries.writer._resource, constants.identity(tensor)
        return ops.write_histogram_summary_op(writer, _step(step), tag, values, name=scope)

    return _recorded(name, tensor, family, write)


@export("contrib.summary.image")
def image(
    name: str,
    tensor: TensorLike,
    bad_color: TensorLike | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Any:
    """Writes a summary of images.

    Args:
      name: The name of the summary.
      tensor: Images of shape [batch, height, width, channels].
      bad_color: The colour of pixels that are not finite.
      max_images: The number of images of the batch.
      family: A prefix of the tag.
      step: The step; the global step if None.

    Returns:
      The operation that writes the summary, if summaries are recorded here.
    """

    def write(tag: str, scope: str) -> Operation:
        color = constants.constant([255, 0, 0, 255], dtypes.uint8) if bad_color is None else bad_color
        writer, at, pictures = summaries.writer._resource, _step(step), constants.identity(tensor)
        return ops.write_image_summary_op(writer, at, tag, pictures, color, max_images=max_images, name=scope)

    return _recorded(name, tensor, family, write)


@export("contrib.summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Any:
    """Writes a summary of sounds.

    Args:
      name: The name of the summary.
      tensor: Sounds of shape [batch, samples, channels] or [batch, samples].
      sample_rate: The sample rate in hertz.
      max_outputs: The number of sounds of the batch.
      family: A prefix of the tag.
      step: The step; the global step if None.

    Returns:
      The operation that writes the summary, if summaries are recorded here.
    """

    def write(tag: str, scope: str) -> Operation:
        writer, at, sounds = summaries.writer._resource, _step(step), constants.identity(tensor)
        return ops.write_audio_summary_op(
            writer, at, tag, sounds, sample_rate, max_outputs=max_outputs, name=scope
        )

    return _recorded(name, tensor, family, write)


@export("contrib.summary.generic")
def generic(
    name: str,
    tensor: TensorLike,
    metadata: SummaryMetadata | TensorLike | None = None,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Any:
    """Writes a summary of a tensor, with metadata for a plugin of TensorBoard.

    Args:
      name: The name of the summary.
      tensor: The tensor.
      metadata: A SummaryMetadata message, serialized or not.
      family: A prefix of the tag.
      step: The step; the global step if None.

    Returns:
      The operation that writes the summary, if summaries are recorded here.
    """

    def write(tag: str, scope: str) -> Operation:
        told = constants.constant("") if metadata is None else metadata
        if hasattr(told, "SerializeToString"):
            told = constants.constant(told.SerializeToString())
        writer, at, value = summaries.writer._resource, _step(step), constants.identity(tensor)
        return ops.write_summary_op(writer, at, value, tag, told, name=scope)

    return _recorded(name, tensor, family, write)


@export("contrib.summary.graph")
def write_graph(param: Tensor, step: TensorLike | None = None, name: str | None = None) -> Operation:
    """Writes a serialized graph, whether or not summaries are recorded.

    Args:
      param: A string tensor with a serialized GraphDef.
      step: The step; the global step if None.
      name: The name of the operation.

    Returns:
      The operation.
    """
    if not isinstance(param, Tensor):
        raise TypeError(
            f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}"
        )
    writer = summaries.writer
    if writer is None:
        return constants.no_op()
    with device("cpu:0"):
        data = constants.identity(param)
        return ops.write_graph_summary_op(writer._resource, _step(step), data, name=name)


@export("contrib.summary.import_event")
def import_event(tensor: TensorLike, name: str | None = None) -> Operation:
    """Writes a serialized Event message, whether or not summaries are recorded.

    Args:
      tensor: A string tensor with the message.
      name: The name of the operation.

    Returns:
      The operation.
    """
    return ops.import_event_op(summaries.writer._resource, tensor, name=name)
