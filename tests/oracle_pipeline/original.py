"""Runs the `original` function of a program, in the environment of the originals, and writes its answers.

usage: original.py PROGRAM OUT [GIVEN]      GIVEN: a pickle of what the program's `given` returned, here
"""

import importlib.util
import os
import pickle
import sys
import tempfile
from pathlib import Path


def load_program(path):
    """The module of a program's file."""
    spec = importlib.util.spec_from_file_location(f"program_{Path(path).stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(program, out, given=None):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with tempfile.TemporaryDirectory() as folder:
        more = [] if given is None else [pickle.loads(Path(given).read_bytes())]
        answers = load_program(program).original(Path(folder), *more)
    Path(out).write_bytes(pickle.dumps(answers, protocol=4))


if __name__ == "__main__":
    main(*sys.argv[1:])
