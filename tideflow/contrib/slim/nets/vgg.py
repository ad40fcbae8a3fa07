"""VGG (Simonyan, Zisserman 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.layers.arrangement import repeat
from tideflow.contrib.layers.convolutions import convolution2d as conv2d
from tideflow.contrib.layers.pools import max_pool2d
from tideflow.contrib.slim.nets import plain
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor
from tideflow.variables.initializers import Zeros

_DEPTHS = (64, 128, 256, 512, 512)


@export("contrib.slim.nets.vgg.vgg_arg_scope")
def vgg_arg_scope(weight_decay: float = 0.0005) -> dict:
    """The argument scope for these models.

    Args:
      weight_decay: The factor of the penalty on weights.

    Returns:
      The argument scope.
    """
    return plain.penalized(weight_decay, Zeros())


def _vgg(name: str, layers: str, repeats: tuple[int, ...], collected_by_name: bool) -> Callable:
    def vgg(
        inputs: Tensor,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
    ) -> plain.Model:
        def build(net: Tensor) -> Tensor:
            for number, (times, depth) in enumerate(zip(repeats, _DEPTHS, strict=True), 1):
                net = repeat(net, times, conv2d, depth, [3, 3], scope=f"conv{number}")
                net = max_pool2d(net, [2, 2], scope=f"pool{number}")
            return plain.classifier(net, 4096, [7, 7], num_classes, dropout_keep_prob, is_training)

        return plain.model(inputs, scope, name, spatial_squeeze, collected_by_name, build)

    vgg.__name__ = vgg.__qualname__ = name
    vgg.__doc__ = f"""VGG with {layers} layers.

    Args:
      inputs: Images, [batch, height, width, channels]; 224 pixels high and wide for classification.
      num_classes: How many classes there are.
      is_training: Whether dropout is at work.
      dropout_keep_prob: What part of the elements dropout keeps.
      spatial_squeeze: Whether the axes of height and width are taken out of the logits.
      scope: The variable scope.

    Returns:
      The logits, and all layers by name.
    """
    vgg.default_image_size = 224
    return export(f"contrib.slim.nets.vgg.{name}")(vgg)


vgg_a = _vgg("vgg_a", "11", (1, 1, 2, 2, 2), False)
vgg_16 = _vgg("vgg_16", "16", (2, 2, 3, 3, 3), False)
vgg_19 = _vgg("vgg_19", "19", (2, 2, 4, 4, 4), True)
vgg_d, vgg_e = vgg_16, vgg_19
expose(vgg_16, "contrib.slim.nets.vgg.vgg_d")
expose(vgg_19, "contrib.slim.nets.vgg.vgg_e")
