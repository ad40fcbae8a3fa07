"""Runs pytest with the given arguments; if a few tests fail, runs those once more, alone (`make test`).

Among thousands of tests with real processes on two cores, a thread is now and then not scheduled for
seconds. What is broken fails again. What passes alone is named at the end of the run: there is a race, in
the test or in what it tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 3
SOME_FAILED = 1  # pytest's exit code; others mean that it did not come to its end
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")


def main(arguments: list[str]) -> int:
    code = pytest(arguments)
    if code != SOME_FAILED:
        return code
    failed = list(json.loads(LAST_FAILED.read_text()))
    if len(failed) > MOST:
        return code
    print("== Once more, alone:", *failed, flush=True)
    code = pytest(failed)
    if code == 0:
        print("== These failed beside others and passed alone:", *failed, flush=True)
    return code


def pytest(arguments: list[str]) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", "-q", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
