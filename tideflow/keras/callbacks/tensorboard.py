"""The callback that writes events for TensorBoard."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest
from tideflow.keras.callbacks.base import Callback, Logs
from tideflow.layers.keras_session import get_session
from tideflow.summary.writer import FileWriter


class _Writer(FileWriter):
    """A writer for eager mode too, where programs make none of graphs."""

    _is_of_graphs = False


@export("keras.callbacks.TensorBoard")
class TensorBoard(Callback):
    """Writes events for TensorBoard: the graph, the loss, the metrics, and histograms of weights.

    Args:
      log_dir: The folder of the event files.
      histogram_freq: How many epochs lie between two histograms; none if 0. They need validation data,
        and a graph: eager mode writes none.
      batch_size: The size of the batches of validation data that activations are computed with.
      write_graph: Whether the graph is written.
      write_grads: Whether histograms of gradients are written too.
      write_images: Whether weights are written as images.
      embeddings_freq: How many epochs lie between two checkpoints of embeddings; none if 0.
      embeddings_layer_names: The names of embedding layers; all if None.
      embeddings_metadata: The file with the words of embeddings, or one a layer, by name.
      embeddings_data: Accepted for TensorFlow's sake: the embeddings' weights are what is saved.
      update_freq: `"epoch"`, `"batch"`, or the number of samples between two writes of metrics.
      profile_batch: Accepted for TensorFlow's sake: `tideflow.profiler` profiles.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: list[str] | None = None,
        embeddings_metadata: str | dict[str, str] | None = None,
        embeddings_data: Any = None,
        update_freq: str | int = "epoch",
        profile_batch: int = 2,
    ):
        super().__init__()
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.batch_size = batch_size
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.profile_batch = profile_batch
        self._samples_seen = self._samples_at_last_write = 0
        self._batches = 0

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        self.writer = _Writer(
            self.log_dir,
            tf.get_default_graph() if self.write_graph else None,
            filename_suffix=".v2" if tf.executing_eagerly() else None,
        )
        self.merged: Any = None
        if self.histogram_freq and not tf.executing_eagerly():
            self.merged = tf.summary.merge(self._summaries())
        self._saver: Any = None
        if self.embeddings_freq:
            self._prepare_embeddings()

    def _summaries(self) -> list[Any]:
        made = []
        for layer in self.model.layers:
            for weight in layer.weights:
                name = weight.name.replace(":", "_")
                made.append(tf.summary.histogram(name, weight))
                if self.write_images and (image := _as_image(weight)) is not None:
                    made.append(tf.summary.image(name, image))
                if self.write_grads and weight.trainable:
                    (grad,) = tf.gradients(self.model.total_loss, [weight])
                    grad = grad.values if isinstance(grad, tf.IndexedSlices) else grad
                    made.append(tf.summary.histogram(f"{name}_grad", grad))
            for output in nest.flatten(getattr(layer, "output", None)):
                if isinstance(output, tf.Tensor):
                    made.append(tf.summary.histogram(f"{layer.name}_out", output))
        return made

    def _prepare_embeddings(self) -> None:
        names = self.embeddings_layer_names or [
            layer.name for layer in self.model.layers if type(layer).__name__ == "Embedding"
        ]
        weights = {layer.name: layer.weights[0] for layer in self.model.layers if layer.name in names}
        self._saver = tf.train.Saver(list(weights.values()))
        lines = []
        for name, weight in weights.items():
            given = self.embeddings_metadata
            metadata = given.get(name) if isinstance(given, dict) else given
            lines.append(f'embeddings {{\n  tensor_name: "{weight.name}"')
            lines += [f'  metadata_path: "{metadata}"'] if metadata else []
            lines.append("}")
        with open(os.path.join(self.log_dir, "projector_config.pbtxt"), "w") as file:
            file.write("\n".join(lines) + "\n")

    def _write(self, logs: Logs, step: int) -> None:
        for name, value in logs.items():
            if name in ("batch", "size", "num_steps"):
                continue
            summary = tf.Summary(value=[tf.Summary.Value(tag=name, simple_value=float(value))])
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if (
            self.update_freq != "epoch"
            and self._samples_seen - self._samples_at_last_write >= self.update_freq
        ):
            self._write(
                {f"batch_{name}": value for name, value in logs.items() if name not in ("batch", "size")},
                self._batches,
            )
            self._samples_at_last_write = self._samples_seen
        self._batches += 1

    def on_train_begin(self, logs: Logs | None = None) -> None:
        if self.histogram_freq and self.validation_data is None and not self.params.get("do_validation"):
            raise ValueError(
                "If printing histograms, validation_data must be provided, and cannot be a generator."
            )

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write({f"epoch_{name}": value for name, value in (logs or {}).items()}, step)
        if self.merged is not None and epoch % self.histogram_freq == 0 and self.validation_data:
            self._write_histograms(epoch)
        if self._saver is not None and epoch % self.embeddings_freq == 0:
            path = os.path.join(self.log_dir, "keras_embedding.ckpt")
            self._saver.save(get_session(), path, epoch)

    def _write_histograms(self, epoch: int) -> None:
        model = self.model
        fed = model._feed_tensors(training=True)
        values = [array for array in self.validation_data if not np.isscalar(array)]
        feeds = {
            tensor: array[: self.batch_size] if array is not None and len(np.shape(array)) else array
            for tensor, array in zip(fed, values, strict=False)
            if array is not None
        }
        session = get_session(model.inputs)
        self.writer.add_summary(session.run(self.merged, feed_dict=feeds), epoch)

    def on_train_end(self, logs: Logs | None = None) -> None:
        self.writer.close()


def _as_image(weight: Any) -> Any:
    """A weight as images: vectors are rows, and each filter of a convolution is one; None of other ranks."""
    image = tf.squeeze(weight)
    shape = image.shape.as_list()
    if len(shape) == 1:
        return tf.reshape(image, [1, shape[0], 1, 1])
    if len(shape) == 2:
        if shape[0] > shape[1]:
            image = tf.transpose(image)
            shape = shape[::-1]
        return tf.reshape(image, [1, shape[0], shape[1], 1])
    if len(shape) == 3:
        if tf.keras.backend.image_data_format() == "channels_last":
            image = tf.transpose(image, [2, 0, 1])
        return tf.expand_dims(image, -1)
    return None
