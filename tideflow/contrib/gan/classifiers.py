"""How good generated images are, by what a classifier makes of them."""

from __future__ import annotations

import functools
import os
import tarfile
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.contrib.layers.arrangement import flatten
from tideflow.export import export, expose
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.control_flow.map_and_fold import map_fn
from tideflow.ops.images.resize import resize_bilinear
from tideflow.ops.math import casting
from tideflow.platform.gfile import GFile
from tideflow.platform.resource_loader import load_resource

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

INCEPTION_DEFAULT_IMAGE_SIZE = 299
_URL = "http://download.tensorflow.org/models/frozen_inception_v1_2015_12_05.tar.gz"
_FROZEN_GRAPH = "inceptionv1_for_inception_score.pb"
_INPUT, _LOGITS, _LAST_POOL = "Mul:0", "logits:0", "pool_3:0"

expose(INCEPTION_DEFAULT_IMAGE_SIZE, "contrib.gan.eval.INCEPTION_DEFAULT_IMAGE_SIZE")


@export("contrib.gan.eval.preprocess_image")
def preprocess_image(
    images: TensorLike,
    height: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    width: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    scope: str | None = None,
) -> Tensor:
    """Makes of images what Inception takes: of its size, with values in [-1, 1].

    Args:
      images: An image, or a batch of images, with values in [0, 255].
      height: The height that images get.
      width: The width that they get.
      scope: The name scope of the operations.

    Returns:
      A tensor of floats of the same rank.
    """
    with name_scope(scope, "preprocess", [images, height, width]):
        single = images.shape.ndims == 3
        values = images if images.dtype.is_floating else casting.to_float(images)
        resized = resize_bilinear(shapes.expand_dims(values, 0) if single else values, [height, width])
        scaled = (resized - 128.0) / 128.0
        return shapes.squeeze(scaled, axis=[0]) if single else scaled


@export("contrib.gan.eval.get_graph_def_from_disk")
def get_graph_def_from_disk(filename: str) -> GraphDef:
    """Reads a GraphDef from a file.

    Args:
      filename: The name of the file.

    Returns:
      The GraphDef.
    """
    with GFile(filename, "rb") as file:
        return GraphDef.FromString(file.read())


@export("contrib.gan.eval.get_graph_def_from_resource")
def get_graph_def_from_resource(filename: str) -> GraphDef:
    """Reads a GraphDef from a file beside the program.

    Args:
      filename: The name of the file; see `tf.resource_loader.load_resource`.

    Returns:
      The GraphDef.
    """
    return GraphDef.FromString(load_resource(filename))


@export("contrib.gan.eval.get_graph_def_from_url_tarball")
def get_graph_def_from_url_tarball(url: str, filename: str, tar_filename: str | None = None) -> GraphDef:
    """Downloads an archive, unless it is there already, and reads a GraphDef from it.

    Args:
      url: The address of the archive.
      filename: The name of the file in it.
      tar_filename: Where the archive is kept; in a temporary file if None.

    Returns:
      The GraphDef.
    """
    if not (tar_filename and os.path.exists(tar_filename)):
        tar_filename, _ = urllib.request.urlretrieve(url, tar_filename)
    with tarfile.open(tar_filename, "r:gz") as archive:
        return GraphDef.FromString(archive.extractfile(filename).read())


def _inception() -> GraphDef:
    return get_graph_def_from_url_tarball(_URL, _FROZEN_GRAPH, os.path.basename(_URL))


@export("contrib.gan.eval.run_image_classifier")
def run_image_classifier(
    tensor: TensorLike,
    graph_def: GraphDef,
    input_tensor: str,
    output_tensor: str | list[str],
    scope: str = "RunClassifier",
) -> Tensor | list[Tensor]:
    """Imports a frozen graph that classifies images.

    Args:
      tensor: The images.
      graph_def: The graph.
      input_tensor: The name of the tensor that images take the place of.
      output_tensor: The name of the tensor that is wanted, or a list of names.
      scope: The name scope that the graph is imported into.

    Returns:
      A tensor, or a list of tensors.

    Raises:
      ValueError: If the graph lacks a tensor.
    """
    one = isinstance(output_tensor, str)
    wanted = [output_tensor] if one else output_tensor
    found = import_graph_def(graph_def, {input_tensor: tensor}, wanted, name=scope)
    return found[0] if one else found


@export("contrib.gan.eval.run_inception")
def run_inception(
    images: TensorLike,
    graph_def: GraphDef | None = None,
    default_graph_def_fn: Callable[[], GraphDef] | None = _inception,
    image_size: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    input_tensor: str = _INPUT,
    output_tensor: str | list[str] = _LOGITS,
) -> Tensor | list[Tensor]:
    """Runs images through Inception, or another frozen graph.

    Args:
      images: A batch of images of the right size with values in [-1, 1]; see `preprocess_image`.
      graph_def: The graph.
      default_graph_def_fn: A function that gives the graph, if `graph_def` is None; by default Inception is
        downloaded.
      image_size: The height and width that images must have.
      input_tensor: The name of the tensor that images take the place of.
      output_tensor: The name of the tensor that is wanted, or a list of names.

    Returns:
      A tensor [batch, size], or a list of them.

    Raises:
      ValueError: If images have another size, or there is no graph.
    """
    images = convert_to_tensor(images)
    images.shape.assert_is_compatible_with([None, image_size, image_size, None])
    if graph_def is None:
        if default_graph_def_fn is None:
            raise ValueError("If `graph_def` is `None`, must provide `default_graph_def_fn`.")
        graph_def = default_graph_def_fn()
    found = run_image_classifier(images, graph_def, input_tensor, output_tensor)
    return [flatten(part) for part in found] if isinstance(found, list) else flatten(found)


def in_batches(classifier_fn: Callable, images: Any, num_batches: int) -> Tensor:
    """What a classifier makes of images that it gets in several batches, one after the other."""
    batches = joining.stack(joining.split(images, num_batches))
    made = map_fn(
        classifier_fn,
        batches,
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
        name="RunClassifier",
    )
    return joining.concat(joining.unstack(made), 0)


logits_of_inception = functools.partial(run_inception, output_tensor=_LOGITS)
pool_of_inception = functools.partial(run_inception, output_tensor=_LAST_POOL)
