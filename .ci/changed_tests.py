"""Runs the tests of what changed, without the slow ones; where nothing did, a core selection (`make check`).

What changed is what git says: against HEAD, and on a branch against where the branch left main. Tests mirror
the package, so `tideflow/train/saver.py` is tested by `tests/train/test_saver.py`, or by `tests/train` where
there is no file of that name. A module of ops is tested by the samples of its ops, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = ["tests/test_layers.py"]
SAMPLES = "tests/ops/test_samples.py"
CORE = ["tests/graph", "tests/session/test_session.py", "tests/compile/test_emit.py"]
MANY = 12  # files and folders of tests: more than that take longer than somebody waits


def main() -> int:
    chosen = selection(changed_files())
    print("== pytest", *chosen, flush=True)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not slow", *chosen], cwd=ROOT, check=False
    ).returncode


def selection(files: list[str]) -> list[str]:
    """What pytest is asked to run for a change of these files."""
    tests = tests_of(files)
    if not tests or len(tests) > MANY:
        why = (
            f"The change reaches {len(tests)} test files and folders"
            if tests
            else "Nothing with tests is changed"
        )
        print(f"== {why}: the core selection (`make test` runs all)")
        return [*ALWAYS, *CORE]
    ops = [f"--ops-of={file}" for file in files if file.startswith("tideflow/ops/") and exists(file)]
    return [*ALWAYS, *tests, *([SAMPLES, *ops] if ops else [])]


def changed_files() -> list[str]:
    """Paths that differ from HEAD or from main, and new ones."""
    listed = [
        _git("diff", "--name-only", "HEAD"),
        _git("ls-files", "--others", "--exclude-standard"),
        _git("diff", "--name-only", "main...HEAD"),
    ]
    return sorted({line for lines in listed for line in lines.splitlines()})


def tests_of(files: list[str]) -> list[str]:
    """The test files and folders that mirror these files; a folder stands for what is in it."""
    found = {mirror for file in files if (mirror := mirror_of(file))}
    return sorted(test for test in found if not any(str(p) in found for p in Path(test).parents))


def mirror_of(file: str) -> str | None:
    """Where the tests of a file are, as near to it as there are any."""
    path = Path(file)
    if (
        path.suffix != ".py"
        or path.parts[0] not in ("tideflow", "tests")
        or path.parts[:2] == ("tests", "oracle")
    ):
        return None
    if path.parts[0] == "tests":
        return file if path.name.startswith("test_") and exists(file) else _folder(path.parent)
    return _folder(Path("tests", *path.parts[1:-1]), f"test_{path.name}")


def _folder(folder: Path, name: str | None = None) -> str | None:
    if name and exists(str(folder / name)):
        return str(folder / name)
    while folder not in (Path("tests"), Path("tests/ops")):  # which would be everything, and every sample
        if exists(str(folder)):
            return str(folder)
        folder = folder.parent
    return None


def exists(path: str) -> bool:
    return (ROOT / path).exists()


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main())
