"""`engine.py` for programs that end the process: they run in children of one that has loaded the engine.

    python forking_engine.py tensorflow|compat.v1|tideflow PROGRAMS.py RESULTS [NAME ...]

Many a damaged input ends TensorFlow, and loading it again takes seconds; a fork takes none.
"""

import faulthandler
import os
import pickle
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import engine


def main(name, path, results, *wanted):
    """Runs the wanted programs; one that ends its child has failed, and another child goes on after it."""
    import numpy as np

    tf, programs = engine.load_engine(name), engine.load_programs(path)
    chosen = set(wanted or programs)
    left = [each for each in programs if each in chosen]
    with open(results, "wb", buffering=0) as stream:
        while left:
            status = _in_a_child(lambda: _run(tf, np, programs, left, stream))
            begun, ended = _progress(results)
            for each in begun - ended:
                failed = {"kind": "failed", "type": "ended with status %d" % status, "message": ""}
                pickle.dump(("result", each, failed), stream, protocol=4)
            left = [each for each in left if each not in begun]


def _in_a_child(work):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    work()
    os._exit(0)


def _run(tf, np, programs, names, stream):
    for name in names:
        pickle.dump(("start", name), stream, protocol=4)
        faulthandler.dump_traceback_later(engine.SECONDS_A_PROGRAM, exit=True)
        value = engine.outcome(tf, np, programs[name])
        faulthandler.cancel_dump_traceback_later()
        pickle.dump(("result", name, value), stream, protocol=4)


def _progress(results):
    """The names of the programs that were begun, and of those that ended."""
    begun, ended = set(), set()
    with open(results, "rb") as stream:
        while True:
            try:
                event, name = pickle.load(stream)[:2]
            except EOFError:
                return begun, ended
            (begun if event == "start" else ended).add(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
