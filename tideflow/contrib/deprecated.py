"""tf.contrib.deprecated: summaries by the names that they had before TensorFlow 1.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collections
from tideflow.ops.files import summaries
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _instead(name: str) -> Any:
    return deprecated(
        "2016-11-30",
        f"Please switch to tf.summary.{name}. Note that tf.summary.{name} uses the node name instead of the "
        "tag: tags are made unique by the scope that they are in.",
    )


def _collected(summary: Tensor, collections: Sequence[str] | None) -> Tensor:
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


@export("contrib.deprecated.scalar_summary")
@_instead("scalar")
def scalar_summary(
    tags: TensorLike, values: TensorLike, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """Makes a summary of numbers.

    Args:
      tags: The tags, a string for each number.
      values: The numbers.
      collections: The collections to add the summary to; those of summaries if None.
      name: A name for the operation.

    Returns:
      The serialized summary.
    """
    with tf.name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(summaries.scalar_summary_op(tags, values, name=scope), collections)


@export("contrib.deprecated.histogram_summary")
@_instead("histogram")
def histogram_summary(
    tag: TensorLike, values: TensorLike, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """Makes a summary of how numbers are distributed.

    Args:
      tag: The tag, a string.
      values: The numbers.
      collections: The collections to add the summary to; those of summaries if None.
      name: A name for the operation.

    Returns:
      The serialized summary.
    """
    with tf.name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(summaries.histogram_summary_op(tag, values, name=scope), collections)


@export("contrib.deprecated.image_summary")
@_instead("image")
def image_summary(
    tag: TensorLike,
    tensor: TensorLike,
    max_images: int = 3,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """Makes a summary of images.

    Args:
      tag: The tag, a string.
      tensor: The images, [batch, height, width, channels].
      max_images: How many images of the batch are shown.
      collections: The collections to add the summary to; those of summaries if None.
      name: A name for the operation.

    Returns:
      The serialized summary.
    """
    with tf.name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        made = summaries.image_summary_op(tag, tensor, max_images=max_images, name=scope)
        return _collected(made, collections)


@export("contrib.deprecated.audio_summary")
@_instead("audio")
def audio_summary(
    tag: TensorLike,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """Makes a summary of sounds.

    Args:
      tag: The tag, a string.
      tensor: The waves, [batch, frames] or [batch, frames, channels].
      sample_rate: The number of frames in a second.
      max_outputs: How many sounds of the batch are kept.
      collections: The collections to add the summary to; those of summaries if None.
      name: A name for the operation.

    Returns:
      The serialized summary.
    """
    with tf.name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = tf.convert_to_tensor(sample_rate, dtype=tf.float32, name="sample_rate")
        made = summaries.audio_summary_v2_op(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return _collected(made, collections)


@export("contrib.deprecated.merge_summary")
@_instead("merge")
def merge_summary(
    inputs: Sequence[TensorLike], collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """Makes one summary of several.

    Args:
      inputs: The serialized summaries.
      collections: The collections to add the summary to; none if None.
      name: A name for the operation.

    Returns:
      The serialized summary.
    """
    with tf.name_scope(name, "MergeSummary", inputs):
        return _collected(summaries.merge_summary_op(inputs), collections or ())


@export("contrib.deprecated.merge_all_summaries")
@_instead("merge_all")
def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | None:
    """Makes one summary of all that were collected.

    Args:
      key: The collection.

    Returns:
      The serialized summary, or None if there are none.
    """
    found = tf.get_collection(key)
    return merge_summary(found) if found else None
