"""The process that compiles traced stretches: `python -m tideflow.compile.inductor_process`.

It reads from its standard input, for each file that is to be written, a graph and the sizes of its inputs. A
file is written whole or not at all. Without `--urgent` the process has a low priority, and so have the
compilers that it starts.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import torch
from torch._inductor import config, standalone_compile
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx._graph_pickler import GraphPickler

# Where code is compiled and where it is loaded these must be the same. Compiled loops use as many threads as
# the step does at the moment, not as many as there were; and headers would be kept in a folder that another
# user may have made.
SETTINGS = {"cpp.dynamic_threads": True, "cpp_cache_precompile_headers": False}

_LOW_PRIORITY = 10  # where steps want all cores, they lose a tenth of one


def compile_graph(pickled: bytes, inputs: list[Any], path: Path) -> None:
    """Compiles a graph for inputs of given sizes, types and devices, into a file."""
    mode = FakeTensorMode()
    graph: Any = GraphPickler.loads(pickled, mode)
    with mode:
        examples: list[Any] = [
            torch.empty(sizes, dtype=dtype, device=device) for sizes, dtype, device in inputs
        ]
    with torch.no_grad(), config.patch(SETTINGS):
        compiled = standalone_compile(graph, examples, dynamic_shapes="from_example_inputs")
    unfinished = path.with_suffix(f".{os.getpid()}")
    compiled.save(path=str(unfinished), format="binary")
    unfinished.replace(path)


if __name__ == "__main__":
    if "--urgent" not in sys.argv:
        os.nice(_LOW_PRIORITY)
    for path, (graph, inputs) in pickle.load(sys.stdin.buffer).items():
        compile_graph(graph, inputs, path)
