"""The push of a model into the folder that a server watches, and the way back.

A version appears by one rename, whole; one that is taken back leaves by one rename too, into `.rolled_back`,
which no server looks at.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from tideflow.graph import errors
from tideflow.pipeline.deployment.blessing import Blessing, digest_of, load_blessing
from tideflow.serving.sources import is_model, versions_in

PathLike = str | os.PathLike[str]
ROLLED_BACK = ".rolled_back"
_ATTEMPTS = 100
_STAGED = ".push-"
_YOUNG = 60.0  # seconds; a copy that is older and not locked was left by a push that was killed


def push(
    model_dir: PathLike,
    destination: PathLike,
    blessings: Blessing | PathLike | Sequence[Blessing | PathLike],
    *,
    version: int | None = None,
) -> Path:
    """Pushes a blessed model: copies it beside the versions that are there, and renames it to one of them.

    Args:
      model_dir: The model's folder.
      destination: The folder of the model's versions, which `tideflow serve` watches; it is made if it is not
        there.
      blessings: The verdicts on the model, or the folders that they were written to; at least one.
      version: The new version's number; by default one more than the highest that ever was.

    Returns:
      The folder of the new version. If the newest version has the same files already, that one.

    Raises:
      PermissionError: If the model is not blessed, or the blessing is on other files.
      AlreadyExistsError: If the version is there with other files.
    """
    given = [blessings] if isinstance(blessings, (Blessing, str, os.PathLike)) else list(blessings)
    verdicts = [each if isinstance(each, Blessing) else load_blessing(each) for each in given]
    reasons = [reason for each in verdicts if not each.ok for reason in each.reasons]
    if not verdicts or not all(each.ok for each in verdicts):
        raise PermissionError(f"{model_dir} is not blessed: {'; '.join(reasons) or 'there is no verdict'}")
    model = digest_of(model_dir)
    if any(each.model != model for each in verdicts):
        raise PermissionError(f"{model_dir} is not what was blessed: its files have changed since")
    if not is_model(os.fspath(model_dir)):
        raise errors.invalid_argument(f"{model_dir} holds no model")
    base = Path(destination)
    base.mkdir(parents=True, exist_ok=True)
    _sweep(base)
    there = _versions(base)
    if version is None and there and digest_of(there[max(there)]) == model:
        return there[max(there)]
    staged = base / f"{_STAGED}{secrets.token_hex(6)}"
    staged.mkdir(mode=0o700)
    held = os.open(staged, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        shutil.copytree(model_dir, staged, dirs_exist_ok=True)
        if digest_of(staged) != model:
            raise PermissionError(f"{model_dir} changed while it was copied")
        _sync(staged)
        return _rename(staged, base, version, model)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
        os.close(held)


def _sweep(base: Path) -> None:
    """Removes the copies of pushes that were killed: a push that lives holds the lock of its copy."""
    for staged in base.glob(f"{_STAGED}*"):
        try:
            held = os.open(staged, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # it has just got its number, or was removed
            continue
        try:
            if time.time() - os.fstat(held).st_mtime > _YOUNG:  # else its push may be about to take the lock
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(staged, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(held)


def _rename(staged: Path, base: Path, version: int | None, model: str) -> Path:
    """Gives a whole copy its number. Of two pushes at once, each gets one of its own."""
    for _ in range(_ATTEMPTS):
        number = (
            version if version is not None else 1 + max([0, *_versions(base), *_versions(base / ROLLED_BACK)])
        )
        target = base / str(number)
        try:
            # A rename onto a folder that has files fails: no version is ever written over.
            os.rename(staged, target)
        except OSError:
            if not target.exists():
                raise
            if version is not None:
                if digest_of(target) == model:
                    return target
                raise errors.already_exists(f"{target} is there, with other files") from None
        else:
            _sync_folder(base)
            return target
    raise errors.aborted(f"{base}: other pushes took every number for {_ATTEMPTS} times")


def rollback(destination: PathLike, to: int | None = None) -> int:
    """Takes newer versions back, so that the server serves an older one.

    Args:
      destination: The folder of the model's versions.
      to: The version to go back to; by default the one before the newest.

    Returns:
      The version that is the newest now.

    Raises:
      FailedPreconditionError: If there is no version to go back to.
    """
    base = Path(destination)
    there = _versions(base)
    if not there:
        raise errors.failed_precondition(f"{base} has no version")
    older = [number for number in there if number < max(there)]
    target = to if to is not None else max(older, default=None)
    if target is None:
        raise errors.failed_precondition(f"{base} has no version before {max(there)}")
    if target not in there:
        known = ", ".join(map(str, sorted(there)))
        raise errors.failed_precondition(f"{base} has no version {target}; it has {known}")
    aside = base / ROLLED_BACK
    aside.mkdir(exist_ok=True)
    for number in sorted((number for number in there if number > target), reverse=True):
        place = aside / str(number)
        if place.exists():
            place = aside / f"{number}-{secrets.token_hex(4)}"
        os.rename(there[number], place)
    _sync_folder(base)
    return target


def _versions(base: Path) -> dict[int, Path]:
    if not base.is_dir():
        return {}
    return {number: Path(path) for number, path in versions_in(str(base)).items() if Path(path) != base}


def _sync(folder: Path) -> None:
    """Has the system write a folder's files to the disk, so that a version is whole after a crash too."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        _sync_folder(path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
