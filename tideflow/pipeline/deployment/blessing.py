"""The blessing: one verdict on a model, of its evaluation and of its canary, that the push asks for."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tideflow.graph import errors
from tideflow.pipeline.deployment.canary import CanaryResult
from tideflow.pipeline.evaluation.validation import reasons as reasons_of

PathLike = str | os.PathLike[str]
BLESSED, NOT_BLESSED, FILE = "BLESSED", "NOT_BLESSED", "blessing.json"
_PART = 1 << 20


@dataclass
class Blessing:
    """A verdict on a model.

    Args:
      ok: Whether the model may be pushed.
      model: The digest of the model's files: the verdict is on these and no others.
      reasons: Why it may not, a sentence for each reason.
      canary: What the canary saw, if there was one.
    """

    ok: bool
    model: str
    reasons: list[str] = field(default_factory=list)
    canary: dict[str, Any] | None = None


def bless(
    model_dir: PathLike,
    validation: Any = None,
    canary: CanaryResult | None = None,
    output_path: PathLike | None = None,
) -> Blessing:
    """Gives the verdict on a model.

    Args:
      model_dir: The model's folder.
      validation: The ValidationResult of its evaluation; None if it was not evaluated.
      canary: What the canary saw; None if there was none.
      output_path: A folder for the verdict: `blessing.json`, and an empty file BLESSED or NOT_BLESSED.

    Returns:
      The verdict. A model that was neither evaluated nor tried is not blessed.
    """
    reasons = []
    if validation is None and canary is None:
        reasons.append("the model was neither evaluated nor tried by a canary")
    if validation is not None and not validation.validation_ok:
        reasons += reasons_of(validation) or ["the evaluation did not pass"]
    if canary is not None and not canary.ok:
        reasons += [f"canary: {failure}" for failure in canary.failures]
    seen = canary.as_dict() if canary is not None else None
    blessing = Blessing(not reasons, digest_of(model_dir), reasons, seen)
    if output_path is not None:
        write_blessing(blessing, output_path)
    return blessing


def digest_of(model_dir: PathLike) -> str:
    """The digest of a model's files, by their names and contents."""
    root = Path(model_dir)
    if not root.is_dir():
        raise errors.not_found(f"there is no model at {root}")
    digest = hashlib.sha256()
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        own = hashlib.sha256()
        with path.open("rb") as file:
            while part := file.read(_PART):
                own.update(part)
        digest.update(f"{path.relative_to(root).as_posix()}\0{own.hexdigest()}\n".encode())
    return digest.hexdigest()


def write_blessing(blessing: Blessing, output_path: PathLike) -> None:
    """Writes a verdict into a folder; one that was there before is replaced."""
    folder = Path(output_path)
    folder.mkdir(parents=True, exist_ok=True)
    yes, no = (BLESSED, NOT_BLESSED) if blessing.ok else (NOT_BLESSED, BLESSED)
    (folder / no).unlink(missing_ok=True)
    (folder / FILE).write_text(json.dumps(vars(blessing), indent=2))
    (folder / yes).touch()


def load_blessing(output_path: PathLike) -> Blessing:
    """Reads a verdict from its folder.

    Args:
      output_path: The folder that `bless` wrote to.
    """
    path = Path(output_path) / FILE
    try:
        return Blessing(**json.loads(path.read_text()))
    except FileNotFoundError:
        raise errors.not_found(f"{output_path} has no {FILE}") from None
    except (TypeError, ValueError) as error:
        raise errors.data_loss(f"{path} is no blessing: {error}") from None
