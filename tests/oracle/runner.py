"""Starts the engines that are compared, once a file of programs, and keeps what TensorFlow said.

ORACLE picks the environment that is the truth: tf1 (default, TensorFlow 1.15) or tf2 (2.x's compat.v1).
SUBJECT picks who is tested: tideflow (default), tf1 or tf2; tf1 against tf1 finds what depends on chance.
tf1-client and tf2-client are TensorFlow's clients, whose sessions run on a Tideflow server.
"""

import hashlib
import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ENVIRONMENTS = ROOT / ".oracles"
ORACLE = os.environ.get("ORACLE", "tf1")
SUBJECT = os.environ.get("SUBJECT", "tideflow")
MODULES = {"tf1": "tensorflow", "tf2": "compat.v1", "tideflow": "tideflow"}
CLIENT = "-client"
SECONDS_A_FILE = 1800


def command(side, script, *arguments):
    """The command line that runs a script of this folder in an engine's environment."""
    environment = side.removesuffix(CLIENT)
    if side.endswith(CLIENT) and script == "engine.py":
        script = "remote_engine.py"
    python = sys.executable if side == "tideflow" else str(ENVIRONMENTS / environment / "bin" / "python")
    return [python, str(HERE / script), MODULES[environment], *map(str, arguments)]


def start(side, script, *arguments):
    """Runs a script to its end; its exit status and the end of what it said."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    quiet["TIDEFLOW_PYTHON"] = sys.executable
    done = subprocess.run(
        command(side, script, *arguments),
        env={**os.environ, **quiet},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=SECONDS_A_FILE,
        check=False,
    )
    return done.returncode, done.stderr.decode(errors="replace")[-3000:]


def run_file(side, path, names, script="engine.py"):
    """Results by program. An engine that dies is started again with what is left."""
    results, left = {}, list(names)
    while left:
        with tempfile.NamedTemporaryFile(suffix=".pickle") as stream:
            status, said = start(side, script, path, stream.name, *left)
            begun = None
            for event, name, *value in _events(stream):
                begun = name
                if event == "result":
                    results[name] = value[0]
        if begun is None:
            return {name: _died(status, said) for name in names}
        results.setdefault(begun, _died(status, said))
        left = [name for name in left if name not in results]
    return results


def _events(stream):
    stream.seek(0)
    while True:
        try:
            yield pickle.load(stream)
        except EOFError:
            return


def _died(status, said):
    return {"kind": "failed", "type": f"engine ended with status {status}", "message": said}


def cached(key_files, name, make):
    """What `make()` gave for these very files; kept beside the oracles' environments."""
    digest = hashlib.sha256(b"".join(Path(f).read_bytes() for f in key_files)).hexdigest()[:20]
    path = ENVIRONMENTS / "cache" / ORACLE / f"{name}-{digest}.pickle"
    if path.exists():
        return pickle.loads(path.read_bytes())
    value = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f"{name}-{'?' * 20}.pickle"):
        old.unlink()
    path.write_bytes(pickle.dumps(value))
    return value


def cached_each(key_files, name, cases, ask):
    """What `ask` gave for each case by name: only those are asked that are new, or for new files."""
    program = hashlib.sha256(b"".join(Path(f).read_bytes() for f in key_files)).digest()
    keys = {
        case: hashlib.sha256(program + pickle.dumps((case, given), protocol=4)).hexdigest()
        for case, given in cases.items()
    }
    path = ENVIRONMENTS / "cache" / ORACLE / f"{name}.pickle"
    known = pickle.loads(path.read_bytes()) if path.exists() else {}
    new = [case for case, key in keys.items() if key not in known]
    if new:
        known.update((keys[case], value) for case, value in ask(new).items())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(known))
    return {case: known[key] for case, key in keys.items()}


def _helpers(path):
    """The modules beside this one, other than the kit, that a file of programs imports."""
    imported = re.findall(r"^from (\w+) import", path.read_text(), re.MULTILINE)
    return [HERE / f"{name}.py" for name in imported if name != "kit" and (HERE / f"{name}.py").exists()]


class Results:
    """What the truth and the subject say of each program of a file; each engine starts once a file."""

    def __init__(self):
        self._known = {}

    def of(self, path, names):
        """(expected, actual), each a dictionary by program."""
        if path not in self._known:
            truth = [path, HERE / "kit.py", HERE / "engine.py", *_helpers(path)]
            expected = cached(truth, path.stem, lambda: run_file(ORACLE, path, names))
            self._known[path] = (expected, run_file(SUBJECT, path, names))
        return self._known[path]


def exchange(script, folder):
    """Lets each side write under its name, and read what the other wrote into `<writer>.read`; the folder."""
    for side in (ORACLE, SUBJECT):
        run(side, script, "write", folder / side)
    for writer, reader in ((ORACLE, SUBJECT), (SUBJECT, ORACLE)):
        run(reader, script, "read", folder / writer, folder / f"{writer}.read")
    return folder


def run(side, script, *arguments):
    """Runs a script to its end, which is to be a good one."""
    status, said = start(side, script, *arguments)
    assert status == 0, f"{side} could not run {script} {' '.join(map(str, arguments))}:\n{said}"
