"""What a request means for a model: the calls of predict, classify, regress and multi-inference.

A front end parses bytes, makes a call here, submits it, and writes what comes back. Errors are OpErrors with
TensorFlow Serving's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OpError
from tideflow.serving.calls import (
    CLASSIFY,
    DEFAULT_SIGNATURE,
    PREDICT,
    REGRESS,
    Array,
    Arrays,
    Call,
    Done,
    Servable,
    Signature,
    TensorSpec,
    VersionStatus,
)

NO_SIGNATURE = ""  # of a call whose inputs and outputs are tensors of the graph, by their names

_INPUTS = "inputs"  # names in signatures for Examples
_CLASSES, _SCORES, _OUTPUTS = "classes", "scores", "outputs"


class Models(Protocol):
    """What front ends ask of the models that are served. Methods raise OpErrors."""

    def find(self, name: str, version: int | None = None, label: str | None = None) -> Servable:
        """The version that answers: the one that is asked for, or the latest."""

    def statuses(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> Sequence[VersionStatus]:
        """The states of the versions that are known."""

    def reload(self, config: Any, done: Callable[[OpError | None], None]) -> None:
        """Puts a ModelServerConfig in place of the current one. `done` is called when all is loaded."""

    def names(self) -> Sequence[str]:
        """The names of the models."""

    def is_ready(self) -> bool:
        """Whether all models have been loaded."""


# -------------------------------------------------------------------------------------------------- predict


def predict_call(
    servable: Servable, name: str, inputs: Arrays, wanted: Sequence[str], deadline: float, done: Done
) -> Call:
    """The call of a signature, `name` or the default one, for the outputs wanted (all if none are named)."""
    name = name or DEFAULT_SIGNATURE
    signature = servable.signatures.get(name)
    if signature is None:
        raise errors.failed_precondition(f'Serving signature key "{name}" not found.')
    check_inputs(signature, inputs)
    outputs = _wanted_outputs(signature, wanted) if wanted else tuple(signature.outputs)
    rows = _common_rows(inputs) if signature.is_batchable else 1
    return Call(name, inputs, outputs, rows, deadline, done)


def check_inputs(signature: Signature, inputs: Arrays) -> None:
    """Raises an error unless the inputs are those of the signature, with their types and shapes."""
    specs = signature.inputs
    if inputs.keys() != specs.keys():
        _refuse_names(signature, inputs)
    for name, array in inputs.items():
        spec = specs[name]
        if array.dtype != spec.dtype.numpy:
            found = dtypes.as_dtype(array.dtype).name
            raise errors.invalid_argument(
                f"input '{name}' must be of type {spec.dtype.name}, but it is of type {found}"
            )
        if spec.shape is not None and not _fits(array.shape, spec.shape):
            raise errors.invalid_argument(
                f"input '{name}' must have shape {shape_text(spec.shape)}, but it has shape "
                f"{shape_text(array.shape)}"
            )


def _refuse_names(signature: Signature, inputs: Mapping[str, Any]) -> None:
    sent, known = sorted(inputs), sorted(signature.inputs)
    if len(sent) == len(known):
        alias = next(name for name in sent if name not in signature.inputs)
        raise errors.invalid_argument(
            f"input tensor alias not found in signature: {alias}. Inputs expected to be in the set "
            f"{{{','.join(known)}}}."
        )
    extra = [name for name in sent if name not in signature.inputs]
    missing = [name for name in known if name not in inputs]
    raise errors.invalid_argument(
        f"input size does not match signature: {len(sent)}!={len(known)} len({{{','.join(sent)}}}) != "
        f"len({{{','.join(known)}}}). Sent extra: {{{','.join(extra)}}}. Missing but required: "
        f"{{{','.join(missing)}}}."
    )


def _fits(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return found == wanted or (
        len(found) == len(wanted) and all(size in (None, given) for given, size in zip(found, wanted))
    )


def _common_rows(inputs: Arrays) -> int:
    """The number of examples, which is that of every input's first axis."""
    rows = -1
    for array in inputs.values():
        if not array.ndim:
            raise errors.invalid_argument(
                "Batching session Run() input tensors must have at least one dimension"
            )
        if rows not in (-1, len(array)):
            raise errors.invalid_argument(
                "Batching session Run() input tensors must have equal 0th-dimension size"
            )
        rows = len(array)
    return rows


def _wanted_outputs(signature: Signature, wanted: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    for alias in wanted:
        if alias not in signature.outputs:
            raise errors.invalid_argument(
                f"output tensor alias not found in signature: {alias} Outputs expected to be in the set "
                f"{{{','.join(sorted(signature.outputs))}}}."
            )
        if alias in seen:
            raise errors.invalid_argument(f"duplicate output tensor alias: {alias}")
        seen[alias] = None
    return tuple(seen)


def graph_call(inputs: Arrays, fetches: Sequence[str], deadline: float, done: Done) -> Call:
    """The call that feeds and fetches tensors of the graph by their names."""
    return Call(NO_SIGNATURE, inputs, tuple(fetches), 1, deadline, done)


# ------------------------------------------------------------------------------------ classify and regress


class Classes(NamedTuple):
    """The classes of a batch: a row of labels and a row of scores for each example; either may be None."""

    labels: Array | None
    scores: Array | None


# Of a classification, or of a regression: a value for each example.
Result: TypeAlias = "Classes | Array"


class Method(NamedTuple):
    """A method on Examples: its name in signatures and in messages, how it is asked of a signature, and what
    an answer of it is.
    """

    name: str
    kind: str
    outputs: Callable[[Signature], tuple[str, ...]]
    result: Callable[[Arrays, int], Result]


def examples_call(
    servable: Servable,
    method: Method,
    name: str,
    examples: Sequence[bytes],
    deadline: float,
    done: Callable[[Result | OpError], None],
    *,
    checks_name: bool = False,
) -> Call:
    """The call that classifies or regresses serialised Examples. Where `checks_name`, the signature must name
    the method; TensorFlow 2's name another one, and are asked by their inputs and outputs alone.
    """
    name = name or DEFAULT_SIGNATURE
    signature = servable.signatures.get(name)
    if signature is None:
        raise errors.invalid_argument(f"No signature was found with the name: {name}")
    if checks_name:
        _check_name(signature, method)
    outputs = method.outputs(signature)
    if not examples:
        raise errors.invalid_argument("Input is empty.")
    rows = len(examples)
    inputs = {_INPUTS: _bytes_array(examples)}
    check_inputs(signature, inputs)

    def made(outcome: Arrays | OpError) -> None:
        if not isinstance(outcome, OpError):
            try:
                done(method.result(outcome, rows))
                return
            except OpError as error:
                outcome = error
        done(outcome)

    return Call(name, inputs, outputs, rows if signature.is_batchable else 1, deadline, made)


def examples_of(given: Any) -> list[bytes]:
    """The serialised Examples of an `Input` message, each after the features of the context."""
    if given.WhichOneof("kind") == "example_list_with_context":
        with_context = given.example_list_with_context
        return [with_context.context + example for example in with_context.examples]
    return list(given.example_list.examples)


def _bytes_array(examples: Sequence[bytes]) -> Array:
    array = np.empty(len(examples), object)
    array[:] = examples
    return array


def _check_name(signature: Signature, method: Method) -> None:
    if signature.method_name != method.name:
        raise errors.invalid_argument(
            f"Expected {method.kind} signature method_name to be {method.name}. Was: {signature.method_name}"
        )


def _check_one_input(signature: Signature) -> None:
    if len(signature.inputs) != 1:
        raise errors.invalid_argument("Expected one input Tensor.")


def _classify_outputs(signature: Signature) -> tuple[str, ...]:
    _check_one_input(signature)
    if len(signature.outputs) not in (1, 2):
        raise errors.invalid_argument(f"Expected one or two output Tensors, found {len(signature.outputs)}")
    if _INPUTS not in signature.inputs:
        raise errors.failed_precondition(
            f"No classification inputs found in SignatureDef: {signature_text(signature)}"
        )
    found = tuple(name for name in (_CLASSES, _SCORES) if name in signature.outputs)
    if not found:
        raise errors.failed_precondition(
            'Expected classification signature outputs to contain at least one of "classes" or "scores". '
            f"Signature was: {signature_text(signature)}"
        )
    return found


def _classes(outputs: Arrays, rows: int) -> Classes:
    labels, scores = outputs.get(_CLASSES), outputs.get(_SCORES)
    for kind, array, dtype, name in (
        (_CLASSES, labels, np.object_, "DT_STRING"),
        (_SCORES, scores, np.float32, "DT_FLOAT"),
    ):
        if array is None:
            continue
        if array.ndim != 2:
            raise errors.invalid_argument(
                f"Expected Tensor shape: [batch_size num_classes] but got {shape_text(array.shape)}"
            )
        if array.dtype != dtype:
            found = dtypes.as_dtype(array.dtype).name
            raise errors.invalid_argument(f"Expected {kind} Tensor of {name}. Got: DT_{found.upper()}")
        if len(array) != rows:
            raise errors.invalid_argument(f"Expected {kind} output batch size of {rows}. Got: {len(array)}")
    if labels is not None and scores is not None and labels.shape[1] != scores.shape[1]:
        raise errors.invalid_argument(
            f"Tensors class and score should match in dim_size(1). Got {labels.shape[1]} vs. "
            f"{scores.shape[1]}"
        )
    return Classes(labels, scores)


def _regress_outputs(signature: Signature) -> tuple[str, ...]:
    _check_one_input(signature)
    if len(signature.outputs) != 1:
        raise errors.invalid_argument("Expected one output Tensor.")
    for kind, names, name in (
        ("inputs", signature.inputs, _INPUTS),
        ("outputs", signature.outputs, _OUTPUTS),
    ):
        if name not in names:
            raise errors.failed_precondition(
                f"No regression {kind} found in SignatureDef: {signature_text(signature)}"
            )
    return (_OUTPUTS,)


def _regressions(outputs: Arrays, rows: int) -> Array:
    array = outputs[_OUTPUTS]
    if array.ndim != 1 and array.shape[1:] != (1,):
        raise errors.invalid_argument(
            "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got "
            f"{shape_text(array.shape)}"
        )
    if len(array) != rows:
        raise errors.invalid_argument(
            f"Input batch size did not match output batch size: {rows} vs. {len(array)}"
        )
    if array.dtype != np.float32:
        found = dtypes.as_dtype(array.dtype).name
        raise errors.invalid_argument(f"Expected output Tensor of DT_FLOAT.  Got: DT_{found.upper()}")
    return array.reshape(-1)


METHODS = {
    CLASSIFY: Method(CLASSIFY, "classification", _classify_outputs, _classes),
    REGRESS: Method(REGRESS, "regression", _regress_outputs, _regressions),
}


class Task(NamedTuple):
    """One of the inferences of a multi-inference."""

    model: str
    signature: str
    method_name: str


def multi_inference_calls(
    servable: Servable,
    tasks: Sequence[Task],
    examples: Sequence[bytes],
    deadline: float,
    done: Callable[[list[Result] | OpError], None],
    *,
    checks_names: bool = False,
) -> list[Call]:
    """The calls of several inferences on the same Examples. `done` gets all results, or the first error."""
    _check_tasks(servable, tasks)
    results: list[Result | None] = [None] * len(tasks)
    state = {"missing": len(tasks)}

    def place(index: int) -> Callable[[Result | OpError], None]:
        def arrived(outcome: Result | OpError) -> None:
            if not state["missing"]:
                return  # another task has failed
            if isinstance(outcome, OpError):
                state["missing"] = 0
                done(outcome)
                return
            results[index] = outcome
            state["missing"] -= 1
            if not state["missing"]:
                done(results)  # type: ignore[arg-type]

        return arrived

    return [
        examples_call(
            servable,
            METHODS[task.method_name],
            task.signature,
            examples,
            deadline,
            place(index),
            checks_name=checks_names,
        )
        for index, task in enumerate(tasks)
    ]


def _check_tasks(servable: Servable, tasks: Sequence[Task]) -> None:
    seen: set[str] = set()
    tensors: set[str] = set()
    for task in tasks:
        if not task.model:
            raise errors.invalid_argument("Found ModelSpec with an empty model name.")
        if task.model != tasks[0].model:
            raise errors.invalid_argument(
                "All ModelSpecs in a MultiInferenceRequest must access the same model name."
            )
        name = task.signature or DEFAULT_SIGNATURE
        if name in seen:
            raise errors.invalid_argument(f"Duplicate evaluation of signature: {name}")
        seen.add(name)
        signature = servable.signatures.get(name)
        if signature is None:
            raise errors.invalid_argument(f"Requested signature not found in model graph: {name}")
        if task.method_name not in METHODS:
            raise errors.unimplemented(f"Unsupported signature method_name: {task.method_name}")
        METHODS[task.method_name].outputs(signature)
        tensors.update(spec.tensor_name for spec in signature.inputs.values())
        if len(tensors) > 1:
            raise errors.invalid_argument("Input tensor must be the same for all Signatures.")


# -------------------------------------------------------------------------------------------------- messages


def shape_text(shape: Sequence[int | None] | None) -> str:
    """A shape as TensorFlow writes it in messages: [?,784]."""
    if shape is None:
        return "<unknown>"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def signature_text(signature: Signature) -> str:
    """A signature in a line of a message."""

    def side(specs: Mapping[str, TensorSpec]) -> str:
        return ", ".join(f"{name}: {spec.dtype.name}{shape_text(spec.shape)}" for name, spec in specs.items())

    return f"{signature.method_name or PREDICT}({side(signature.inputs)}) -> ({side(signature.outputs)})"
