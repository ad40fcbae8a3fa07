"""Files of examples as the inputs of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tideflow as tf
from tideflow.pipeline.data.sources import files_of
from tideflow.pipeline.transform.output import TFTransformOutput


def dataset(
    files: str | Sequence[str],
    features: TFTransformOutput | Mapping[str, Any],
    label: str | None = None,
    batch_size: int = 128,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer: int = 10_000,
    seed: int | None = None,
) -> tf.data.Dataset:
    """The examples of TFRecord files, in batches.

    Args:
      files: Files, folders or patterns; `.gz` files are compressed by GZIP.
      features: A transform's output, whose transformed examples they are, or a feature spec.
      label: The feature that is the label; without it, elements are the features alone.
      batch_size: The number of examples in a batch. The last one of all may be smaller.
      num_epochs: How often the examples come; for ever if None.
      shuffle: Whether they come in another order each time.
      shuffle_buffer: From how many examples the next is drawn.
      seed: The seed of that order.

    Returns:
      A dataset of pairs of features, by name, and labels.
    """
    spec = dict(features.transformed_feature_spec() if isinstance(features, TFTransformOutput) else features)
    paths = files_of(files)
    compressed = {path.endswith(".gz") for path in paths}
    if len(compressed) > 1:
        raise ValueError("Of the files some are compressed and some are not: give them in two datasets")
    examples = tf.data.TFRecordDataset(paths, compression_type="GZIP" if True in compressed else "")
    if shuffle:
        examples = examples.shuffle(shuffle_buffer, seed)
    batches = examples.repeat(num_epochs).batch(batch_size)
    batches = batches.map(lambda serialized: tf.io.parse_example(serialized, spec))
    if label is not None:
        batches = batches.map(lambda parsed: (parsed, parsed.pop(label)))
    return batches.prefetch(1)


def input_fn(
    files: str | Sequence[str],
    features: TFTransformOutput | Mapping[str, Any],
    label: str | None = None,
    **options: Any,
) -> Callable[[], tf.data.Dataset]:
    """The input function of an estimator: `dataset` with these arguments, when it is called.

    Args:
      files: Files, folders or patterns; `.gz` files are compressed by GZIP.
      features: A transform's output, whose transformed examples they are, or a feature spec.
      label: The feature that is the label.
      **options: Other arguments of `dataset`.
    """
    return lambda: dataset(files, features, label, **options)
