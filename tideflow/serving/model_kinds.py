"""Kinds of models: how the files of a version become a `Model`.

A kind is a function of a version's directory, registered with the name that a config calls it by
(`model_platform`) and the file by which a directory is known to be of it. A kind whose model is a function of
a batch returns a `FunctionModel`: that is the whole of a new kind.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import as_dtype
from tideflow.io.local_files import check_regular
from tideflow.io.saved_models import (
    ASSETS_DIRECTORY,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    VARIABLES_DIRECTORY,
    contains_saved_model,
)
from tideflow.saved_model.constants import SERVING
from tideflow.serving.calls import DEFAULT_SIGNATURE, PREDICT, Array, Arrays, Signature, TensorSpec
from tideflow.serving.models import Model
from tideflow.serving.saved_model_servable import SavedModel

Specs = Mapping[str, tuple[Any, "Iterable[int | None] | None"]]  # type and shape of each, by name


@dataclass(frozen=True)
class Kind:
    """A kind of model: the file that tells it, what loads it, whether the file holds code that runs, and
    whether the main thread has to load it: a program may expect that, and threads that a library starts have
    the priority of the one that loads, for good.
    """

    file: str
    load: Callable[[str], Model]
    runs_code: bool
    by_main_thread: bool


KINDS: dict[str, Kind] = {}
_EXTRA_ASSETS = "assets.extra"


def kind(
    platform: str, file: str, *, runs_code: bool, by_main_thread: bool = False
) -> Callable[[Callable[[str], Model]], Any]:
    """Registers the function that loads the models of a kind, given the path of `file`."""

    def register(load: Callable[[str], Model]) -> Callable[[str], Model]:
        KINDS[platform] = Kind(file, load, runs_code, by_main_thread)
        return load

    return register


def load_model(
    path: str, platform: str = "", *, tags: Iterable[str] = (SERVING,), trusted: bool = False
) -> Model:
    """The model in a version's directory, of the kind that its files tell where no `platform` is named."""
    _check_files(path)
    if platform == "tensorflow" or not platform and contains_saved_model(path):
        return SavedModel(path, tags, trusted)
    if platform and platform not in KINDS:
        names = ", ".join(["tensorflow", *KINDS])
        raise errors.invalid_argument(f"There is no kind of model {platform!r}: there are {names}.")
    for name, found in KINDS.items():
        file = os.path.join(path, found.file)
        if name != platform and (platform or not os.path.exists(file)):
            continue
        if found.runs_code and not trusted:
            raise errors.permission_denied(
                f"{file} runs code of its own when it is loaded. If nobody else can write there, serve it "
                "with --trust_models, and with --token_file if clients name the path."
            )
        try:
            return found.load(file)
        except errors.OpError:
            raise
        except ImportError as error:
            raise errors.failed_precondition(f"{file} needs {error.name}, which is not installed.") from None
        except Exception as error:  # whatever the library, or the model's own code, raises
            raise errors.failed_precondition(f"{file}: {type(error).__name__}: {error}") from None
    files = ", ".join(["saved_model.pb", *(found.file for found in KINDS.values())])
    raise errors.not_found(f"{path} holds no model: none of {files} is there.")


def _check_files(path: str) -> None:
    """Refuses a version with something else among its files: a load that reads a pipe would never end."""
    for name in (
        SAVED_MODEL_FILENAME_PB,
        SAVED_MODEL_FILENAME_PBTXT,
        *(each.file for each in KINDS.values()),
    ):
        check_regular(os.path.join(path, name))
    for part in (VARIABLES_DIRECTORY, ASSETS_DIRECTORY, _EXTRA_ASSETS):
        for folder, _, names in os.walk(os.path.join(path, part)):
            for name in names:
                check_regular(os.path.join(folder, name))


def needs_main_thread(path: str, platform: str = "") -> bool:
    """Whether the main thread has to load the model in a directory."""
    if not platform and contains_saved_model(path):
        return False
    return any(
        found.by_main_thread and (name == platform or not platform and os.path.exists(f"{path}/{found.file}"))
        for name, found in KINDS.items()
    )


class FunctionModel:
    """A model that is a function of a batch: of an array, or of a dict of them where it has several inputs.

    Args:
      function: Takes the inputs, returns the outputs, in the same form.
      inputs: Type and shape of each input, by name; the first axis is the batch.
      outputs: The same for the outputs.
    """

    def __init__(self, function: Callable[[Any], Any], inputs: Specs, outputs: Specs):
        self._function = function
        signature = Signature(PREDICT, _specs(inputs), _specs(outputs))
        self.signatures = {DEFAULT_SIGNATURE: signature}
        self._types = {name: spec.dtype.numpy for name, spec in signature.outputs.items()}

    def run(self, signature: str, inputs: Arrays, outputs: tuple[str, ...]) -> Arrays:
        """Calls the function; what it raises is an error of the request."""
        try:
            given = self._function(inputs if len(inputs) > 1 else next(iter(inputs.values())))
        except errors.OpError:
            raise
        except Exception as error:
            raise errors.invalid_argument(f"The model failed: {type(error).__name__}: {error}") from error
        if not isinstance(given, Mapping):
            given = {next(iter(self._types)): given}
        missing = [name for name in outputs if name not in given]
        if missing:
            raise errors.internal(f"The model gave no output {missing[0]!r}: it gave {', '.join(given)}.")
        return {name: _as_array(given[name], self._types[name]) for name in outputs}

    def close(self) -> None:
        """Nothing is held but the function."""


def _specs(given: Specs) -> dict[str, TensorSpec]:
    return {
        name: TensorSpec(as_dtype(dtype), None if shape is None else tuple(shape), f"{name}:0")
        for name, (dtype, shape) in given.items()
    }


def _as_array(value: Any, dtype: Any) -> Array:
    array = np.asarray(value)
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    return np.asarray(array, dtype)


# -------------------------------------------------------------------------------------------------- the kinds


@kind("python", "model.py", runs_code=True, by_main_thread=True)
def python_model(path: str) -> Model:
    """A module with `predict_batch(inputs) -> outputs`, and `INPUTS` and `OUTPUTS` where those are not one
    float32 tensor each: `INPUTS = {"x": ("float32", [None, 784])}`.
    """
    spec = importlib.util.spec_from_file_location("served_model", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    inputs = getattr(module, "INPUTS", {"inputs": ("float32", None)})
    outputs = getattr(module, "OUTPUTS", {"outputs": ("float32", None)})
    return FunctionModel(module.predict_batch, inputs, outputs)


@kind("sklearn", "model.joblib", runs_code=True)
def sklearn_model(path: str) -> Model:
    """An estimator of scikit-learn that `joblib.dump` wrote: `predict`, and `predict_proba` if it can."""
    import joblib  # loaded when asked for

    estimator = joblib.load(path)
    methods = {"outputs": "predict", "probabilities": "predict_proba"}
    methods = {name: method for name, method in methods.items() if hasattr(estimator, method)}

    def predict(rows: Array) -> Arrays:
        return {name: getattr(estimator, method)(rows) for name, method in methods.items()}

    inputs = {"inputs": ("float32", [None, estimator.n_features_in_])}
    return FunctionModel(predict, inputs, _seen(predict(np.zeros((1, estimator.n_features_in_), np.float32))))


@kind("torchscript", "model.pt", runs_code=True)
def torchscript_model(path: str) -> Model:
    """A module that `torch.jit.save` wrote, with one float32 tensor in and one out."""
    module = torch.jit.load(path, map_location="cpu").eval()

    def predict(rows: Array) -> Array:
        with torch.inference_mode():
            return module(torch.from_numpy(np.require(rows, requirements="W"))).numpy()

    return FunctionModel(predict, {"inputs": ("float32", None)}, {"outputs": ("float32", None)})


@kind("pytorch", "model.pt2", runs_code=True)
def exported_model(path: str) -> Model:
    """A program that `torch.export.save` wrote: its inputs and outputs are named and typed."""
    program = torch.export.load(path)
    module, inputs = program.module(), _of_program(program, program.graph_signature.user_inputs)
    outputs = _of_program(program, program.graph_signature.user_outputs)

    def predict(given: Any) -> Arrays:
        arrays = given.values() if len(inputs) > 1 else [given]
        with torch.inference_mode():
            found = module(*(torch.from_numpy(np.require(array, requirements="W")) for array in arrays))
        return {name: value.numpy() for name, value in zip(outputs, found if len(outputs) > 1 else [found])}

    return FunctionModel(predict, inputs, outputs)


def _of_program(program: Any, names: Iterable[str]) -> Specs:
    values = {node.name: node.meta["val"] for node in program.graph.nodes if "val" in node.meta}
    return {
        name: (
            str(values[name].dtype).removeprefix("torch."),
            [size if isinstance(size, int) else None for size in values[name].shape],
        )
        for name in names
    }


@kind("onnx", "model.onnx", runs_code=False, by_main_thread=True)
def onnx_model(path: str) -> Model:
    """A graph of ONNX, run by onnxruntime."""
    import onnxruntime  # loaded when asked for

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs, outputs = (
        {one.name: (_ONNX_TYPES[one.type], [_size(size) for size in one.shape]) for one in given}
        for given in (session.get_inputs(), session.get_outputs())
    )

    def predict(given: Any) -> Arrays:
        feeds = given if len(inputs) > 1 else {next(iter(inputs)): given}
        return dict(zip(outputs, session.run(list(outputs), feeds)))

    return FunctionModel(predict, inputs, outputs)


_ONNX_TYPES = {
    f"tensor({name})": name for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
}
_ONNX_TYPES |= {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16"}
_ONNX_TYPES |= {"tensor(bool)": "bool", "tensor(string)": "string"}


def _size(size: Any) -> int | None:
    return size if isinstance(size, int) and size >= 0 else None


def _seen(outputs: Arrays) -> Specs:
    """Types and shapes as in a batch that was computed."""
    return {
        name: (dtypes.string if array.dtype.kind in "OUS" else array.dtype, [None, *array.shape[1:]])
        for name, array in ((name, np.asarray(value)) for name, value in outputs.items())
    }
