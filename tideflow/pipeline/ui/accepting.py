"""Accepting the suggested change of a schema: it is made in the file that people edit."""

from __future__ import annotations

import threading
from pathlib import Path

from tideflow.graph import errors
from tideflow.pipeline import validation
from tideflow.pipeline.orchestration.data_components import load_anomalies
from tideflow.pipeline.orchestration.metadata import Metadata
from tideflow.pipeline.schema import load_schema_text, write_schema_text


class Accepting:
    """Remembers which changes were accepted, so that a further one is made on top of them."""

    def __init__(self, store: Metadata) -> None:
        self._store = store
        self._accepted: dict[tuple[int, str], list[int]] = {}  # by anomalies and split
        self._lock = threading.Lock()

    def file_of(self, run: int) -> Path | None:
        """The schema that people edit, where the run has one.

        Args:
            run: its number.
        """
        for execution in self._store.executions(run):
            for artifact in execution["outputs"].values():
                if artifact.type_name == "Schema" and artifact.properties.get("file"):
                    return Path(artifact.properties["file"])
        return None

    def accept(self, run: int, artifact: int, split: str, number: int) -> str:
        """Changes the file; says so.

        Args:
            run: the run's number.
            artifact: the number of the anomalies.
            split: whose anomalies.
            number: of the suggested change.

        Raises:
            NotFoundError: If the run has no such anomalies, or no file.
            AbortedError: If the file was changed since the run.
        """
        with self._lock:
            file = self.file_of(run)
            found = [
                each
                for execution in self._store.executions(run)
                for each in execution["outputs"].values()
                if each.id == artifact and each.type_name == "ExampleAnomalies" and split in each.splits
            ]
            if file is None or not found:
                raise errors.not_found(f"run {run} has no such anomaly, or its schema is in no file")
            anomalies = load_anomalies(found[0], split)
            before = self._accepted.get((artifact, split), [])
            expected = validation.accept(anomalies, before) if before else anomalies.baseline
            if load_schema_text(str(file)) != expected:
                raise errors.aborted(f"{file} was changed since this run: run the pipeline again")
            now = sorted({*before, number})
            write_schema_text(validation.accept(anomalies, now), file)
            self._accepted[artifact, split] = now
            return f"{file} is changed. The next run uses it."
