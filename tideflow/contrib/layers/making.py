"""How the layers here make their variables: by way of tf.layers, under other names, as variables of the
model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.utilities import collect_named_outputs, get_variable_collections
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import add_to_collections
from tideflow.variables.base import VariableAggregation, VariableSynchronization
from tideflow.variables.partitioned import PartitionedVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike
    from tideflow.variables.variable_scope import VariableScope

OWN_NAMES = {"bias": "biases", "kernel": "weights"}  # tf.layers' name of a variable -> its name here


def model_variable_getter(rename: dict[str, str] | None = None) -> Callable:
    """A custom getter that makes variables of the model, `kernel` under the name that `rename` has for it."""

    def custom_getter(
        getter: Callable,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: RegularizerLike | None = None,
        trainable: bool = True,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Callable | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        **_: Any,
    ) -> Any:
        scope, slash, own = name.rpartition("/")
        return model_variable(
            f"{scope}{slash}{(rename or {}).get(own, own)}",
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=collections,
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=getter,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )

    return custom_getter


def add_variable_to_collections(variable: Any, variables_collections: Any, name: str) -> None:
    """Puts a variable, or all parts of one, into the collections asked for."""
    collections = get_variable_collections(variables_collections, name) or ()
    for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
        add_to_collections(collections, part)


def weight_arguments(
    normalizer_fn: Callable | None,
    weights_initializer: InitializerLike | None,
    weights_regularizer: RegularizerLike | None,
    biases_initializer: InitializerLike | None,
    biases_regularizer: RegularizerLike | None,
) -> dict[str, Any]:
    """What a layer of tf.layers is told about its variables. A normalizer stands in for the biases."""
    return {
        "use_bias": not normalizer_fn and bool(biases_initializer),
        "kernel_initializer": weights_initializer,
        "bias_initializer": biases_initializer,
        "kernel_regularizer": weights_regularizer,
        "bias_regularizer": biases_regularizer,
    }


def scope_arguments(
    inputs: Tensor, trainable: bool, scope: VariableScope, reuse: bool | None
) -> dict[str, Any]:
    """What a layer of tf.layers is told so that its variables are in `scope`."""
    return {
        "trainable": trainable,
        "name": scope.name,
        "dtype": inputs.dtype.base_dtype,
        "_scope": scope,
        "_reuse": reuse,
    }


def applied(layer: Any, inputs: Tensor, variables_collections: Any) -> Tensor:
    """The outputs of a layer of tf.layers; its variables join the collections asked for."""
    outputs: Tensor = layer.apply(inputs)
    add_variable_to_collections(layer.kernel, variables_collections, "weights")
    if layer.bias is not None:
        add_variable_to_collections(layer.bias, variables_collections, "biases")
    return outputs


def finished(
    outputs: Tensor,
    scope: str,
    outputs_collections: Any,
    activation_fn: Callable | None,
    normalizer_fn: Callable | None = None,
    normalizer_params: dict[str, Any] | None = None,
) -> Tensor:
    """What comes after a layer's own computation: normalizer, activation, collection."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope, outputs)
