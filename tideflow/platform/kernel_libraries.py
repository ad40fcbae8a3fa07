"""Shared libraries of ops and kernels in C++, compiled with the headers of `tf.sysconfig.get_include()`.

A library says which op types and kernels it declares (`kernel_schemas.py`); each op type becomes an `Op` like
any other. Its shape rule asks the library's shape function. Its kernel is made by the library once for each
node and session, and is a function of tensors: their memory goes in and out by DLPack's C interface.
"""

from __future__ import annotations

import ctypes
import inspect
import mmap
import os
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from tensorboard.compat.proto.op_def_pb2 import OpList

from tideflow.graph import dtypes, errors
from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import Op, ShapeError, definitions, undefined_gradient
from tideflow.graph.schema import Arg
from tideflow.graph.shapes import unknown_shape
from tideflow.graph.wrappers import python_function, python_name
from tideflow.platform.kernel_messages import Message, shapes_of
from tideflow.platform.kernel_schemas import KernelDeclaration, OpDeclaration, declarations
from tideflow.platform.kernel_values import Containers, Kind, converting
from tideflow.platform.logging import warning
from tideflow.runtime.resources import ResourceManager

VERSION = 2  # the version of the interface between Python and libraries: TIDEFLOW_LIBRARY_VERSION
_ENTRY = "tideflow_library"
_PROBE = (  # run by another process: what a library does while it is loaded cannot end this one
    "import ctypes, sys\n"
    "try: ctypes.PyDLL(sys.argv[1], ctypes.DEFAULT_MODE | 2)\n"
    "except OSError: pass\n"
    "print('loaded')"
)


class KernelFailure(Exception):
    """What a library raises: a code of `tf.errors` and a message."""

    def as_error(self) -> errors.OpError:
        code, message = self.args
        return errors.exception_type_from_error_code(code)(None, None, message.decode(errors="replace"))


class Library(NamedTuple):
    """The functions of a loaded library."""

    describe: Callable[[], list[tuple[bytes, bytes]]]
    infer: Callable[[int, bytes], bytes]
    make_kernel: Callable[[int, bytes, Callable[[bytes], Any]], Callable[..., Any]]
    make_container: Callable[[], Any]
    has: Callable[[Any, bytes, bytes, bool], int]


_kernels: dict[str, list[tuple[Library, KernelDeclaration]]] = {}  # by op type
_loaded: dict[str, types.ModuleType] = {}  # by file
_declared: dict[str, Op] = {}  # the op types of libraries
_NOTHING = (None, None)
_lock = threading.RLock()


def load(library_filename: str) -> types.ModuleType:
    """Loads a library and registers its op types, all or none. A file is loaded once."""
    path = os.path.realpath(library_filename)
    with _lock:
        if path not in _loaded:
            handle = _opened(library_filename)
            module = types.ModuleType(os.path.basename(library_filename).partition(".")[0])
            module.LIB_HANDLE, module.OP_LIST = handle, OpList()
            if hasattr(handle, _ENTRY):
                _add_ops(_functions_of(handle, library_filename), module)
            _loaded[path] = module
        return _loaded[path]


# -------------------------------------------------------------------------------------------------- loading


def _opened(library_filename: str) -> ctypes.PyDLL:
    if os.path.isfile(library_filename):
        _check_origin(library_filename)
        _check_by_another_process(library_filename)
    try:
        return ctypes.PyDLL(library_filename, os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as error:
        raise errors.not_found(str(error)) from None


def _check_origin(path: str) -> None:
    """Raises NotFoundError for a library of TensorFlow's own runtime, which is not loaded beside torch."""
    if os.path.getsize(path) == 0:
        return  # the linker says so
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_own = data.find(_ENTRY.encode()) >= 0
        if not is_own and data.find(b"libtensorflow_framework") >= 0:
            raise errors.not_found(
                f"{path}: it was compiled for TensorFlow's own runtime (libtensorflow_framework.so). Compile "
                "its sources with Tideflow's tf.sysconfig.get_compile_flags() and get_link_flags()"
            )


def _check_by_another_process(path: str) -> None:
    """Raises InternalError if the library ends the process that loads it."""
    if not sys.executable:  # Python is part of another program
        return
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PROBE, path], capture_output=True, text=True, errors="replace"
    )
    if "loaded" in done.stdout:
        return
    code = done.returncode
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    said = f": {done.stderr.strip()[-500:]}" if done.stderr.strip() else ""
    raise errors.internal(f"{path} ended a process {how} while its ops were registered{said}")


def _functions_of(handle: ctypes.PyDLL, library_filename: str) -> Library:
    version = handle.tideflow_library_version()
    if version != VERSION:
        raise errors.failed_precondition(
            f"{library_filename} was compiled with version {version} of the headers of kernels, and this "
            f"Tideflow has version {VERSION}: compile it again"
        )
    entry = handle[_ENTRY]
    entry.restype, entry.argtypes = ctypes.py_object, [ctypes.py_object] * 5
    exchange = torch.Tensor.__dlpack_c_exchange_api__
    return Library(*entry(exchange, KernelFailure, torch.Tensor.contiguous, _view, None))


def _view(tensor: torch.Tensor, first: int, sizes: tuple[int, ...]) -> torch.Tensor:
    """A part of an input that a kernel puts out, as a view of it."""
    if first == 0 and tensor.shape == sizes:
        return tensor
    count = int(np.prod(sizes, dtype=np.int64))
    return tensor.reshape(-1)[first : first + count].view(sizes)


# ------------------------------------------------------------------------------------------------- op types


def _add_ops(library: Library, module: types.ModuleType) -> None:
    ops, kernels = declarations(library.describe())
    made = [_op_of(declared, library, kernels) for declared in ops]
    for new, declared in zip(made, ops, strict=True):
        op = definitions().setdefault(new.name, new)  # the same op type may come from two files
        _declared.setdefault(op.name, op)
        function = python_function(op)
        function.__doc__ = "\n\n".join(filter(None, (function.__doc__, declared.doc)))
        module.__dict__[python_name(op.name)] = function
        module.__dict__[op.name] = op.raw
        module.OP_LIST.op.append(op_def_proto(op))
    for kernel in kernels:
        if kernel.op not in _declared and kernel.op in definitions():
            warning("%s is an op of Tideflow: a library's kernel for it is not used.", kernel.op)
        registered = _kernels.setdefault(kernel.op, [])
        if all(str(kernel) != str(other) for _, other in registered):  # the same library under another name
            registered.append((library, kernel))
        if kernel.device == "GPU" and kernel.op in _declared:
            _declared[kernel.op].on_host = False


def _op_of(declared: OpDeclaration, library: Library, kernels: Sequence[KernelDeclaration]) -> Op:
    on_host = not any(kernel.op == declared.name and kernel.device == "GPU" for kernel in kernels)
    try:
        op = Op(
            declared.name,
            declared.signature,
            on_host=on_host,
            registered=False,
            schema_attrs=declared.attrs,
            **declared.traits,
        )
    except (ValueError, TypeError) as error:
        raise errors.invalid_argument(f"{error} for Op {declared.name}") from None
    known = definitions().get(op.name)
    if known is not None and op_def_proto(known) != op_def_proto(op):
        raise errors.already_exists(f"Op with name {op.name}: there is another one of this name")
    op.shape(_shape_rule(op, declared, library))
    op.kernel(_kernel_of(op))
    op.gradient(undefined_gradient)  # until the program registers one
    return op


def _shape_rule(op: Op, declared: OpDeclaration, library: Library) -> Callable[..., Any]:
    """The rule that asks the library's shape function. Without one, nothing is known of the outputs."""

    def rule(*inputs: Any, **attrs: Any) -> list[Any]:
        counts = [_count(arg, attrs) for arg in op.outputs]
        if not declared.has_shape_function:
            return _answer([unknown_shape()] * sum(counts))
        message = Message()
        message.attributes(op, attrs)
        message.number(len(inputs))
        values = attrs.get("values") if "values" not in op.attrs else None
        for arg, given, value in zip(op.inputs, inputs, values or [None] * len(inputs), strict=True):
            shapes = given if arg.is_list else [given]
            known = value if arg.is_list and value is not None else [value] * len(shapes)
            message.text(arg.name)
            message.number(len(shapes))
            for shape, dtype, each in zip(shapes, _types(arg, attrs, len(shapes)), known, strict=True):
                message.input(shape, dtype, each)
        message.number(len(counts))
        for arg, count in zip(op.outputs, counts, strict=True):
            message.text(arg.name)
            message.number(count)
        try:
            answer = library.infer(declared.index, message.bytes())
        except KernelFailure as failure:
            raise ShapeError(failure.as_error().message) from None
        return _answer(list(shapes_of(answer)))

    def _answer(shapes: list[Any]) -> Any:
        return shapes[0] if len(op.outputs) == 1 and not op.outputs[0].is_list else shapes

    names = [*op.attrs] if "values" in op.attrs else [*op.attrs, "values"]
    rule.__signature__ = inspect.Signature(  # which attributes it is given
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    )
    return rule


def _count(arg: Arg, attrs: dict[str, Any]) -> int:
    if arg.type_list_attr is not None:
        return len(attrs[arg.type_list_attr])
    return attrs[arg.number_attr] if arg.number_attr is not None else 1


def _types(arg: Arg, attrs: dict[str, Any], count: int) -> list[dtypes.DType]:
    if arg.type_list_attr is not None:
        return attrs[arg.type_list_attr]
    return [attrs[arg.type_attr] if arg.type_attr is not None else arg.dtype] * count


# -------------------------------------------------------------------------------------------------- kernels


def _kernel_of(op: Op) -> Callable[..., Any]:
    """The kernel of an op type of libraries. The node's state holds what a library made for the node: by
    device, the function and the attributes that it is for.
    """

    def _kernel(
        *inputs: Any, state: dict[Any, Any], node: Any, device: torch.device, resources: ResourceManager
    ) -> Any:
        run, attrs = state.get(device, _NOTHING)
        try:
            if attrs is not node.attrs and attrs != node.attrs:
                run = _kept(state, op, node, device, resources)
            return run(*inputs)
        except KernelFailure as failure:
            raise failure.as_error() from None

    return _kernel


def _kept(
    state: dict[Any, Any], op: Op, node: Any, device: torch.device, resources: ResourceManager
) -> Callable[..., Any]:
    """A node's kernel, made where there is none yet: steps that run at the same time have the same one."""
    with _lock:
        run, attrs = state.get(device, _NOTHING)
        if attrs != node.attrs:
            run, _ = state[device] = _made(op, node, device, resources), node.attrs
        return run


def _made(op: Op, node: Any, device: torch.device, resources: ResourceManager) -> Callable[..., Any]:
    """The function of tensors that runs a node's kernel."""
    library, kernel = _chosen(op, node, device)
    place = "GPU" if kernel.device == "GPU" else "CPU"
    attrs = node.attrs
    message = Message()
    message.text(node.name)
    message.text(op.name)
    message.text(place)
    message.number((device.index or 0) if place == "GPU" else 0)
    message.number(len(op.outputs) == 1 and not op.outputs[0].is_list)
    message.attributes(op, attrs)
    for args in (op.inputs, op.outputs):
        message.number(len(args))
        for arg in args:
            message.text(arg.name)
            message.number(arg.name in kernel.on_host)
            each = [d._as_ref if arg.is_ref else d for d in _types(arg, attrs, _count(arg, attrs))]
            message.numbers([dtype.as_datatype_enum for dtype in each])
    containers = Containers(library.make_container, library.has, resources)
    run = library.make_kernel(kernel.index, message.bytes(), containers.of)
    everything = device.type != "cpu" and place == "CPU"  # no kernel for the device of the node
    taken, given = (
        [
            Kind(dtype, everything or arg.name in kernel.on_host, arg.is_ref)
            for arg in args
            for dtype in _types(arg, attrs, _count(arg, attrs))
        ]
        for args in (op.inputs, op.outputs)
    )
    for kind in (*taken, *given):
        kind.check(op)
        if kind.is_state and everything:
            raise errors.unimplemented(f"{op.name} has no kernel for the GPU, where its variables may be")
    away = device.type != "cpu"
    needs_care = op.takes_lists or any(
        kind.is_state or kind.dtype is dtypes.string or kind.dtype.is_complex or (away and kind.on_host)
        for kind in (*taken, *given)
    )
    run = converting(run, op, taken, given, device, containers) if needs_care else run
    return _on_device(run, device) if place == "GPU" and torch.cuda.device_count() > 1 else run


def _chosen(op: Op, node: Any, device: torch.device) -> tuple[Library, KernelDeclaration]:
    """The kernel for a node: of its device or else of the CPU, its types and its label; the first of the
    highest priority.
    """
    registered = _kernels.get(op.name, [])
    label = node.attrs.get("_kernel", "")
    label = label.decode() if isinstance(label, bytes) else label
    for place in ("CPU",) if device.type == "cpu" else ("GPU", "CPU"):
        fitting = [
            (library, kernel)
            for library, kernel in registered
            if kernel.device in (place, "DEFAULT")
            and kernel.label == label
            and all(_meets(node.attrs[name], allowed) for name, allowed in kernel.constraints.items())
        ]
        if fitting:
            return max(fitting, key=lambda found: found[1].priority)
    attrs = ", ".join(f"{key}={_shown(node.attrs[key])}" for key in op.attrs if key in node.attrs)
    known = "".join(f"  {kernel}\n" for _, kernel in registered) or "  <no registered kernels>\n"
    raise errors.invalid_argument(
        f"No OpKernel was registered to support Op '{op.name}' used by {{{{node {node.name}}}}} with these "
        f"attrs: [{attrs}]\nRegistered devices: [{', '.join(_devices())}]\nRegistered kernels:\n{known}"
    )


def _meets(value: Any, allowed: list[dtypes.DType]) -> bool:
    return all(item in allowed for item in (value if isinstance(value, list) else [value]))


def _shown(value: Any) -> str:
    if isinstance(value, dtypes.DType):
        return f"DT_{errors.type_name(value).upper()}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return (
        str(value).lower()
        if isinstance(value, bool)
        else repr(value)
        if isinstance(value, str)
        else str(value)
    )


def _devices() -> list[str]:
    return ["CPU", "GPU"] if torch.cuda.is_available() else ["CPU"]


def _on_device(run: Callable[..., Any], device: torch.device) -> Callable[..., Any]:
    def on_device(*inputs: Any) -> Any:
        with torch.cuda.device(device):
            return run(*inputs)

    return on_device
