"""Stretches compiled by Inductor, in a process of their own, and kept on disk for the next one.

A stretch is traced to a graph of ATen's functions here, and compiled in a process of low priority, so that
steps go on meanwhile. What it makes is kept in a folder of this user under a name that says all that it
depends on: the next process that runs the same program loads it after its first steps.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tideflow
from tideflow.compile.captured import no_recording
from tideflow.compile.emit import emit
from tideflow.compile.ir import Value
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.plan import LocalPlan
from tideflow.compile.stretches import Stretch
from tideflow.graph.tensor_proto import is_repeated
from tideflow.ops.helpers import cpu_functions
from tideflow.runtime.devices import CPU
from tideflow.runtime.private_folder import NotPrivate, check_private, private_folder

_log = logging.getLogger("tideflow")

_CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
_REFUSED = b"not compiled: "
_MOST_BYTES = 1 << 30  # that compiled stretches take on disk; the oldest are removed

Function = Callable[..., Any]


class Untraceable(Exception):
    """An op of a stretch looks at values while it is traced: its kernel cannot be compiled."""

    def __init__(self, op_type: str):
        super().__init__(f"{op_type} looks at values, and cannot be compiled")
        self.op_type = op_type


class Ended(Exception):
    """The program ends: nothing more is worth compiling."""


# -------------------------------------------------------------------------------- whether it can be done

_said_why_not = False


def can_compile() -> bool:
    """Whether there are a C++ compiler and a private folder for what it makes; logged once where not."""
    global _said_why_not
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), "g++", "clang++", "c++") if name):
        level, reason = logging.INFO, "No C++ compiler was found"
    else:
        try:
            _use_private_cache()
        except NotPrivate as error:
            level, reason = logging.WARNING, f"Compiled code has no safe place ({error})"
        else:
            return True
    if not _said_why_not:
        _said_why_not = True
        _log.log(level, "%s: steps stay on kernels, which is slower but the same.", reason)
    return False


def can_load() -> bool:
    """Whether processes of this user have compiled anything that could be loaded."""
    try:
        return any(private_folder("compiled").iterdir())
    except (NotPrivate, OSError):
        return False


def _use_private_cache() -> None:
    """Inductor runs the code that it finds in its cache. By default that is a folder under the temporary
    directory, which another user may have made; here it is one of this user's own, looked at before each use.
    """
    given = os.environ.get(_CACHE_VARIABLE)
    if given is None or _is_chosen_by_torch(given):
        os.environ[_CACHE_VARIABLE] = str(private_folder("inductor"))
    else:
        Path(given).mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(Path(given))


def _is_chosen_by_torch(folder: str) -> bool:
    """Whether Inductor, when the program used it for itself, has set the variable to its default."""
    module = sys.modules.get("torch._inductor.runtime.cache_dir_utils")
    return module is not None and folder == module.default_cache_dir()


def _kept(stretch: Stretch) -> Path:
    """Where the compiled stretch is, or will be."""
    return private_folder("compiled") / digest(stretch)


# -------------------------------------------------------------------------------- from stretch to function


def loaded(stretch: Stretch) -> Function:
    """The function of a stretch that a process of this user has compiled before.

    Raises:
      FileNotFoundError: If none has.
      Untraceable: If one of its ops cannot be compiled.
    """
    _use_private_cache()
    path = _kept(stretch)
    os.utime(path)
    if refused := _refused_op(path):
        raise Untraceable(refused)
    return _load(path)


def prepare(stretches: Sequence[Stretch], arguments: KernelArguments) -> None:
    """Compiles the stretches that no process of this user has compiled yet, for the sizes of their inputs.

    Raises:
      Untraceable: If one of their ops cannot be compiled.
      Ended: If the program ends meanwhile.
    """
    _use_private_cache()
    jobs = {}
    for stretch in stretches:
        path = _kept(stretch)
        if path in jobs or path.exists():
            continue
        try:
            jobs[path] = _pickled(traced(stretch, arguments)), _inputs(stretch)
        except Untraceable as error:
            path.write_bytes(_REFUSED + error.op_type.encode())
            raise
    if jobs:
        _remove_oldest(next(iter(jobs)).parent)
        _worker.run(pickle.dumps(jobs), is_urgent=arguments.resources.compile_early)


def _pickled(graph: torch.fx.GraphModule) -> bytes:
    """The graph as it is; pickle itself would run it again, and fold its constants. Ops of every library are
    allowed, such as oneDNN's convolutions: the process that reads it has the same ones.
    """
    from torch.fx._graph_pickler import GraphPickler, Options  # loaded when asked for

    return GraphPickler.dumps(graph, Options(ops_filter=None))


def _refused_op(path: Path) -> str:
    """The op for which a stretch cannot be compiled, if a file says so in the place of a function."""
    with open(path, "rb") as file:
        head = file.read(len(_REFUSED))
        return file.read().decode() if head == _REFUSED else ""


def _inputs(stretch: Stretch) -> list[tuple[Any, ...]]:
    """Sizes, type and device of what the function of the stretch takes."""
    return [(v.shape.as_list(), v.dtype.base_dtype.torch, stretch.device) for v in stretch.taken]


def on_kernels(stretch: Stretch, arguments: KernelArguments) -> LocalPlan:
    """The stretch as a plan, from tensors on its device to tensors there."""
    return emit(stretch.program(), arguments, implied=stretch.guards, in_place=False)


def traced(stretch: Stretch, arguments: KernelArguments) -> torch.fx.GraphModule:
    """The graph of ATen's functions that the stretch's kernels call, for inputs of its sizes."""
    from torch._subclasses.fake_tensor import FakeTensorMode  # loaded when asked for
    from torch.fx.experimental.proxy_tensor import make_fx  # loaded when asked for

    with no_recording:  # constants are copied to the device and back, which would break a recording
        plan = on_kernels(stretch, arguments)
        numbers = {
            name: (value.shape, value.item(), value.dtype, value.device)
            for name, value in plan.namespace.items()
            if isinstance(value, torch.Tensor)
        }
    step = plan.step

    def with_numbers(*inputs: torch.Tensor) -> Any:
        """The step. Its constants, all single numbers, are made where they can be traced."""
        for name, (shape, number, dtype, device) in numbers.items():
            step.__globals__[name] = torch.full(shape, number, dtype=dtype, device=device)
        return step(*inputs)

    try:
        with FakeTensorMode():
            examples = [
                torch.empty(size, dtype=dtype, device=place) for size, dtype, place in _inputs(stretch)
            ]
            quick = {torch.ops.aten.tanh.default: cpu_functions.quotient}
            graph = make_fx(with_numbers, decomposition_table=quick, tracing_mode="real")(*examples)
    except Exception as error:
        node = plan.node_that_raised(error)
        if node is None:
            raise
        raise Untraceable(node.type) from error
    for node in graph.graph.nodes:
        node.meta.clear()  # the values of this trace; the process that compiles it makes its own
    return graph


def _load(path: Path) -> Function:
    from torch._inductor import config  # loaded when asked for
    from torch._inductor.standalone_compile import CompiledArtifact  # loaded when asked for

    from tideflow.compile.inductor_process import SETTINGS  # loaded when asked for

    with no_recording, config.patch(SETTINGS):
        function = CompiledArtifact.load(path=str(path), format="binary")
    # It was compiled for contiguous inputs; an element of a TensorArray may be a strided view.
    return lambda *inputs: function(*[each.contiguous() for each in inputs])


class _Worker:
    """The process that compiles; one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run(self, jobs: bytes, is_urgent: bool) -> None:
        """Compiles graphs into files; with a low priority unless it is urgent."""
        command = [sys.executable, "-m", "tideflow.compile.inductor_process"]
        command += ["--urgent"] if is_urgent else []
        package = str(Path(tideflow.__file__).parents[1])
        search = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        with self._lock:
            if self._ended:
                raise Ended
            self._process = subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": search},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        _, said = self._process.communicate(jobs)
        if self._ended:
            raise Ended
        if self._process.returncode:
            lines = said.decode(errors="replace").strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"it ended with {self._process.returncode}")

    def end(self) -> None:
        """Ends the process, and starts no other."""
        with self._lock:
            self._ended = True
            if self._process is not None and self._process.poll() is None:
                self._process.kill()


_worker = _Worker()
end_compiling = _worker.end


def after_fork() -> None:
    """The process that compiles is the parent's."""
    _worker.__init__()  # type: ignore[misc]


def _remove_oldest(folder: Path) -> None:
    """Makes room in the folder of compiled stretches."""
    files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in folder.iterdir())
    surplus = sum(size for _, size, _ in files) - _MOST_BYTES
    for _, size, path in files:
        if surplus > 0:
            path.unlink(missing_ok=True)
            surplus -= size


# -------------------------------------------------------------------------------- what it depends on


def digest(stretch: Stretch) -> str:
    """A name for all that a compiled stretch depends on: its nodes, their sizes and constants, the machine,
    and the programs that compile it.
    """
    hashed = hashlib.sha256(_surroundings(stretch.device).encode())
    numbers: dict[Value, int] = {}
    for value in stretch.taken:
        numbers[value] = len(numbers)
        hashed.update(f"{_described(value)};".encode())
    for node in stretch.nodes:
        attrs = sorted((key, _text(attr)) for key, attr in node.attrs.items() if not key.startswith("_"))
        hashed.update(f"{node.type}{attrs}".encode())
        for value in node.inputs:
            known = numbers.get(value)
            hashed.update((_text(value.constant) if known is None else str(known)).encode())
        for value in node.outputs:
            numbers[value] = len(numbers)
            hashed.update(f"{_described(value)};".encode())
    hashed.update(str([numbers[value] for value in stretch.results]).encode())
    return hashed.hexdigest()


def _described(value: Value) -> str:
    return f"{value.dtype.name}{value.shape}"


def _text(value: Any) -> str:
    """An attribute or a constant as text that is the same in every process."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    content = value.flat[0] if is_repeated(value) else value
    return f"{value.dtype}{value.shape}{hashlib.sha256(content.tobytes()).hexdigest()}"


@functools.cache
def _surroundings(device: torch.device) -> str:
    """The machine, torch and this package, as far as compiled code depends on them."""
    package = Path(tideflow.__file__).parent
    sources = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        found = path.stat()
        sources.update(f"{path.relative_to(package)} {found.st_mtime_ns} {found.st_size};".encode())
    if device == CPU:
        machine = torch.backends.cpu.get_cpu_capability()
    else:
        machine = f"{torch.cuda.get_device_name(device)} {torch.version.cuda}"
    return f"{torch.__version__} {device} {machine} {sys.version} {sources.hexdigest()}"
