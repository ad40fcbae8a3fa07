"""From a model to the files of other systems, by one road: a step is traced to a `torch.export` program, and
every target is made of that.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.export import Dim, ExportedProgram
from torch.fx import traceback as fx_traceback

from tideflow.exchange.models import Frozen
from tideflow.exchange.step_module import SOURCE, CannotExport
from tideflow.exchange.texts import Texts, as_numbers, write_words
from tideflow.graph.operation import Operation, Tensor

_EXAMPLE_SIZE = 3  # of an axis that may have any size; 0 and 1 would be taken as what they always are
MOST_ON_PHONES = 64  # the largest size of such an axis in ExecuTorch, which plans its memory ahead


def export_model(
    model: Frozen,
    path: str | os.PathLike[str],
    to: str,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
    samples: Sequence[Mapping[str, np.ndarray]] = (),
) -> None:
    """Writes a model as a file that another system runs.

    Args:
      model: The model (`exchange/models.py` makes one of a session, a SavedModel or a checkpoint).
      path: The file. It is there as a whole, or not at all.
      to: One of `TARGETS`: `torch` (a `torch.export` program, .pt2), `onnx`, `aot` (an AOTInductor package,
        .pt2, which C++ loads without Python), `executorch` (a program for phones, .pte), or
        `executorch-int8` (the same with weights and activations of 8 bits).
      shapes: By input, the sizes that it has, None where any size is allowed. By default those of its
        placeholder.
      samples: Inputs that the model will see; int8 takes the ranges of its activations from them.

    Raises:
      CannotExport: If operations of the model have no form there; it names them, with their lines.
      ValueError: If there is no such target or input, or a package that it needs is missing.
    """
    if to not in TARGETS:
        raise ValueError(f"There is no target '{to}', but {', '.join(TARGETS)}")
    texts = Texts()
    if to == "onnx":  # the one target that has strings
        model, texts = as_numbers(model)
    most = MOST_ON_PHONES if to.startswith("executorch") else None
    program = traced(model, shapes or {}, most)
    with _written_whole(Path(path)) as place:
        TARGETS[to](model, program, place, samples)
        write_words(place, texts)


def traced(
    model: Frozen, shapes: Mapping[str, Sequence[int | None]], most: int | None = None
) -> ExportedProgram:
    """The model as a `torch.export` program. Arguments and errors are those of `export_model`; axes of any
    size have at most the size `most`.
    """
    if unknown := set(shapes).difference(model.inputs):
        raise ValueError(f"The model has no input {sorted(unknown)}, but {sorted(model.inputs)}")
    module = model.module().eval()
    sizes = [_sizes(name, tensor, shapes.get(name)) for name, tensor in model.inputs.items()]
    examples = [
        torch.zeros([_EXAMPLE_SIZE if n is None else n for n in given], dtype=tensor.dtype.torch)
        for given, tensor in zip(sizes, model.inputs.values(), strict=True)
    ]
    any_size = Dim.DYNAMIC if most is None else Dim.DYNAMIC(max=most)
    free = tuple({axis: any_size for axis, n in enumerate(given) if n is None} for given in sizes)
    try:
        with torch.no_grad(), _quiet(), fx_traceback.preserve_node_meta():
            return torch.export.export(module, tuple(examples), dynamic_shapes=(free,))
    except CannotExport as error:
        raise model.at_origin(error) from None
    except torch._dynamo.exc.UserError as error:
        reason = str(error).partition("\n\n")[0]
        hint = "give the sizes of the inputs that vary as fixed ones"
        raise CannotExport([(None, f"{reason}\n({hint})")]) from None


def _sizes(name: str, tensor: Tensor, given: Sequence[int | None] | None) -> list[int | None]:
    if tensor.dtype.torch is None:
        raise CannotExport([(tensor.op, f"input '{name}' has type {tensor.dtype.name}, not numbers")])
    if given is not None:
        tensor.shape.assert_is_compatible_with(list(given))
        return list(given)
    if tensor.shape.ndims is None:
        raise ValueError(f"The number of axes of input '{name}' is not known: give its shape")
    return tensor.shape.as_list()


@contextlib.contextmanager
def _written_whole(path: Path) -> Iterator[Path]:
    """A place beside the path, which is renamed to it at the end, with the files that belong to it."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export") as folder:
        yield Path(folder, path.name)
        for made in sorted(Path(folder).iterdir(), reverse=True):
            os.replace(made, path.parent / made.name)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch's exporters report their progress, and advise their own developers."""
    loggers = [logging.getLogger(name) for name in ("torch", "torch.onnx", "onnxscript", "root")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


# ------------------------------------------------------------------------------------------------- targets


def _to_torch(model: Frozen, program: ExportedProgram, path: Path, samples: Sequence[Any]) -> None:
    torch.export.save(program, path)


def _to_onnx(model: Frozen, program: ExportedProgram, path: Path, samples: Sequence[Any]) -> None:
    with _needs("onnx", "onnxscript"), _quiet(), _refusing("ONNX exporter", model):
        from tideflow.exchange.onnx_translations import TRANSLATIONS  # loaded when asked for

        made = torch.onnx.export(
            program,
            input_names=list(model.inputs),
            output_names=list(model.outputs),
            custom_translation_table=TRANSLATIONS,
            dynamo=True,
            verbose=False,
        )
        made.save(path, external_data=_is_large(program))


def _is_large(program: ExportedProgram) -> bool:
    """Whether the numbers do not fit into one message, which holds 2 GiB: they go to a file beside it."""
    tensors = [*program.state_dict.values(), *program.constants.values()]
    return sum(each.nbytes for each in tensors if isinstance(each, torch.Tensor)) > 1 << 30


def _to_aot(model: Frozen, program: ExportedProgram, path: Path, samples: Sequence[Any]) -> None:
    if path.suffix != ".pt2":
        raise ValueError(f"The name of an AOTInductor package ends in .pt2, not as '{path.name}'")
    with _quiet(), _refusing("AOTInductor", model):
        from tideflow.exchange.dense_inputs import take_any_strides  # loaded when asked for: with Inductor

        take_any_strides(program)
        torch._inductor.aoti_compile_and_package(program, package_path=str(path))


@contextlib.contextmanager
def _refusing(maker: str, model: Frozen) -> Iterator[None]:
    """Where a part of PyTorch makes a file of a program, or says that it cannot."""
    try:
        yield
    except ModuleNotFoundError:
        raise
    except Exception as error:
        cause = error.__cause__ or error
        reason = f"PyTorch's {maker} cannot write it: {cause}"
        raise CannotExport([(_operation_at(cause, model), reason)]) from error


def _operation_at(error: BaseException, model: Frozen) -> Operation | None:
    """The operation whose node of a trace an exporter was at, if the functions that it was in tell."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        node = frame.f_locals.get("node")
        if isinstance(node, torch.fx.Node):
            name = node.meta.get("custom", {}).get(SOURCE, "")
            return model.origin._by_name.get(name)
    return None


@contextlib.contextmanager
def _needs(*packages: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in packages:
            raise
        raise ValueError(f"This target needs the package {error.name.partition('.')[0]}") from None


def _to_executorch(model: Frozen, program: ExportedProgram, path: Path, samples: Sequence[Any]) -> None:
    with _needs("executorch", "torchao"), _quiet():
        from tideflow.exchange import phones  # loaded when asked for

        path.write_bytes(phones.program_bytes(program))


def _to_executorch_int8(model: Frozen, program: ExportedProgram, path: Path, samples: Sequence[Any]) -> None:
    if not samples:
        raise ValueError("int8 takes the ranges of activations from samples: give some inputs")
    inputs = [[torch.as_tensor(np.asarray(sample[name])) for name in model.inputs] for sample in samples]
    with _needs("executorch", "torchao"), _quiet():
        from tideflow.exchange import phones  # loaded when asked for

        path.write_bytes(phones.program_bytes(phones.of_8_bits(program, inputs), is_exact=False))


Target = Callable[[Frozen, ExportedProgram, Path, Sequence[Any]], None]
TARGETS: dict[str, Target] = {
    "torch": _to_torch,
    "onnx": _to_onnx,
    "aot": _to_aot,
    "executorch": _to_executorch,
    "executorch-int8": _to_executorch_int8,
}
