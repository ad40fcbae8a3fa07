"""The results of an evaluation: logged, and written as summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.summary_pb2 import Summary

import tideflow as tf
from tideflow.graph.scopes import GraphKeys
from tideflow.platform import logging
from tideflow.summary.writer import FileWriterCache


def write_results(directory: str, results: Mapping[str, Any], checkpoint_path: str | None) -> None:
    """Writes the metrics of an evaluation, and which checkpoint was evaluated."""
    step = results[GraphKeys.GLOBAL_STEP]
    words = ", ".join(
        f"{key} = {value!s}" for key, value in sorted(results.items()) if not isinstance(value, bytes)
    )
    logging.info("Saving dict for global step %d: %s", step, words)
    writer = FileWriterCache.get(directory)
    summary = Summary()
    for key, value in results.items():
        if value is not None and key != GraphKeys.GLOBAL_STEP:
            _add(summary, key, value)
    writer.add_summary(summary, step)
    writer.flush()
    if checkpoint_path:
        tag = "checkpoint_path"
        logging.info("Saving '%s' summary for global step %d: %s", tag, step, checkpoint_path)
        summary = Summary()
        summary.value.add(tag=tag, tensor=tf.make_tensor_proto(checkpoint_path, dtype=tf.string))
        writer.add_summary(summary, step)
        writer.flush()


def _add(summary: Summary, key: str, value: Any) -> None:
    if isinstance(value, (np.float32, float, np.int64, np.int32, int)):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, bytes):
        try:
            inner = Summary.FromString(value)
        except DecodeError:
            logging.warn("Skipping summary for %s, cannot parse string to Summary.", key)
            return
        for number, item in enumerate(inner.value):
            item.tag = f"{key}/{number}"
        summary.value.extend(inner.value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=key, node_name=key, tensor=tf.make_tensor_proto(value))
        logging.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a Tensorboard "
            "plugin for visualization (see https://github.com/tensorflow/tensorboard-plugin-example/blob/"
            "master/README.md for more information)."
        )
    else:
        logging.warn(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray "
            "or a serialized string of Summary.",
            key,
        )
