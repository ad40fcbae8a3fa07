"""Runs Python programs for tests as `python` would, in processes forked from one that has loaded torch.

Loading torch and Tideflow takes most of the time of a short program. `run` is like `subprocess.run`; what is
different in its processes is the moment of those imports, so tests of the imports themselves do not use it.
"""

from __future__ import annotations

import array
import atexit
import functools
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LARGEST_REQUEST = 1 << 20


def run(
    arguments: Sequence[object],
    *,
    env: Mapping[str, str] | None = None,
    cwd: object = None,
    timeout: float = 240,
) -> subprocess.CompletedProcess[str]:
    """Runs `python ARGUMENTS`: a script, or -m and a module, or -c and a program, with what follows."""
    wanted = {
        "arguments": [str(argument) for argument in arguments],
        "env": dict(os.environ if env is None else env),
        "cwd": str(cwd or os.getcwd()),
    }
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _starter().run(wanted, [out.fileno(), err.fileno()], timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(
            wanted["arguments"], code, out.read().decode(), err.read().decode()
        )


@functools.cache
def _starter() -> _Starter:
    return _Starter()


class _Starter:
    """This end of the process that has loaded torch."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LARGEST_REQUEST)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.starter", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self._close)

    def run(self, wanted: Mapping[str, object], files: list[int], timeout: float) -> int:
        """The exit code of a program, which is killed if it does not end in time."""
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(wanted).encode()], files)
            pid = int(self._socket.recv(100))
            self._socket.settimeout(timeout)
            try:
                return int(self._socket.recv(100))
            except TimeoutError:
                os.killpg(pid, signal.SIGKILL)
                self._socket.settimeout(None)
                self._socket.recv(100)
                raise subprocess.TimeoutExpired(str(wanted["arguments"]), timeout) from None
            finally:
                self._socket.settimeout(None)

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


# ------------------------------------------------------------------------------------- in the process itself


def main(connection: socket.socket) -> None:
    """Forks a process for each request, one after the other, until the other end is closed."""
    import tideflow as tf

    tf.Session, tf.train, tf.layers  # noqa: B018 - loaded now
    while True:
        request, rights, _, _ = connection.recvmsg(_LARGEST_REQUEST, socket.CMSG_SPACE(8))
        if not request:
            return
        files = array.array("i", b"".join(data for _, _, data in rights))
        child = os.fork()
        if child == 0:
            connection.close()
            _become(json.loads(request), *files)
        for file in files:
            os.close(file)
        connection.send(str(child).encode())
        connection.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _become(wanted: dict, out: int, err: int) -> None:
    """Runs the program in this process, to its end."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(min(out, err), max(out, err) + 1)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    code = 1
    try:
        code = _run(wanted["arguments"])
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(arguments: list[str]) -> int:
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    sys.path[1:1] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    first, *rest = arguments
    try:
        if first == "-c":
            sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
            exec(compile(rest[0], "<string>", "exec"), _main_module())
        elif first == "-m":
            sys.argv, sys.path[0] = rest, os.getcwd()
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = arguments, str(Path(first).resolve().parent)
            runpy.run_path(first, run_name="__main__")
    except SystemExit as exit:
        if exit.code is None or isinstance(exit.code, int):
            return exit.code or 0
        print(exit.code, file=sys.stderr)
        return 1
    except BaseException as error:
        frames = traceback.TracebackException.from_exception(error)
        frames.stack = traceback.StackSummary.from_list([f for f in frames.stack if not _is_ours(f.filename)])
        print("".join(frames.format()), file=sys.stderr, end="")
        return 1
    return 0


def _main_module() -> dict:
    import types

    sys.modules["__main__"] = module = types.ModuleType("__main__")
    return vars(module)


def _is_ours(filename: str) -> bool:
    return filename in (__file__, "<frozen runpy>") or filename.endswith("runpy.py")


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
