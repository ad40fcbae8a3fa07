"""tf.summary: a summary of a tensor is an op whose tag is the op's own, unique name."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.summary_pb2 import SummaryDescription, SummaryMetadata

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collection,
    executing_eagerly,
    get_collection,
    name_scope,
    refuse_eagerly,
)
from tideflow.ops.files import summaries

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_log = logging.getLogger("tensorflow")
_ILLEGAL = re.compile(r"[^-/\w\.]")
V2_SUMMARIES = "_SUMMARY_V2"


def _clean(name: str | None) -> str | None:
    """A name an op may have: what else users write into tags becomes `_`."""
    if name is None:
        return None
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        _log.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def tagged(
    name: str, family: str | None, values: Sequence[Any], default_name: str | None = None
) -> Iterator[tuple[str, str]]:
    """A scope for the op, and its tag: the scope's name, behind the family's, whose tab shows it."""
    name, family = _clean(name), _clean(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        path = scope.rstrip("/")
        yield (path if family is None else f"{family}/{path}"), scope


def _collected(summary: Tensor, collections: Sequence[str] | None, default: Sequence[str]) -> Tensor:
    for key in default if collections is None else collections:
        add_to_collection(key, summary)
    return summary


@export("summary.scalar")
def scalar(
    name: str, tensor: TensorLike, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """Adds a summary of one number.

    Args:
      name: The name of the summary, from which the tag follows.
      tensor: A real scalar.
      collections: The collections to add the summary to; SUMMARIES if None.
      family: A prefix of the tag, which groups summaries in TensorBoard.

    Returns:
      A scalar string tensor: a serialized Summary.
    """
    with tagged(name, family, [tensor]) as (tag, scope):
        summary = summaries.scalar_summary_op(tag, tensor, name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.histogram")
def histogram(
    name: str, values: TensorLike, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """Adds a summary of the distribution of a tensor's elements.

    Args:
      name: The name of the summary, from which the tag follows.
      values: The tensor. A step fails if an element is not finite.
      collections: The collections to add the summary to; SUMMARIES if None.
      family: A prefix of the tag, which groups summaries in TensorBoard.

    Returns:
      A scalar string tensor: a serialized Summary.
    """
    with tagged(name, family, [values], "HistogramSummary") as (tag, scope):
        summary = summaries.histogram_summary_op(tag, values, name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.image")
def image(
    name: str,
    tensor: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """Adds a summary of images.

    Args:
      name: The name of the summary, from which the tags follow.
      tensor: Images of shape [batch, height, width, channels], uint8 or floating-point, with 1, 3 or 4
        channels. Floats are scaled to the range of uint8.
      max_outputs: The number of images of the batch.
      collections: The collections to add the summary to; SUMMARIES if None.
      family: A prefix of the tag, which groups summaries in TensorBoard.

    Returns:
      A scalar string tensor: a serialized Summary.
    """
    with tagged(name, family, [tensor]) as (tag, scope):
        summary = summaries.image_summary_op(tag, tensor, max_images=max_outputs, name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.audio")
def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """Adds a summary of sounds.

    Args:
      name: The name of the summary, from which the tags follow.
      tensor: Sounds of shape [batch, samples, channels] or [batch, samples], with values in [-1, 1].
      sample_rate: The sample rate in hertz.
      max_outputs: The number of sounds of the batch.
      collections: The collections to add the summary to; SUMMARIES if None.
      family: A prefix of the tag, which groups summaries in TensorBoard.

    Returns:
      A scalar string tensor: a serialized Summary.
    """
    with tagged(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = summaries.audio_summary_v2_op(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.text")
def text(name: str, tensor: Tensor, collections: Sequence[str] | None = None) -> Tensor:
    """Adds a summary of strings, which TensorBoard shows as Markdown.

    Args:
      name: The name of the summary, which is the tag.
      tensor: A string tensor. A vector or a matrix becomes a table.
      collections: The collections to add the summary to; SUMMARIES if None.

    Returns:
      A scalar string tensor: a serialized Summary.

    Raises:
      ValueError: If the tensor does not have strings.
    """
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    shown_by = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=shown_by)


@export("summary.tensor_summary")
def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: str | None = None,
    collections: Sequence[str] | None = None,
    summary_metadata: SummaryMetadata | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Adds a summary of a tensor of any type and shape, for a plugin of TensorBoard.

    Args:
      name: The name of the summary, from which the tag follows.
      tensor: The tensor.
      summary_description: A description.
      collections: The collections to add the summary to; SUMMARIES if None.
      summary_metadata: A SummaryMetadata message, which names the plugin.
      family: A prefix of the tag.
      display_name: The name that TensorBoard shows.

    Returns:
      A scalar string tensor: a serialized Summary.
    """
    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with tagged(name, family, [tensor]) as (tag, scope):
        summary = summaries.tensor_summary_v2_op(tag, tensor, metadata.SerializeToString(), name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


_MERGES_ARE_OF_GRAPHS = (
    "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."
)


@export("summary.merge")
def merge(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """Merges summaries into one.

    Args:
      inputs: The summaries, as string tensors. No two may have the same tag.
      collections: The collections to add the result to; none if None.
      name: The name of the operation.

    Returns:
      A scalar string tensor: a serialized Summary.
    """
    refuse_eagerly(_MERGES_ARE_OF_GRAPHS)
    name = _clean(name)
    with name_scope(name, "Merge", inputs):
        return _collected(summaries.merge_summary_op(inputs, name=name), collections, [])


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """Merges all summaries of a collection into one.

    Args:
      key: The collection's key.
      scope: A regular expression. If given, only summaries whose name matches it at its start are merged.
      name: The name of the operation.

    Returns:
      A scalar string tensor, or None if there are no summaries.
    """
    refuse_eagerly(_MERGES_ARE_OF_GRAPHS)
    collected = get_collection(key, scope=scope)
    return merge(collected, name=name) if collected else None


@export("summary.all_v2_summary_ops")
def all_v2_summary_ops() -> list[Any] | None:
    """Lists the operations of the default graph that write summaries themselves.

    Returns:
      The operations; None in eager mode.
    """
    return None if executing_eagerly() else get_collection(V2_SUMMARIES)


@export("summary.get_summary_description")
def get_summary_description(node_def: NodeDef) -> SummaryDescription:
    """Gets the description of a TensorSummary node.

    Args:
      node_def: The NodeDef.

    Returns:
      The SummaryDescription message.

    Raises:
      ValueError: If the node is of another type.
    """
    if node_def.op != summaries.tensor_summary_op.name:
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return json_format.Parse(node_def.attr["description"].s.decode(), SummaryDescription())
