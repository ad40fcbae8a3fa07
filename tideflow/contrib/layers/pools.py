"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.layers.utilities import (
    NCDHW,
    NCHW,
    NDHWC,
    NHWC,
    check_data_format,
    collect_named_outputs,
    layers_format,
)
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.layers import pooling


def _pool_layer(name: str, layer: type, formats: tuple[str, str]) -> Callable:
    """A pooling function, of the layer and with the default scope of that name."""

    def pool(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = formats[1],
        outputs_collections: Any = None,
        scope: str | None = None,
    ) -> Tensor:
        check_data_format(data_format, *formats)
        with name_scope(scope, name, [inputs]) as sc:
            inputs = convert_to_tensor(inputs)
            made = layer(kernel_size, stride, padding, layers_format(data_format), _scope=sc)
            return collect_named_outputs(outputs_collections, sc, made.apply(inputs))

    pool.__name__ = pool.__qualname__ = name.replace("Pool", "_pool").lower()
    pool.__doc__ = (layer.__doc__ or "").partition("\n\n")[0]  # its arguments are called otherwise
    return export(f"contrib.layers.{pool.__name__}")(add_arg_scope(pool))


max_pool2d = _pool_layer("MaxPool2D", pooling.MaxPooling2D, (NCHW, NHWC))
avg_pool2d = _pool_layer("AvgPool2D", pooling.AveragePooling2D, (NCHW, NHWC))
max_pool3d = _pool_layer("MaxPool3D", pooling.MaxPooling3D, (NCDHW, NDHWC))
avg_pool3d = _pool_layer("AvgPool3D", pooling.AveragePooling3D, (NCDHW, NDHWC))
