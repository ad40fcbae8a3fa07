"""The global step, as the lines that a task writes mention it."""

from __future__ import annotations

import re

# "loss = 0.5, step = 100", "global step 40", "global_step: 7", "Saving checkpoints for 100 into …"; not
# "step/sec: 12", nor "step 0.5".
_STEP = re.compile(
    r"(?:\bsteps?\b|\bglobal_step\b)['\"]?\s*[=:#]?\s*(\d+)\b(?!\.\d)|\bcheckpoints for (\d+) into\b", re.I
)


def global_step(line: str) -> int | None:
    """The last step that a line of a log mentions, if there is one."""
    found = None
    for match in _STEP.finditer(line):
        found = int(match.group(1) or match.group(2))
    return found
