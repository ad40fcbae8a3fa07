"""Paths of features as text: steps joined by dots, quoted where a step could be misread."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A step stands without quotes where it is in parentheses, or has no parenthesis, dot or quote in it.
_PLAIN_STEP = r"\([^()]*\)|[^().']+"
_STEP = re.compile(rf"'((?:''|[^'])*)'|({_PLAIN_STEP})")


def path_text(steps: Sequence[str]) -> str:
    """The text of a path, the key of its anomaly.

    Args:
      steps: The names of the features from the outermost to the one that is meant.
    """
    return ".".join(
        step if re.fullmatch(_PLAIN_STEP, step) else "'" + step.replace("'", "''") + "'" for step in steps
    )


def path_steps(text: str) -> tuple[str, ...]:
    """The steps of a path's text.

    Args:
      text: What `path_text` returned.

    Raises:
      ValueError: The text is not that of a path.
    """
    steps, at = [], 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != "."):
            raise ValueError(
                f"{text!r} is not the path of a feature: steps joined by dots, quoted if need be"
            )
        quoted, plain = found.groups()
        steps.append(plain if quoted is None else quoted.replace("''", "'"))
        at = found.end() + 1
    return tuple(steps)
