"""Pictures of what a GAN makes: grids of images, and summaries of models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.gan.namedtuples import CycleGANModel, GANModel, StarGANModel
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.losses.collection import get_regularization_loss
from tideflow.ops.arrays import creation, joining, shapes, tiling
from tideflow.ops.control_flow.map_and_fold import map_fn
from tideflow.ops.math import casting, unary
from tideflow.summary import functions as summaries
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.gan.eval.image_grid")
def image_grid(
    input_tensor: TensorLike,
    grid_shape: Sequence[int],
    image_shape: Sequence[int] = (32, 32),
    num_channels: int = 3,
) -> Tensor:
    """Puts the images of a batch into one, row by row.

    Args:
      input_tensor: A batch of images, or of images as vectors.
      grid_shape: How many rows and columns of images.
      image_shape: The height and width of an image.
      num_channels: The number of channels.

    Returns:
      A tensor [1, height, width, channels].

    Raises:
      ValueError: If the sizes do not fit.
    """
    (rows, columns), (height, width) = grid_shape, image_shape
    sizes = input_tensor.shape.as_list()
    if rows * columns != sizes[0]:
        raise ValueError(f"Grid shape {grid_shape} incompatible with minibatch size {sizes[0]}.")
    if len(sizes) not in (2, 4):
        raise ValueError("Unrecognized input tensor format.")
    image = [height, width, num_channels]
    if sizes[1:] != (image if len(sizes) == 4 else [math.prod(image)]):
        raise ValueError("Image shape and number of channels incompatible with input tensor.")
    placed = shapes.reshape(input_tensor, [rows, columns, height, width, num_channels])
    placed = shapes.transpose(placed, [0, 2, 1, 3, 4])
    return shapes.reshape(placed, [1, rows * height, columns * width, num_channels])


@export("contrib.gan.eval.image_reshaper")
def image_reshaper(images: TensorLike | Sequence[TensorLike], num_cols: int | None = None) -> Tensor:
    """Puts images into one, row by row; what is left of the last row is black.

    Args:
      images: A batch, or a list, of images of 1 or 3 channels.
      num_cols: How many columns; about as many as rows if None.

    Returns:
      A tensor [1, height, width, channels].

    Raises:
      ValueError: If these are no such images.
    """
    images = joining.unstack(images) if isinstance(images, Tensor) else list(images)
    for image in images:
        image.shape.assert_has_rank(3)
        image.shape.assert_is_fully_defined()
        if image.shape[-1] not in (1, 3):
            raise ValueError("image_reshaper only supports 1 or 3 channel images.")
    columns = num_cols or math.ceil(math.sqrt(len(images)))
    images += [creation.zeros_like(images[-1])] * (-len(images) % columns)
    rows = [joining.concat(images[i : i + columns], 1) for i in range(0, len(images), columns)]
    return shapes.expand_dims(joining.concat(rows, 0), 0)


def _check_images(*batches: Any) -> None:
    for batch in batches:
        batch.shape.assert_has_rank(4)
        batch.shape[1:].assert_is_fully_defined()


def _both_ways(model: Any, word: str, add: Callable, *options: Any) -> bool:
    """Whether the model was two, each of which has been summarized in a scope of its own."""
    if not isinstance(model, CycleGANModel):
        return False
    for way, part in (("x2y", model.model_x2y), ("y2x", model.model_y2x)):
        with name_scope(f"cyclegan_{way}_{word}"):
            add(part, *options)
    return True


@export("contrib.gan.eval.add_gan_model_image_summaries")
def add_gan_model_image_summaries(
    gan_model: GANModel | CycleGANModel, grid_size: int = 4, model_summaries: bool = True
) -> None:
    """Summarizes real and generated images, as grids.

    Args:
      gan_model: The model.
      grid_size: How many rows and columns of images a grid has.
      model_summaries: Whether the variables are summarized too.

    Raises:
      ValueError: If the data are not images, or too few.
    """
    if _both_ways(gan_model, "image_summaries", add_gan_model_image_summaries, grid_size, model_summaries):
        return
    _check_images(gan_model.real_data, gan_model.generated_data)
    for name, data in (("real_data", gan_model.real_data), ("generated_data", gan_model.generated_data)):
        *size, channels = data.shape.as_list()[1:]
        grid = image_grid(data[: grid_size**2], (grid_size, grid_size), size, channels)
        summaries.image(name, grid, max_outputs=1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


@export("contrib.gan.eval.add_image_comparison_summaries")
def add_image_comparison_summaries(
    gan_model: GANModel | CycleGANModel, num_comparisons: int = 2, display_diffs: bool = False
) -> None:
    """Summarizes what the generator was given, what it made of it and real data, one above the other.

    Args:
      gan_model: A model whose generator makes images of images.
      num_comparisons: How many of each.
      display_diffs: Whether the differences between generated and real images are shown too.

    Raises:
      ValueError: If the data are not images of one size.
    """
    if _both_ways(
        gan_model,
        "image_comparison_summaries",
        add_image_comparison_summaries,
        num_comparisons,
        display_diffs,
    ):
        return
    inputs, generated, real = gan_model.generator_inputs, gan_model.generated_data, gan_model.real_data
    _check_images(inputs, generated, real)
    generated.shape.assert_is_compatible_with(inputs.shape)
    real.shape.assert_is_compatible_with(generated.shape)
    rows = [joining.unstack(data[:num_comparisons]) for data in (inputs, generated, real)]
    if display_diffs:
        rows.append(
            [
                unary.abs(casting.to_float(made) - casting.to_float(true))
                for made, true in zip(rows[1], rows[2], strict=True)
            ]
        )
    _compared([image for row in rows for image in row], num_comparisons)


def _compared(images: list[Tensor], columns: int) -> None:
    summaries.image("image_comparison", image_reshaper(images, num_cols=columns), max_outputs=1)


@export("contrib.gan.eval.add_cyclegan_image_summaries")
def add_cyclegan_image_summaries(cyclegan_model: CycleGANModel) -> None:
    """Summarizes an image, what becomes of it and what becomes of that, side by side, for both ways.

    Args:
      cyclegan_model: The model.

    Raises:
      ValueError: If it is another model, or the data are not images.
    """
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(f"`cyclegan_model` was not a CycleGANModel. Instead, was {type(cyclegan_model)}")
    x2y, y2x, reconstructed_x, reconstructed_y = cyclegan_model
    for way, model, back in (("x2y", x2y, reconstructed_x), ("y2x", y2x, reconstructed_y)):
        chain = (model.generator_inputs, model.generated_data, back)
        _check_images(*chain)
        with name_scope(f"{way}_image_comparison_summaries"):
            _compared([joining.unstack(data[:1])[0] for data in chain], len(chain))


@export("contrib.gan.eval.add_stargan_image_summaries")
def add_stargan_image_summaries(
    stargan_model: StarGANModel, num_images: int = 2, display_diffs: bool = False
) -> None:
    """Summarizes images beside what becomes of them in every domain.

    Args:
      stargan_model: The model.
      num_images: How many images.
      display_diffs: Whether the differences are shown too.

    Raises:
      ValueError: If the data are not images.
    """
    _check_images(stargan_model.input_data)
    labels = stargan_model.input_data_domain_label
    labels.shape.assert_has_rank(2)
    labels.shape[1:].assert_is_fully_defined()
    domains = labels.shape.as_list()[-1]

    def in_all_domains(image: Tensor) -> Tensor:
        copies = tiling.tile(shapes.expand_dims(image, 0), [domains, 1, 1, 1])
        with variable_scope(stargan_model.generator_scope, reuse=True):
            made = stargan_model.generator_fn(copies, creation.one_hot(list(range(domains)), domains))
        shown = [image, *joining.unstack(made, domains)]
        if display_diffs:
            shown += [creation.zeros_like(image), *joining.unstack(made - copies, domains)]
        return shapes.squeeze(image_reshaper(shown, num_cols=domains + 1), axis=0)

    rows = map_fn(in_all_domains, stargan_model.input_data[:num_images], back_prop=False)
    summaries.image("stargan_image_generation", rows, max_outputs=num_images)


@export("contrib.gan.eval.add_gan_model_summaries")
def add_gan_model_summaries(gan_model: GANModel | CycleGANModel) -> None:
    """Summarizes the variables of both sides, as histograms.

    Args:
      gan_model: The model.
    """
    if _both_ways(gan_model, "summaries", add_gan_model_summaries):
        return
    for side in ("generator", "discriminator"):
        with name_scope(f"{side}_variables"):
            for variable in getattr(gan_model, f"{side}_variables"):
                summaries.histogram(variable.name, variable)


@export("contrib.gan.eval.add_regularization_loss_summaries")
def add_regularization_loss_summaries(gan_model: GANModel | CycleGANModel) -> None:
    """Summarizes the regularization losses of both sides.

    Args:
      gan_model: The model.
    """
    if _both_ways(gan_model, "regularization_loss_summaries", add_regularization_loss_summaries):
        return
    for side in ("generator", "discriminator"):
        scope = getattr(gan_model, f"{side}_scope")
        if scope:
            summaries.scalar(f"{side}_regularization_loss", get_regularization_loss(scope.name))
