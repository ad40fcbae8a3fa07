"""The loops over batches: training, evaluation and prediction, with their callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tideflow.graph.scopes import executing_eagerly
from tideflow.keras.callbacks.base import BaseLogger, CallbackList, History, ProgbarLogger
from tideflow.keras.engine import data
from tideflow.keras.engine.composites import joined
from tideflow.keras.utils.progbar import Progbar
from tideflow.platform import logging

TRAIN, TEST, PREDICT = "train", "test", "predict"


class Source(NamedTuple):
    """Where the batches of an epoch come from.

    `batches` gives, epoch for epoch, pairs of the arrays of a batch and its number of samples.
    """

    batches: Callable[[], Iterator[tuple[list[Any], int]]]
    samples: int | None  # None where batches are counted, not samples
    steps: int | None  # None where the end is found by running into it
    restarts: bool = True  # whether an epoch begins where the data begins
    arrays: list[Any] | None = None  # all samples, where they are in memory
    batch_size: int | None = None  # None where batches come as they are
    of_generator: bool = False  # whether the program's own code makes the batches


def from_arrays(arrays: list[Any], batch_size: int, shuffle: Any = False, steps: int | None = None) -> Source:
    """Batches of arrays, in another order each epoch if asked for."""
    number = int(next(array.shape[0] for array in arrays if array is not None))

    def batches() -> Iterator[tuple[list[Any], int]]:
        order = np.arange(number)
        if shuffle:
            order = data.shuffled(order, batch_size, shuffle)
        for start, end in data.batches(number, batch_size):
            chosen = order[start:end] if shuffle else slice(start, end)
            yield data.taken(arrays, chosen), end - start

    return Source(batches, number, steps, arrays=arrays, batch_size=None if steps else batch_size)


def whole_arrays(arrays: list[Any], steps: int) -> Source:
    """All samples in each of a number of steps."""

    def batches() -> Iterator[tuple[list[Any], int]]:
        for _ in range(steps):
            yield arrays, 1

    return Source(batches, None, steps, restarts=True, arrays=arrays)


def in_one_stream(arrays: list[Any], batch_size: int, shuffle: Any, steps: int | None, epochs: int) -> Source:
    """Batches of the samples of all epochs, one after the other: a batch may have the end of one epoch and
    the beginning of the next.
    """
    number = int(next(array.shape[0] for array in arrays if array is not None))

    def batches() -> Iterator[tuple[list[Any], int]]:
        orders = [data.shuffled(np.arange(number), batch_size, shuffle) for _ in range(epochs)]
        order = np.concatenate(orders)
        for start, end in data.batches(len(order), batch_size):
            yield data.taken(arrays, order[start:end]), 1

    return Source(batches, None, steps or -(-number // batch_size), restarts=False)


class Totals:
    """The loss of an epoch, averaged over its batches; metrics have averaged themselves."""

    def __init__(self) -> None:
        self._loss: Any = 0.0
        self._weight = 0
        self._rest: list[Any] = []

    def add(self, outputs: list[Any], weight: int) -> None:
        """Adds what one batch gave."""
        self._loss += np.float64(outputs[0]) * weight
        self._weight += weight
        self._rest = outputs[1:]

    def results(self) -> list[Any]:
        """The loss and the metrics so far."""
        return [self._loss / max(self._weight, 1), *self._rest]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def callback_list(
    model: Any, given: Any, mode: str, source: Source, verbose: int, **params: Any
) -> CallbackList:
    """The callbacks of a loop, with those that every loop has."""
    if isinstance(given, CallbackList):
        return given
    callbacks = _listed(given) if given else []
    names = [] if mode == PREDICT else list(model.metrics_names)
    for callback in callbacks:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = set(names[1:])
    if mode == TRAIN:
        model.history = History()
        stateful = names[1:]
        callbacks = [BaseLogger(stateful_metrics=stateful), *callbacks, model.history]
        if verbose:
            count = "samples" if source.samples is not None and source.steps is None else "steps"
            callbacks.append(ProgbarLogger(count, stateful_metrics=stateful))
    if params.get("do_validation"):
        names += [f"val_{name}" for name in names]
    params = {
        "verbose": verbose,
        "metrics": names,
        "samples": source.samples if source.steps is None else source.steps,
        "steps": source.steps,
        "batch_size": source.batch_size,
        "epochs": 1,
        "do_validation": False,
        **params,
    }
    return CallbackList(callbacks, model, params)


def run_batches(
    model: Any,
    function: Callable,
    source: Source,
    mode: str,
    callbacks: CallbackList,
    iterator: Iterator[Any],
    on_batch: Callable[[list[Any], int], None],
) -> int:
    """One pass over batches; returns how many there were."""
    number = 0
    names: list[str] = []
    while source.steps is None or number < source.steps:
        try:
            arrays, size = next(iterator)
        except StopIteration:
            if source.steps is not None:
                logging.warning(
                    "Your dataset ran out of data; interrupting training. Make sure that your dataset can "
                    "generate at least `steps_per_epoch * epochs` batches (in this case, %d batches).",
                    source.steps,
                )
                callbacks.model.stop_training = True
            break
        logs = {"batch": number, "size": size}
        callbacks.batch(mode, "begin", number, logs)
        outputs = _listed(function(arrays))
        on_batch(outputs, size)
        if mode == PREDICT:
            logs["outputs"] = outputs
        else:
            names = names or model.metrics_names  # those that the first batch may have made among them
            logs.update(zip(names, outputs, strict=False))
        callbacks.batch(mode, "end", number, logs)
        number += 1
        if mode == TRAIN and callbacks.model.stop_training:
            break
    return number


def fit(
    model: Any,
    function: Callable,
    source: Source,
    epochs: int,
    initial_epoch: int,
    callbacks: CallbackList,
    verbose: int,
    validate: Callable[[CallbackList], list[Any]] | None,
    validation_freq: Any = 1,
) -> Any:
    """Trains for some epochs, and returns the history."""
    callbacks.model.stop_training = False
    callbacks.begin(TRAIN)
    iterator = None if source.restarts else source.batches()
    for epoch in range(initial_epoch, epochs):
        if callbacks.model.stop_training:
            break
        model.reset_metrics()
        logs: dict[str, Any] = {}
        callbacks.call("on_epoch_begin", epoch, logs)
        totals = Totals()
        by_samples = source.samples is not None and source.steps is None

        def add(outputs: list[Any], size: int, totals: Totals = totals, weighs: bool = by_samples) -> None:
            totals.add(outputs, size if weighs else 1)

        stopped = callbacks.model.stop_training
        done = run_batches(model, function, source, TRAIN, callbacks, iterator or source.batches(), add)
        if not done and source.samples is not None:
            raise ValueError("Empty training data.")
        if done:
            logs.update(zip(model.metrics_names, totals.results(), strict=False))
            if source.steps is None and source.samples is None:
                source = source._replace(steps=done)
                callbacks.params["steps"] = done
                for callback in callbacks.callbacks:
                    if isinstance(callback, ProgbarLogger):
                        callback.target = callback.progbar.target = done
        if validate is not None and done and _is_validated(epoch, validation_freq) and not stopped:
            found = validate(callbacks)
            logs.update(
                {f"val_{name}": value for name, value in zip(model.metrics_names, found, strict=False)}
            )
        if done:
            callbacks.call("on_epoch_end", epoch, logs)
    callbacks.end(TRAIN)
    return model.history


def _is_validated(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % frequency == 0
    return epoch + 1 in list(frequency)


def evaluate(
    model: Any, function: Callable, source: Source, callbacks: CallbackList, verbose: int = 0
) -> list[Any]:
    """The loss and the metrics over all batches."""
    model.reset_metrics()
    totals = Totals()
    counts_samples = source.samples is not None and source.steps is None
    bar = _bar(source, verbose, model.metrics_names[1:])
    seen = 0

    def add(outputs: list[Any], size: int) -> None:
        nonlocal seen
        totals.add(outputs, size if counts_samples else 1)
        seen += size if counts_samples else 1
        if bar is not None:
            bar.update(seen, list(zip(model.metrics_names, outputs, strict=False)))

    callbacks.begin(TEST)
    run_batches(model, function, source, TEST, callbacks, source.batches(), add)
    callbacks.end(TEST)
    return totals.results()


def predict(
    model: Any, function: Callable, source: Source, callbacks: CallbackList, verbose: int = 0
) -> list[Any]:
    """The outputs for all batches, one array for each output."""
    parts: list[list[Any]] = []
    counts_samples = source.samples is not None and source.steps is None
    bar = _bar(source, verbose)
    seen = 0

    def add(outputs: list[Any], size: int) -> None:
        nonlocal seen
        parts.append(outputs)
        seen += size if counts_samples else 1
        if bar is not None:
            bar.update(seen)

    callbacks.begin(PREDICT)
    run_batches(model, function, source, PREDICT, callbacks, source.batches(), add)
    callbacks.end(PREDICT)
    return [joined(list(each)) for each in zip(*parts, strict=True)]


def announce(source: Source, validation: Source | None) -> None:
    """Prints how many samples, or steps of a dataset, a model is trained on."""

    def size(of: Source | None) -> str | None:
        if of is None or (of.samples is None and of.steps is None):
            return None
        if of.samples is not None and of.steps is None:
            return f"on {of.samples} samples"
        if not executing_eagerly():
            return f"on {of.steps} {'steps' if source.arrays is None else 'samples'}"
        if of.arrays is not None:
            return f"on {of.arrays[0].shape[0]} samples"
        return f"for {of.steps} steps"

    if size(source) is None or source.of_generator:
        return
    validated = size(validation)
    print(f"Train {size(source)}" + (f", validate {validated}" if validated else ""))


def _bar(source: Source, verbose: int, metrics: Sequence[str] = ()) -> Progbar | None:
    if verbose != 1:
        return None
    by_samples = source.samples is not None and source.steps is None
    target = source.samples if by_samples else source.steps
    return Progbar(target, stateful_metrics=metrics, unit_name="sample" if by_samples else "step")
