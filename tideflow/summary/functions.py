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
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection, name_scope
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
    """A summary of one number."""
    with tagged(name, family, [tensor]) as (tag, scope):
        summary = summaries.scalar_summary_op(tag, tensor, name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.histogram")
def histogram(
    name: str, values: TensorLike, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of how the elements of a tensor are distributed; they must be finite."""
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
    """A summary of the first pictures of a batch [batch, height, width, 1, 3 or 4 channels]."""
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
    """A summary of the first sounds of a batch [batch, samples, channels] or [batch, samples], in -1 .. 1."""
    with tagged(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = summaries.audio_summary_v2_op(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.text")
def text(name: str, tensor: Tensor, collections: Sequence[str] | None = None) -> Tensor:
    """A summary of strings, which TensorBoard shows as Markdown and, of rank 1 and 2, as tables."""
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
    """A summary of a tensor of any type and shape, for the plugin that the metadata name."""
    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with tagged(name, family, [tensor]) as (tag, scope):
        summary = summaries.tensor_summary_v2_op(tag, tensor, metadata.SerializeToString(), name=scope)
        return _collected(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.merge")
def merge(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """One summary of several; no tag may be in it twice."""
    name = _clean(name)
    with name_scope(name, "Merge", inputs):
        return _collected(summaries.merge_summary_op(inputs, name=name), collections, [])


@export("summary.merge_all")
def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None
) -> Tensor | None:
    """One summary of all that the graph has in a collection; None where it has none."""
    collected = get_collection(key, scope=scope)
    return merge(collected, name=name) if collected else None


@export("summary.all_v2_summary_ops")
def all_v2_summary_ops() -> list[Any]:
    """The ops of the graph that write summaries by themselves."""
    return get_collection(V2_SUMMARIES)


@export("summary.get_summary_description")
def get_summary_description(node_def: NodeDef) -> SummaryDescription:
    """What a TensorSummary node says of itself."""
    if node_def.op != summaries.tensor_summary_op.name:
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return json_format.Parse(node_def.attr["description"].s.decode(), SummaryDescription())
