"""Asks the originals, keeps what they said, and compares it with what Tideflow says."""

import hashlib
import math
import os
import pickle
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent.parent / ".oracles"
PYTHON = ENVIRONMENTS / "tfx" / "bin" / "python"


def ask_original(program, given=None):
    """The answers of a program's `original`, from the cache where neither the program nor the kit changed."""
    parts = [path.read_bytes() for path in [HERE / "original.py", *_imported(program, [])]]
    given = None if given is None else pickle.dumps(given, protocol=4)
    key = hashlib.sha256(b"\0".join([*parts, given or b""])).hexdigest()[:32]
    kept = ENVIRONMENTS / "cache" / f"pipeline-{program.stem}-{key}.pickle"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        arguments = [PYTHON, HERE / "original.py", program, written]
        if given is not None:
            arguments.append(kept.with_suffix(f".given.{os.getpid()}"))
            arguments[-1].write_bytes(given)
        environment = {**os.environ, "PYTHONPATH": str(HERE), "CUDA_VISIBLE_DEVICES": ""}
        done = subprocess.run(arguments, env=environment, capture_output=True, text=True)
        if given is not None:
            arguments[-1].unlink()
        if done.returncode:
            raise RuntimeError(f"the original of {program.name} failed:\n{done.stderr[-4000:]}")
        written.rename(kept)
    return pickle.loads(kept.read_bytes())


def _imported(path, found):
    """A file, and the files of this folder that it imports."""
    if path not in found:
        found.append(path)
        for name in re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(), re.MULTILINE):
            if (HERE / f"{name}.py").exists():
                _imported(HERE / f"{name}.py", found)
    return found


def differences(original, ours, rtol=0.0, atol=0.0, at=""):
    """The places where two answers differ, each with both values."""
    if isinstance(original, dict) and isinstance(ours, dict):
        found = []
        for key in sorted({*original, *ours}, key=str):
            place = f"{at}.{key}" if at else str(key)
            if key not in original or key not in ours:
                found.append(f"{place}: {original.get(key, '(nothing)')!r} != {ours.get(key, '(nothing)')!r}")
            else:
                found += differences(original[key], ours[key], rtol, atol, place)
        return found
    if isinstance(original, list | tuple) and isinstance(ours, list | tuple):
        if len(original) != len(ours):
            return [f"{at}: {len(original)} elements != {len(ours)}: {original!r} != {ours!r}"]
        pairs = enumerate(zip(original, ours, strict=True))
        return [found for i, (a, b) in pairs for found in differences(a, b, rtol, atol, f"{at}[{i}]")]
    if isinstance(original, float) or isinstance(ours, float):
        return [] if _close(original, ours, rtol, atol) else [f"{at}: {original!r} != {ours!r}"]
    same = original == ours and isinstance(original, bool) == isinstance(ours, bool)
    return [] if same else [f"{at}: {original!r} != {ours!r}"]


def _close(a, b, rtol, atol):
    if not all(isinstance(x, int | float) for x in (a, b)):
        return False
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= atol + rtol * abs(a)
