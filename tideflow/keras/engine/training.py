"""Model: a graph of layers that can be trained, evaluated and saved."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tideflow as tf
from tideflow.distribute.context import get_strategy, has_strategy, in_cross_replica_context
from tideflow.export import export
from tideflow.keras import optimizers
from tideflow.keras.backend.functions import function
from tideflow.keras.engine import compiling, data, dataset_checks, loops, replicated, steps
from tideflow.keras.engine.feeding import Fed
from tideflow.keras.engine.network import Network
from tideflow.keras.optimizers.loss_scale_optimizer import LossScaleOptimizer
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.keras.saving import models as saving
from tideflow.layers import keras_state
from tideflow.platform import logging


@export("keras.Model", "keras.models.Model")
class Model(Fed, Network):
    """A graph of layers that can be trained, evaluated and saved.

    `Model(inputs, outputs)` is the model between inputs and outputs. A subclass makes its layers in its
    constructor and has `call(inputs, training=None)`.

    Args:
      *args: The inputs and the outputs: tensors of layers, or structures of them.
      **kwargs: `inputs`, `outputs`, `name` and `trainable`.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._is_compiled = False
        self._run_eagerly: bool | None = None
        self.stop_training = False
        self.history: Any = None
        self.loss: Any = None
        self._strategy: Any = None  # in whose scope the model was compiled
        self._endpoints: list[compiling.Endpoint] = []
        self._functions: dict[str, Any] = {}

    # ------------------------------------------------------------------ compiling

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **kwargs: Any,
    ) -> None:
        """Says how the model is trained.

        Args:
          optimizer: The optimizer, or its name.
          loss: The loss, its name, or one for each output: a list, or a dictionary by output names.
          metrics: The metrics, or their names, for all outputs or for each.
          loss_weights: The weights of the outputs' losses.
          sample_weight_mode: `"temporal"` if each time step of a sample has a weight.
          weighted_metrics: The metrics that take weights of samples into account.
          target_tensors: Tensors in the place of fed true values.
          distribute: Accepted in graphs for TensorFlow's sake: the model is made and compiled in the scope
            of a strategy.
          **kwargs: Arguments of `Session.run`.

        Raises:
          ValueError: If the strategy in whose scope the model is compiled cannot train it.
        """
        if distribute is not None and tf.executing_eagerly():
            raise ValueError(
                "Distribute argument in compile is not available in TF 2.0 please create the model under the "
                "distribution strategy scope."
            )
        self._run_eagerly = kwargs.pop("run_eagerly", None)
        kwargs.pop("cloning", None)  # how TensorFlow trains, not what
        as_function = kwargs.pop("experimental_run_tf_function", True) and tf.executing_eagerly()
        self._function_kwargs = kwargs
        self.optimizer = self._scaled(optimizers.get(optimizer))
        self.loss = loss or {}
        self._compile_arguments = {
            "loss": loss,
            "metrics": metrics,
            "loss_weights": loss_weights,
            "sample_weight_mode": sample_weight_mode,
            "weighted_metrics": weighted_metrics,
        }
        self._strategy = get_strategy() if has_strategy() and in_cross_replica_context() else None
        self._compile_metrics = metrics
        self._compile_weighted_metrics = weighted_metrics
        self.loss_weights = loss_weights
        self.sample_weight_mode = sample_weight_mode
        self._target_tensors = target_tensors
        if self.run_eagerly and target_tensors is not None:
            raise ValueError("target_tensors argument is not supported when running a model eagerly.")
        if self._strategy is not None:
            older = sample_weight_mode is not None or not isinstance(self.optimizer, optimizers.Optimizer)
            if older or target_tensors is not None or not as_function:  # TensorFlow's older loops train these
                replicated.check_compile(
                    self, self._run_eagerly, sample_weight_mode, target_tensors, weighted_metrics
                )
            replicated.prepare(self)
        self._is_compiled = True
        self._endpoints = []
        self._functions = {}
        if self.inputs:
            self._compile_outputs()

    def _scaled(self, optimizer: Any) -> Any:
        """The optimizer, with the loss scale of the model's policy if that has one."""
        scale = None if self._policy is None else self._policy.loss_scale
        if scale is None or isinstance(optimizer, LossScaleOptimizer):
            return optimizer
        if not isinstance(optimizer, Optimizer):
            raise ValueError(
                '"optimizer" must be an instance of tf.keras.optimizers.Optimizer when a dype policy with a '
                f"loss scale  used, but got: {optimizer}. Using policy: {self._policy}"
            )
        return LossScaleOptimizer(optimizer, scale)

    def _compile_outputs(self) -> None:
        """Adds targets, metrics and losses to the graph, now that the outputs are known."""
        arguments = self._compile_arguments
        self._endpoints = compiling.endpoints_of(self, arguments)
        targets = compiling.targets_per_output(self._target_tensors, self.output_names)
        for endpoint, target in zip(self._endpoints, targets, strict=True):
            if target is not None or not self._has_steps:
                endpoint.make_target(target)
        trained = any(end.trained for end in self._endpoints) or self.run_eagerly or self.losses
        if self._is_graph_network and not trained:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        compiling.make_metrics(self, self._endpoints, arguments["metrics"], arguments["weighted_metrics"])
        if not self._has_steps:
            compiling.add_metrics(self._endpoints, weighted=False)
        self._connect_losses([False] * len(self._endpoints))
        self._collected_trainable_weights = self.trainable_weights

    def _connect_losses(self, weighted: list[bool]) -> None:
        for endpoint, wanted in zip(self._endpoints, weighted, strict=True):
            endpoint.weigh_samples(wanted or endpoint.sample_weight_mode is not None)
        self._functions = {}
        if self._has_steps:
            return
        for endpoint in self._endpoints:
            endpoint.make_sample_weight()
        compiling.add_metrics(self._endpoints, weighted=True)
        self.total_loss = compiling.total_loss(self, self._endpoints)

    @property
    def _has_steps(self) -> bool:
        """Whether a batch is given to a step that is a function, and not fed to the graph of the model."""
        return self._strategy is not None or tf.executing_eagerly()

    @property
    def run_eagerly(self) -> bool:
        """Whether the steps of the model run operation by operation, and are not compiled."""
        if self._run_eagerly and not tf.executing_eagerly():
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        if not self.dynamic:
            return bool(self._run_eagerly)
        if not tf.executing_eagerly():
            raise ValueError(
                "Your model contains layers that can only be successfully run in eager execution (layers "
                "constructed with `dynamic=True`). You must enable eager execution with "
                "`tf.enable_eager_execution()`."
            )
        if self._run_eagerly is False:
            raise ValueError(
                "Your model contains layers that can only be successfully run in eager execution (layers "
                "constructed with `dynamic=True`). You cannot set `run_eagerly=False`."
            )
        return True

    @run_eagerly.setter
    def run_eagerly(self, value: bool) -> None:
        self._run_eagerly = value
        self._functions = {}

    @property
    def loss_functions(self) -> list[Any]:
        """The loss of each output; None of one that is not trained."""
        return [endpoint.loss for endpoint in self._endpoints]

    @property
    def _loss_weights_list(self) -> list[Any]:
        return [1.0 if end.loss_weight is None else end.loss_weight for end in self._endpoints]

    def _require_compiled(self) -> None:
        if not self._is_compiled:
            raise RuntimeError(
                "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`."
            )

    @property
    def metrics(self) -> list[Any]:
        """The metrics of the outputs, and those that layers added."""
        own = [metric for endpoint in self._endpoints for _, metric, _ in endpoint.metrics]
        return own + self._added_metrics

    @property
    def _added_metrics(self) -> list[Any]:
        """What the model and its layers added: those that a model inside was compiled with are its own."""
        inner = self._inner_layers()
        return self._metrics + [
            metric
            for layer in inner
            for metric in (layer._added_metrics if isinstance(layer, Model) else layer.metrics)
        ]

    @property
    def _reported_metrics(self) -> list[Any]:
        losses = [endpoint.loss_metric for endpoint in self._endpoints if endpoint.loss_metric is not None]
        return losses + self.metrics

    @property
    def metrics_names(self) -> list[str]:
        """The names of what training reports: the loss, then the metrics."""
        return ["loss", *(metric.name for metric in self._reported_metrics)]

    @property
    def sample_weights(self) -> list[Any]:
        """The placeholders of the weights of samples, one for each output; None where samples have none."""
        return [endpoint.sample_weight for endpoint in self._endpoints]

    def reset_metrics(self) -> None:
        """Resets the state of all metrics."""
        for metric in self._reported_metrics:
            metric.reset_states()

    # ------------------------------------------------------------------ the functions of a step

    def _function(self, mode: str) -> Callable[[list[Any]], Any]:
        """What runs one batch: of arrays of inputs, targets and weights."""
        if mode not in self._functions:
            if self._strategy is not None:
                self._functions[mode] = replicated.step(self, mode)
            else:
                eager = tf.executing_eagerly()
                self._functions[mode] = steps.step(self, mode) if eager else self._make_function(mode)
        if self._has_steps:
            return self._functions[mode]
        made, takes_phase = self._functions[mode]
        phase = [mode == loops.TRAIN] if takes_phase else []
        return lambda arrays: made([*arrays, *phase])

    # Programs whose threads share a model make its functions before they start them.
    _make_train_function = functools.partialmethod(_function, loops.TRAIN)
    _make_test_function = functools.partialmethod(_function, loops.TEST)
    _make_predict_function = functools.partialmethod(_function, loops.PREDICT)

    def _current_function(self, mode: str, source: loops.Source) -> Callable[[list[Any]], Any]:
        """What runs one batch, made anew where a batch has weights of samples and those before had none.

        In a graph it is made before the metrics of arrays are reset, and within the first step of others.
        """
        if source.samples is not None and self._strategy is None and not tf.executing_eagerly():
            self._function(mode)
        return lambda arrays: self._function(mode)(arrays)

    def _batch_function(self, mode: str) -> Callable[[list[Any]], Any]:
        """What runs a batch that the program hands over itself: in eager mode that is not compiled."""
        if steps.runs_single_batches(self) and self._strategy is None:
            return steps.eager_step(self, mode)
        return self._function(mode)

    def _make_function(self, mode: str) -> tuple[Any, bool]:
        inputs = self._feed_tensors(training=mode != loops.PREDICT)
        phase = keras_state.learning_phase() if mode == loops.TRAIN else keras_state.of_graph().phase
        takes_phase = isinstance(phase, tf.Tensor)
        inputs = [*inputs, phase] if takes_phase else inputs
        if mode == loops.PREDICT:
            said = getattr(self, "_function_kwargs", {})
            with tf.name_scope("predict"):
                made = function(inputs, self.outputs, self.state_updates, "predict_function", **said)
            return made, takes_phase
        results = [
            metric._call_result for metric in self._reported_metrics if hasattr(metric, "_call_result")
        ]
        updates = self.state_updates
        if mode == loops.TRAIN:
            self._check_trainable()
            with tf.name_scope("training"):
                updates = self._optimizer_updates()
            updates += [u for u in self.updates if all(u is not other for other in updates)]
        updates = [u for u in updates if not any(u is getattr(r, "op", None) for r in results)]
        outputs = [self.total_loss, *results]
        with tf.name_scope("training" if mode == loops.TRAIN else "evaluation"):
            made = function(inputs, outputs, updates, f"{mode}_function", **self._function_kwargs)
        return made, takes_phase

    def _optimizer_updates(self) -> list[Any]:
        return list(self.optimizer.get_updates(self.total_loss, self._collected_trainable_weights))

    def _make_optimizer_weights(self) -> None:
        """Makes the variables that the optimizer keeps, before the first step does."""
        if not tf.executing_eagerly():
            self._function(loops.TRAIN)
        elif isinstance(self.optimizer, optimizers.Optimizer):
            self.optimizer._create_all_weights(self.trainable_weights)

    def _check_trainable(self) -> None:
        if len(self._collected_trainable_weights) != len(self.trainable_weights):
            logging.warning(
                "Discrepancy between trainable weights and collected trainable weights, did you set "
                "`model.trainable` without calling `model.compile` after ?"
            )

    # ------------------------------------------------------------------ training

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Sequence[Any] | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Trains the model.

        Args:
          x: The inputs: an array, a list or a dictionary of arrays, a dataset, a generator or a `Sequence`.
          y: The true values: an array, or a list or a dictionary of arrays.
          batch_size: The size of a batch; 32 if None.
          epochs: The number of the last epoch.
          verbose: 0 for silence, 1 for a progress bar, 2 for a line an epoch.
          callbacks: What is called while the model is trained.
          validation_split: The last part of the data that is used for validation.
          validation_data: The data of validation: inputs, true values, and weights if any.
          shuffle: Whether samples are shuffled, or `"batch"` for batches of neighbours.
          class_weight: The weights of classes, by number.
          sample_weight: The weights of samples.
          initial_epoch: The number of epochs that were done before.
          steps_per_epoch: The number of batches of an epoch.
          validation_steps: The number of batches of validation.
          validation_freq: How many epochs lie between two validations, or a list of epochs.
          max_queue_size: How many batches of a generator wait at most.
          workers: How many threads or processes make batches of a generator; this thread if 0.
          use_multiprocessing: Whether they are processes.
          **kwargs: `nb_epoch`, an old name of `epochs`.

        Returns:
          The history: `history.history` has the loss and the metrics by name.
        """
        if "nb_epoch" in kwargs:
            logging.warning("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self._require_compiled()
        queue = {
            "max_queue_size": max_queue_size,
            "workers": workers,
            "use_multiprocessing": use_multiprocessing,
        }
        self._check_fit(x, batch_size, validation_split, validation_data, validation_steps)
        validation: loops.Source | None = None
        if validation_data is not None:  # before the other: with weights of samples, that has them too
            validation = self._validation_source(validation_data, batch_size, validation_steps, queue)
        if validation_data is None and validation_split and 0.0 < validation_split < 1.0:
            batch_size = self._fitting_batch_size(batch_size, steps_per_epoch)
            found = self._standardized(x, y, sample_weight, class_weight)
            arrays = [array for part in found for array in part]
            at = int(arrays[0].shape[0] * (1.0 - validation_split))
            kept, held = data.split(arrays, at)
            source = self._arrays_source(kept, batch_size, shuffle, steps_per_epoch, epochs)
            validation = loops.from_arrays(held, data.size_of_batches(batch_size), shuffle=True)
        else:
            source = self._source(
                x,
                y,
                sample_weight,
                class_weight,
                batch_size,
                steps_per_epoch,
                shuffle,
                True,
                epochs,
                "steps_per_epoch",
                **queue,
            )
        return self._fit(source, validation, epochs, initial_epoch, verbose, callbacks, validation_freq)

    def _check_fit(
        self, x: Any, batch_size: int | None, split: float, validation_data: Any, steps: int | None
    ) -> None:
        """ValueError for arguments of `fit` that do not go together."""
        if x is None and self._is_graph_network and self._feed_tensors(training=False):
            raise ValueError(
                "When using data tensors as input to a model, you should specify the `steps_per_epoch` "
                "argument. This model has inputs to be fed: pass their data as `x`."
            )
        dataset_checks.check_split(x, split)
        dataset_checks.check_batch_size(x, batch_size)
        if steps is not None and validation_data is None and not split:
            raise ValueError("`validation_steps` should not be specified if `validation_data` is None.")

    def _validation_source(
        self, given: Any, batch_size: int | None, steps: int | None, queue: Any
    ) -> loops.Source:
        if isinstance(given, (list, tuple)):
            if len(given) not in (2, 3):
                raise ValueError(
                    "When passing a `validation_data` argument, it must contain either 2 items (x_val, "
                    "y_val), or "
                    "3 items (x_val, y_val, val_sample_weights), or alternatively it could be a dataset or a "
                    f"dataset or a dataset iterator. However we received `validation_data={given}`"
                )
            x, y, weight = (*given, None)[:3]
            return self._source(x, y, weight, None, batch_size, steps, True, True)
        named = {"steps_name": "validation_steps", **queue}
        return self._source(given, None, None, None, None, steps, False, True, **named)

    def _fit(
        self,
        source: loops.Source,
        validation: loops.Source | None,
        epochs: int,
        initial_epoch: int,
        verbose: int,
        callbacks: Any,
        validation_freq: Any,
    ) -> Any:
        if self._strategy is not None:
            replicated.check_callbacks(callbacks, self.optimizer)
        train = self._current_function(loops.TRAIN, source)
        together = loops.callback_list(
            self,
            callbacks,
            loops.TRAIN,
            source,
            verbose,
            epochs=epochs,
            do_validation=validation is not None,
        )
        if validation is not None and validation.arrays is not None:
            for callback in together.callbacks:
                callback.validation_data = validation.arrays
        if verbose:
            loops.announce(source, validation)

        def validate(validation: loops.Source, callbacks: Any) -> list[Any]:
            return loops.evaluate(self, self._current_function(loops.TEST, validation), validation, callbacks)

        return loops.fit(
            self,
            train,
            source,
            epochs,
            initial_epoch,
            together,
            verbose,
            functools.partial(validate, validation) if validation is not None else None,
            validation_freq,
        )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """Computes the loss and the metrics of data.

        Args:
          x: The inputs, as for `fit`.
          y: The true values.
          batch_size: The size of a batch; 32 if None.
          verbose: 0 for silence, 1 for a progress bar.
          sample_weight: The weights of samples.
          steps: The number of batches.
          callbacks: What is called meanwhile.
          max_queue_size: How many batches of a generator wait at most.
          workers: How many threads or processes make batches of a generator; this thread if 0.
          use_multiprocessing: Whether they are processes.

        Returns:
          The loss, or a list of the loss and the metrics, in the order of `metrics_names`.
        """
        self._require_compiled()
        dataset_checks.check_batch_size(x, batch_size)
        queue = {
            "max_queue_size": max_queue_size,
            "workers": workers,
            "use_multiprocessing": use_multiprocessing,
        }
        source = self._source(x, y, sample_weight, None, batch_size, steps, False, True, **queue)
        return self._evaluated(source, callbacks, verbose)

    def _evaluated(self, source: loops.Source, callbacks: Any, verbose: int) -> Any:
        function = self._current_function(loops.TEST, source)
        together = loops.callback_list(self, callbacks, loops.TEST, source, verbose)
        found = loops.evaluate(self, function, source, together, verbose)
        return found[0] if len(found) == 1 else found

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """Computes the outputs for data.

        Args:
          x: The inputs, as for `fit`.
          batch_size: The size of a batch; 32 if None.
          verbose: 0 for silence, 1 for a progress bar.
          steps: The number of batches.
          callbacks: What is called meanwhile.
          max_queue_size: How many batches of a generator wait at most.
          workers: How many threads or processes make batches of a generator; this thread if 0.
          use_multiprocessing: Whether they are processes.

        Returns:
          An array, or a list of arrays, one for each output.
        """
        dataset_checks.check_batch_size(x, batch_size)
        queue = {
            "max_queue_size": max_queue_size,
            "workers": workers,
            "use_multiprocessing": use_multiprocessing,
        }
        source = self._source(x, None, None, None, batch_size, steps, False, False, **queue)
        return self._predicted(source, callbacks, verbose)

    def _predicted(self, source: loops.Source, callbacks: Any, verbose: int) -> Any:
        function = self._function(loops.PREDICT)
        together = loops.callback_list(self, callbacks, loops.PREDICT, source, verbose)
        found = loops.predict(self, function, source, together, verbose)
        return found[0] if len(found) == 1 else found

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """Trains the model with one batch.

        Args:
          x: The inputs.
          y: The true values.
          sample_weight: The weights of samples.
          class_weight: The weights of classes, by number.
          reset_metrics: Whether metrics begin anew after the batch.

        Returns:
          The loss, or a list of the loss and the metrics.
        """
        self._require_compiled()
        found = self._standardized(x, y, sample_weight, class_weight)
        return self._one_batch(loops.TRAIN, found, reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """Computes the loss and the metrics of one batch.

        Args:
          x: The inputs.
          y: The true values.
          sample_weight: The weights of samples.
          reset_metrics: Whether metrics begin anew after the batch.

        Returns:
          The loss, or a list of the loss and the metrics.
        """
        self._require_compiled()
        return self._one_batch(loops.TEST, self._standardized(x, y, sample_weight), reset_metrics)

    def _one_batch(self, mode: str, found: Any, reset_metrics: bool) -> Any:
        outputs = self._batch_function(mode)([array for part in found for array in part])
        if reset_metrics:
            self.reset_metrics()
        return outputs[0] if len(outputs) == 1 else outputs

    def predict_on_batch(self, x: Any) -> Any:
        """Computes the outputs for one batch.

        Args:
          x: The inputs.

        Returns:
          An array, or a list of arrays; tensors of a model that was compiled in eager mode.
        """
        inputs, _, _ = self._standardized(x, training=False)
        outputs = self._batch_function(loops.PREDICT)(inputs)
        if steps.runs_single_batches(self):
            outputs = [tf.constant(output) for output in outputs]
        return outputs[0] if len(outputs) == 1 else outputs

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Sequence[Any] | None = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """Trains the model with the batches of a generator.

        Args:
          generator: A generator of pairs of inputs and true values, or a `Sequence`.
          steps_per_epoch: The number of batches of an epoch.
          epochs: The number of the last epoch.
          verbose: 0 for silence, 1 for a progress bar, 2 for a line an epoch.
          callbacks: What is called while the model is trained.
          validation_data: The data of validation: arrays, or a generator.
          validation_steps: The number of batches of validation.
          validation_freq: How many epochs lie between two validations, or a list of epochs.
          class_weight: The weights of classes, by number.
          max_queue_size: How many batches wait at most.
          workers: How many threads or processes make batches; this thread if 0.
          use_multiprocessing: Whether they are processes.
          shuffle: Whether the batches of a `Sequence` are shuffled.
          initial_epoch: The number of epochs that were done before.

        Returns:
          The history.
        """
        dataset_checks.check_steps(generator, steps_per_epoch, "steps_per_epoch")
        if dataset_checks.is_generator(validation_data):
            dataset_checks.check_steps(validation_data, validation_steps, "validation_steps")
        return self.fit(
            generator,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            shuffle=shuffle,
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """Computes the loss and the metrics of the batches of a generator.

        Args:
          generator: A generator of pairs of inputs and true values, or a `Sequence`.
          steps: The number of batches.
          callbacks: What is called meanwhile.
          max_queue_size: How many batches wait at most.
          workers: How many threads or processes make batches; this thread if 0.
          use_multiprocessing: Whether they are processes.
          verbose: 0 for silence, 1 for a progress bar.

        Returns:
          The loss, or a list of the loss and the metrics.
        """
        dataset_checks.check_steps(generator, steps, "steps")
        return self.evaluate(
            generator,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            verbose=verbose,
        )

    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Sequence[Any] | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """Computes the outputs for the batches of a generator.

        Args:
          generator: A generator of inputs, or a `Sequence`.
          steps: The number of batches.
          callbacks: What is called meanwhile.
          max_queue_size: How many batches wait at most.
          workers: How many threads or processes make batches; this thread if 0.
          use_multiprocessing: Whether they are processes.
          verbose: 0 for silence, 1 for a progress bar.

        Returns:
          An array, or a list of arrays.
        """
        dataset_checks.check_steps(generator, steps, "steps")
        return self.predict(
            generator,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            verbose=verbose,
        )

    # ------------------------------------------------------------------ files

    def save(
        self,
        filepath: str,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Any = None,
    ) -> None:
        """Saves the model: its config, its weights, and the state of its optimizer.

        Args:
          filepath: The path.
          overwrite: Whether a file that is there is replaced without asking.
          include_optimizer: Whether the optimizer's state is saved too.
          save_format: `"h5"`, or `"tf"`; what the path says if None.
          signatures: Signatures of a SavedModel.
        """
        saving.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(self, filepath: str, overwrite: bool = True, save_format: str | None = None) -> None:
        """Saves the weights.

        Args:
          filepath: The path.
          overwrite: Whether a file that is there is replaced without asking.
          save_format: `"h5"`, or `"tf"` for a checkpoint; what the path says if None.
        """
        saving.save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: str, by_name: bool = False) -> Any:
        """Loads weights.

        Args:
          filepath: The path of an HDF5 file or a checkpoint.
          by_name: Whether layers are matched by their names, not by their order.

        Returns:
          For a checkpoint, the status of the restore.
        """
        return saving.load_weights(self, filepath, by_name)
