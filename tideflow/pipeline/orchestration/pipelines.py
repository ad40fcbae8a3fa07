"""A pipeline: named components, the folder that they write to, and the database of its metadata."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tideflow.graph import errors
from tideflow.pipeline.orchestration.components import Node
from tideflow.pipeline.orchestration.schedule import Schedule

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
CREATE = "create_pipeline"


@dataclasses.dataclass
class Pipeline:
    """Components that run together.

    Args:
        name: what runs, caches and lineage are kept under.
        root: the folder of its artifacts; made where it is missing, for its user alone.
        components: the nodes, in any order.
        metadata: a URL of SQLAlchemy; by default the SQLite file `metadata.db` in `root`.
        retries: how often a component is tried again after an error that may pass: of files, connections, and
            what TensorFlow calls unavailable, aborted or exhausted.
        workers: how many processes the engine may use; by default as many as there are cores.
        ray: the address of a Ray cluster for the engine.
        at_once: how many components that do not depend on each other run at the same time; by default as many
            as there are cores.
    """

    name: str
    root: Path
    components: Sequence[Node]
    metadata: str | None = None
    retries: int = 2
    workers: int | None = None
    ray: str | None = None
    at_once: int | None = None

    def __post_init__(self) -> None:
        self.root = Path(self.root).absolute()
        names = [node.name for node in self.components]
        for name in (self.name, *names):
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name: letters, digits, _, - and . can be in one")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                f"{self.name} has {', '.join(twice)} twice: give one of them another name by named()"
            )
        if self.at_once is not None and self.at_once < 1:
            raise ValueError(f"at_once is to be 1 or more, and is {self.at_once}")
        self.schedule()

    @property
    def metadata_url(self) -> str:
        """Where its metadata are."""
        return self.metadata or metadata_url(self.root)

    def schedule(self) -> Schedule:
        """Its components in order."""
        return Schedule(
            {node.name: [other.name for other in node.dependencies()] for node in self.components},
            self.at_once or len(os.sched_getaffinity(0)),
            {node.name for node in self.components if node.is_alone},
        )

    def plan(self) -> dict[str, Any]:
        """By node, what it is and what it depends on, as the metadata keep it."""
        return {
            node.name: {
                "component": node.component.name,
                "after": sorted({other.name for other in node.dependencies()}),
            }
            for node in self.components
        }


def metadata_url(root: Path) -> str:
    """The URL of the database that a pipeline has in its folder.

    Args:
        root: the folder.
    """
    return f"sqlite:///{root.absolute() / 'metadata.db'}"


def load(file: str | Path, settings: Mapping[str, str] = {}, root: Path | None = None) -> Pipeline:
    """Runs a program and asks its `create_pipeline` for the pipeline.

    Args:
        file: the program.
        settings: arguments for `create_pipeline` as text: Python literals, or else strings; `true`, `false`
            too where the default is a truth value.
        root: the folder of the pipeline. A `create_pipeline` with an argument of this name is told: what it
            puts beside its artifacts (data, the models that it pushes) goes there too.

    Raises:
        NotFoundError: If there is no such file.
        InvalidArgumentError: If it defines no `create_pipeline`, that takes no such arguments, or one is a
            text instead of a number.
    """
    path = Path(file).absolute()
    if not path.is_file():
        raise errors.not_found(f"there is no file {file}")
    module = _run(path)
    create = getattr(module, CREATE, None)
    if create is None:
        raise errors.invalid_argument(f"{file} defines no function {CREATE}, which would return a Pipeline")
    signature = inspect.signature(create)
    defaults = {name: each.default for name, each in signature.parameters.items()}
    arguments = {name: _literal(text, defaults.get(name)) for name, text in settings.items()}
    if root is not None and "root" in signature.parameters:
        arguments.setdefault("root", str(root))
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise errors.invalid_argument(f"{CREATE} of {file}: {error}") from None
    for name, value in arguments.items():
        usual = defaults.get(name)
        if isinstance(usual, (int, float)) and isinstance(value, str):
            kind = type(usual).__name__
            raise errors.invalid_argument(
                f"{CREATE} of {file}: {name} is to be of type {kind}, not {value!r}"
            )
    try:
        made = create(**arguments)
    except ValueError as error:  # of the program: its place is not in its words
        line = traceback.extract_tb(error.__traceback__)[-1]
        raise errors.invalid_argument(
            f"{CREATE} of {file} failed at {line.filename}:{line.lineno}: {error}"
        ) from error
    if not isinstance(made, Pipeline):
        raise errors.invalid_argument(f"{CREATE} of {file} is to return a Pipeline, and returned {made!r}")
    return made if root is None else dataclasses.replace(made, root=root)


def _run(path: Path) -> Any:
    """Imports a file by its path. Processes of the engine import it again, by its name."""
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise errors.invalid_argument(f"{path} is no program: its name does not end with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _literal(text: str, usual: Any) -> Any:
    if isinstance(usual, bool) and text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
