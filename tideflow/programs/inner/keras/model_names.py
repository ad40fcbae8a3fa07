"""What tests and libraries take from `keras.models` and `keras.saving.saving_utils`: copies and
descriptions of models.
"""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.estimator import keras_copies
from tideflow.keras.optimizers import TFOptimizer
from tideflow.keras.saving import layer_objects, training_config
from tideflow.keras.saving import models as saved

_STATE_OF_RESET = "_state_before_reset"


def share_weights(layer: Any) -> Any:
    """A `clone_function` by which a copy has the layers of the model itself.

    Args:
      layer: A layer.

    Returns:
      The layer.
    """
    return layer


def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: dict[str, Any] | None = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: Any = None,
) -> Any:
    """A copy of a model, built on given tensors and compiled as the model is.

    Args:
      model: The model.
      input_tensors: What the copy takes; placeholders if None.
      target_tensors: The true values; placeholders if None.
      custom_objects: The program's own classes and functions, by name.
      compile_clone: Whether the copy is compiled.
      in_place_reset: Whether a subclass without a config is emptied and used as the copy.
      optimizer_iterations: The variable that counts the optimizer's updates.
      optimizer_config: The config of the copy's optimizer, or a list of them; the model's own if None.

    Returns:
      The copy.

    Raises:
      ValueError: If the model is not compiled, or a subclass that is neither described nor emptied.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has not been "
            "compiled."
        )
    if keras_copies.is_stack_or_graph(model) or _is_described(model):
        copy = keras_copies.copied(model, input_tensors, custom_objects=custom_objects, compiles=False)
    elif not in_place_reset:
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned, but there is a workaround "
            "where the model is reset in-place. To use this, please set the argument `in_place_reset` to "
            "`True`. This will reset the attributes in the original model. To restore the attributes, call "
            "`in_place_subclassed_model_state_restoration(model)`."
        )
    else:
        copy = model
        _in_place_subclassed_model_reset(model)
        if input_tensors is not None:
            copy(keras_copies._single(input_tensors))
    if compile_clone:
        settings = vars(model).get(_STATE_OF_RESET) or vars(model)
        copy.compile(
            _copied_optimizer(settings["optimizer"], optimizer_iterations, optimizer_config),
            settings["loss"],
            metrics=keras_copies._fresh_metrics(settings["_compile_metrics"]),
            loss_weights=settings["loss_weights"],
            sample_weight_mode=settings["sample_weight_mode"],
            weighted_metrics=keras_copies._fresh_metrics(settings["_compile_weighted_metrics"]),
            target_tensors=target_tensors,
        )
    return copy


def _is_described(model: Any) -> bool:
    try:
        model.get_config()
    except NotImplementedError:
        return False
    return True


def _copied_optimizer(optimizer: Any, iterations: Any, config: Any) -> Any:
    if config is None or isinstance(optimizer, TFOptimizer):
        return keras_copies._optimizers(optimizer, iterations)
    if isinstance(optimizer, (list, tuple)):
        return [_copied_optimizer(*each) for each in zip(optimizer, [iterations] * len(optimizer), config)]
    made = type(optimizer).from_config(config[0] if isinstance(config, list) else config)
    if iterations is not None:
        made.iterations = iterations
    return made


def _in_place_subclassed_model_reset(model: Any) -> None:
    """Gives a model new layers in the place of its own, which it keeps until it is restored."""
    if model._is_graph_network:
        raise AssertionError("Only models that are subclasses are reset")
    for name, value in vars(model).items():
        if isinstance(value, tf.keras.Model) or getattr(value, "layers", None):
            raise ValueError(
                "We do not support the use of nested layers in `model_to_estimator` at this time. Found "
                f"nested layer: {value}"
            )
        if (
            isinstance(value, (list, tuple))
            and not name.startswith("_")
            and value
            and all(isinstance(each, tf.keras.layers.Layer) for each in value)
        ):
            raise ValueError(
                "We do not support the use of list-of-layers attributes in subclassed models used with "
                f"`model_to_estimator` at this time. Found list model: {name}"
            )
    state = dict(vars(model))
    fresh = keras_copies._fresh(model)
    model.__dict__.clear()
    model.__dict__.update(vars(fresh))
    model.__dict__[_STATE_OF_RESET] = state


def in_place_subclassed_model_state_restoration(model: Any) -> None:
    """Gives a model its layers back that `clone_and_build_model(in_place_reset=True)` had replaced.

    Args:
      model: The model.
    """
    if model._is_graph_network:
        raise AssertionError("Only models that are subclasses are reset")
    state = vars(model).get(_STATE_OF_RESET)
    if state is None:
        model.__dict__.update(built=False, inputs=None, outputs=None, optimizer=None, _is_compiled=False)
        return
    model.__dict__.clear()
    model.__dict__.update(state)


# -------------------------------------------------------------------------------------------- saving_utils


def extract_model_metrics(model: Any) -> dict[str, Any] | None:
    """The metrics of a compiled model.

    Args:
      model: The model.

    Returns:
      The metrics by name; None where it is not compiled.
    """
    if not getattr(model, "_compile_metrics", None):
        return None
    return {metric.name: metric for metric in model.metrics}


def model_input_signature(model: Any) -> list[Any] | None:
    """The specs of a model's inputs, for batches of any size.

    Args:
      model: The model.

    Returns:
      A list of the one structure of specs; None where the inputs are not known yet.
    """
    return [layer_objects._input_specs(model)] if getattr(model, "inputs", None) else None


def raise_model_input_error(model: Any) -> None:
    """Refuses a model whose inputs are not known.

    Args:
      model: The model.

    Raises:
      ValueError: In any case.
    """
    raise ValueError(
        f"Model {model} cannot be saved because the input shapes have not been set. Usually, input shapes "
        "are automatically determined from calling .fit() or .predict(). To manually set the shapes, call "
        "model._set_inputs(inputs)."
    )


def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """A function of a model's inputs that gives its outputs by their names.

    Args:
      model: The model.
      input_signature: The specs of its inputs; the model's own if None.

    Returns:
      A `tf.function`.

    Raises:
      ValueError: If the inputs are not known.
    """
    signature = (
        input_signature or getattr(model.call, "input_signature", None) or model_input_signature(model)
    )
    if signature is None:
        raise_model_input_error(model)

    @tf.function(input_signature=signature, autograph=False)
    def _wrapped_model(*args: Any) -> dict[str, Any]:
        outputs = tf.nest.flatten(model(inputs=args[0] if len(args) == 1 else list(args), training=False))
        names = getattr(model, "output_names", None)
        names = names or [f"output_{number + 1}" for number in range(len(outputs))]
        return dict(zip(names, outputs, strict=True))

    return _wrapped_model


def model_metadata(model: Any, include_optimizer: bool = True, require_config: bool = True) -> dict[str, Any]:
    """What a file says of a model beside its weights.

    Args:
      model: The model.
      include_optimizer: Whether it says how the model is trained.
      require_config: Whether a model without a config is refused.

    Returns:
      A dictionary.
    """
    described: dict[str, Any] = {"class_name": type(model).__name__}
    try:
        described["config"] = model.get_config()
    except NotImplementedError:
        if require_config:
            raise
    found = {
        "keras_version": tf.keras.__version__,
        "backend": tf.keras.backend.backend(),
        "model_config": described,
    }
    training = training_config.config_of(model) if model.optimizer and include_optimizer else None
    return found if training is None else {**found, "training_config": training}


def should_overwrite(filepath: str, overwrite: bool) -> bool:
    """Whether a file may be written; a person is asked before one is overwritten.

    Args:
      filepath: The file.
      overwrite: Whether it may be overwritten unasked.

    Returns:
      Whether it may.
    """
    return saved._may_write(filepath, overwrite)


def compile_args_from_training_config(
    training_config: dict[str, Any], custom_objects: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The arguments of `compile` that a file describes.

    Args:
      training_config: What the file says.
      custom_objects: The program's own classes and functions, by name.

    Returns:
      The arguments by name.
    """
    return _arguments_of(training_config, custom_objects or {})


_arguments_of = training_config.arguments_of
