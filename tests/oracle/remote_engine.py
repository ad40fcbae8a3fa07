"""Runs the programs of one file in TensorFlow, with their sessions on a Tideflow server.

    python remote_engine.py tensorflow|compat.v1 PROGRAMS.py RESULTS [NAME ...]

It is `engine.py`, but sessions that name no target get that of a server, which is started for the file by the
Python that TIDEFLOW_PYTHON names. Such a session shares no state with others, as one of the process itself.
"""

import ctypes
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import engine


def end_with_parent():
    """Lets this process end when the one that started it does, even by a crash (Linux)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def start_server():
    """A server's process, and its target for TensorFlow's sessions."""
    command = [
        os.environ["TIDEFLOW_PYTHON"],
        "-m",
        "tideflow",
        "server",
        "--tensorflow-clients",
        "localhost:0",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=end_with_parent)
    server.stdout.readline()
    return server, server.stdout.readline().decode().split()[-1]


def direct_sessions_to(target):
    """Sessions without a target run there from now on."""
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.python.client import session

    make = session.BaseSession.__init__

    def init(self, given="", graph=None, config=None):
        if not given:
            given, alone = target, config_pb2.ConfigProto(isolate_session_state=True)
            if config is not None:
                alone.MergeFrom(config)
            config = alone
        make(self, given, graph, config)

    session.BaseSession.__init__ = init


def main(module, *arguments):
    """Runs the wanted programs, as `engine.main` does."""
    server, target = start_server()
    try:
        engine.load_engine(module)
        direct_sessions_to(target)
        engine.main(module, *arguments)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
