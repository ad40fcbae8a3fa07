"""Metadata: runs, executions, artifacts and what execution read and wrote which artifact, in a database.

A row of `artifacts` says that its folder is complete. It is written in the same transaction that says so of
the execution, after the folder has its final name: whatever is not in here was never there.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from tideflow.graph import errors
from tideflow.pipeline.orchestration import fingerprints
from tideflow.pipeline.orchestration.artifacts import TYPES, Artifact

_tables = sql.MetaData()
_runs = sql.Table(
    "runs",
    _tables,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("pipeline", sql.String(200), nullable=False, index=True),
    sql.Column("root", sql.Text, nullable=False),
    sql.Column("state", sql.String(20), nullable=False),
    sql.Column("started", sql.Float, nullable=False),
    sql.Column("ended", sql.Float),
    sql.Column("plan", sql.JSON, nullable=False),  # by node: component, and the nodes that it depends on
)
_executions = sql.Table(
    "executions",
    _tables,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("run", sql.Integer, sql.ForeignKey("runs.id"), nullable=False, index=True),
    sql.Column("pipeline", sql.String(200), nullable=False),
    sql.Column("node", sql.String(200), nullable=False),
    sql.Column("key", sql.String(64), nullable=False, index=True),
    sql.Column(
        "token", sql.String(20), nullable=False
    ),  # names its folders: random, so no two runs share one
    sql.Column("state", sql.String(20), nullable=False),
    sql.Column("attempt", sql.Integer, nullable=False, default=1),
    sql.Column("started", sql.Float, nullable=False),
    sql.Column("ended", sql.Float),
    sql.Column("error", sql.Text),
    sql.Column("refusals", sql.JSON, nullable=False),
    sql.Column("parameters", sql.JSON, nullable=False),
    sql.Column("cached_from", sql.Integer),  # the execution whose outputs are used again
)
_artifacts = sql.Table(
    "artifacts",
    _tables,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("pipeline", sql.String(200), nullable=False),
    sql.Column("type", sql.String(100), nullable=False),
    sql.Column("node", sql.String(200), nullable=False),
    sql.Column("output", sql.String(100), nullable=False),
    sql.Column("uri", sql.Text, nullable=False),
    sql.Column("fingerprint", sql.String(64), nullable=False),
    sql.Column("properties", sql.JSON, nullable=False),
    sql.Column("created", sql.Float, nullable=False),
)
_events = sql.Table(
    "events",
    _tables,
    sql.Column("execution", sql.Integer, sql.ForeignKey("executions.id"), primary_key=True),
    sql.Column("artifact", sql.Integer, sql.ForeignKey("artifacts.id"), primary_key=True, index=True),
    sql.Column("role", sql.String(10), primary_key=True),  # "input" or "output"
    sql.Column("name", sql.String(100), primary_key=True),
)
_digests = sql.Table(
    "digests",
    _tables,
    sql.Column("path", sql.String(1000), primary_key=True),
    sql.Column(
        "stamp", sql.String(100), nullable=False
    ),  # size, time and inode, while which the digest holds
    sql.Column("digest", sql.String(64), nullable=False),
)

RUNNING, COMPLETE, CACHED, FAILED, KILLED = "running", "complete", "cached", "failed", "killed"
REFUSED, SKIPPED = "refused", "skipped"
_USABLE = (COMPLETE, REFUSED)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A finished execution whose outputs can be used again."""

    execution: int
    outputs: dict[str, Artifact]
    refusals: list[str]
    parameters: dict[str, str] = dataclasses.field(default_factory=dict)


class Metadata:
    """A database of metadata.

    Methods raise an UnavailableError if it fails: its disk is full, or its server is gone.
    """

    def __init__(self, url: str) -> None:
        """Opens the database and makes its tables where they are missing.

        Args:
            url: of SQLAlchemy, such as sqlite:////home/ada/taxi/metadata.db.

        Raises:
            InvalidArgumentError: If it is no URL of a database that SQLAlchemy knows.
            FailedPreconditionError: If the package is missing that speaks with the database.
            UnavailableError: If there is no such database, or it cannot be reached.
        """
        self.url = url
        self.engine = _engine(url)
        self._reading = self.engine.execution_options(reads=True)
        if self.engine.dialect.name == "sqlite":
            _prepare_sqlite(self.engine)
        place = self.engine.url.render_as_string(hide_password=True)
        try:
            self._make_tables()
        except sql.exc.DBAPIError:  # perhaps because another process made them at the same time
            try:
                self._make_tables()
            except sql.exc.DBAPIError as error:
                raise errors.unavailable(f"the metadata at {place} cannot be opened: {error.orig}") from None
        _explain_failures(self.engine, place)

    def _make_tables(self) -> None:
        with self.engine.begin() as connection:
            _tables.create_all(connection)

    def close(self) -> None:
        """Closes its connections."""
        self.engine.dispose()

    # ------------------------------------------------------------------------------------------------- runs

    def begin_run(self, pipeline: str, root: Path, plan: Mapping[str, Any]) -> int:
        """Notes that a run begins; its number.

        Args:
            pipeline: the pipeline's name.
            root: where its artifacts are.
            plan: by node, its component and the nodes that it depends on.
        """
        row = {"pipeline": pipeline, "root": str(root), "plan": dict(plan)}
        return self._insert(_runs, state=RUNNING, started=time.time(), **row)

    def resume_run(self, run: int, plan: Mapping[str, Any]) -> None:
        """Notes that a run whose process was killed goes on.

        Args:
            run: its number.
            plan: as of now.
        """
        with self.engine.begin() as connection:
            self._set_run(connection, run, state=RUNNING, ended=None, plan=dict(plan))

    def end_killed_run(self, run: int) -> None:
        """Notes that the process of a run is gone.

        Args:
            run: its number.
        """
        with self.engine.begin() as connection:
            connection.execute(
                sql.update(_executions)
                .where(_executions.c.run == run, _executions.c.state == RUNNING)
                .values(state=KILLED, ended=time.time())
            )
            self._set_run(connection, run, state=KILLED, ended=time.time())

    def end_run(self, run: int, state: str) -> None:
        """Notes how a run ended.

        Args:
            run: its number.
            state: complete, refused or failed.
        """
        with self.engine.begin() as connection:
            self._set_run(connection, run, state=state, ended=time.time())

    def _set_run(self, connection: sql.Connection, run: int, **values: Any) -> None:
        connection.execute(sql.update(_runs).where(_runs.c.id == run).values(**values))

    def runs(self, pipeline: str | None = None) -> list[dict[str, Any]]:
        """All runs, newest first.

        Args:
            pipeline: only those of this one.
        """
        query = sql.select(_runs).order_by(_runs.c.id.desc())
        return self._rows(query if pipeline is None else query.where(_runs.c.pipeline == pipeline))

    def run(self, number: int | None = None) -> dict[str, Any]:
        """One run, or the latest.

        Args:
            number: the run's.

        Raises:
            NotFoundError: If there is no such run.
        """
        found = next((row for row in self.runs() if number is None or row["id"] == number), None)
        if found is None:
            raise errors.not_found("there is no run yet" if number is None else f"there is no run {number}")
        return found

    # ------------------------------------------------------------------------------------------- executions

    def begin_execution(
        self, run: int, node: str, key: str, token: str, parameters: Mapping[str, str]
    ) -> int:
        """Notes that a node begins; the execution's number.

        Args:
            run: the run's number.
            node: the node's name.
            key: the digest of all that its result depends on.
            token: what its folders will be called.
            parameters: in words, for people.
        """
        return self._insert(
            _executions,
            run=run,
            pipeline=self._pipeline_of(run),
            node=node,
            key=key,
            token=token,
            state=RUNNING,
            started=time.time(),
            refusals=[],
            parameters=dict(parameters),
        )

    def set_key(self, execution: int, key: str) -> None:
        """Notes that the result of an execution is that of another key.

        Args:
            execution: its number.
            key: the digest of all that its result depends on.
        """
        with self.engine.begin() as connection:
            connection.execute(sql.update(_executions).where(_executions.c.id == execution).values(key=key))

    def publish(
        self,
        execution: int,
        inputs: Mapping[str, Artifact],
        outputs: Mapping[str, Artifact],
        refusals: Sequence[str],
    ) -> dict[str, Artifact]:
        """Notes that an execution is complete, with what it read and wrote; its outputs with their numbers.

        Args:
            execution: its number.
            inputs: what it read.
            outputs: what it wrote, in folders that have their final names.
            refusals: why what depends on it must not run.

        Raises:
            CancelledError: If its run was interrupted meanwhile.
        """
        now = time.time()
        with self.engine.begin() as connection:
            ended = (
                sql.update(_executions)
                .where(_executions.c.id == execution, _executions.c.state == RUNNING)
                .values(state=REFUSED if refusals else COMPLETE, ended=now, refusals=list(refusals))
            )
            if not connection.execute(ended).rowcount:
                raise errors.cancelled("the run was interrupted")
            row = connection.execute(sql.select(_executions).where(_executions.c.id == execution)).one()
            published = {}
            for name, artifact in outputs.items():
                values = {
                    "pipeline": row.pipeline,
                    "type": artifact.type_name,
                    "node": row.node,
                    "output": name,
                    "uri": str(artifact.uri),
                    "fingerprint": artifact.fingerprint,
                    "properties": artifact.properties,
                    "created": now,
                }
                number = _inserted(connection, _artifacts, values)
                published[name] = dataclasses.replace(artifact, id=number)
            self._note_events(connection, execution, "input", inputs)
            self._note_events(connection, execution, "output", published)
        return published

    def reuse(self, run: int, node: str, key: str, inputs: Mapping[str, Artifact], outcome: Outcome) -> None:
        """Notes that a node had nothing to do.

        Args:
            run: the run's number.
            node: the node's name.
            key: the digest of all that its result depends on.
            inputs: what it would have read.
            outcome: what is used again.
        """
        now = time.time()
        with self.engine.begin() as connection:
            values = {
                "run": run,
                "pipeline": self._pipeline_of(run, connection),
                "node": node,
                "key": key,
                "token": "",
                "state": REFUSED if outcome.refusals else CACHED,
                "started": now,
                "ended": now,
                "refusals": outcome.refusals,
                "parameters": outcome.parameters,
                "cached_from": outcome.execution,
            }
            number = _inserted(connection, _executions, values)
            self._note_events(connection, number, "input", inputs)
            self._note_events(connection, number, "output", outcome.outputs)

    def fail(self, execution: int, error: str, attempt: int, state: str = FAILED) -> None:
        """Notes that an execution failed.

        Args:
            execution: its number.
            error: the error, for people.
            attempt: how often it was tried.
            state: failed, or killed where a person interrupted it.
        """
        with self.engine.begin() as connection:
            connection.execute(
                sql.update(_executions)
                .where(_executions.c.id == execution, _executions.c.state == RUNNING)
                .values(state=state, ended=time.time(), error=error, attempt=attempt)
            )

    def skip(self, run: int, node: str, reasons: Sequence[str]) -> None:
        """Notes that a node did not run.

        Args:
            run: the run's number.
            node: the node's name.
            reasons: why not.
        """
        now = time.time()
        values = {"run": run, "node": node, "key": "", "token": "", "parameters": {}}
        values |= {"started": now, "ended": now, "state": SKIPPED, "refusals": list(reasons)}
        self._insert(_executions, pipeline=self._pipeline_of(run), **values)

    def executions(self, run: int) -> list[dict[str, Any]]:
        """The executions of a run, each with its `inputs` and `outputs`.

        Args:
            run: its number.
        """
        found = self._rows(sql.select(_executions).where(_executions.c.run == run).order_by(_executions.c.id))
        for each in found:
            for role in ("input", "output"):
                each[f"{role}s"] = self._artifacts_of(each["id"], role)
        return found

    def ended_tokens(self, pipeline: str) -> list[tuple[str, str, bool]]:
        """Of executions that have ended: node, token, and whether they published what they wrote.

        Args:
            pipeline: the pipeline's name.
        """
        columns = _executions.c
        ended = (columns.pipeline == pipeline, columns.state.in_((KILLED, FAILED, *_USABLE)))
        query = sql.select(columns.node, columns.token, columns.state).where(*ended, columns.token != "")
        rows = self._rows(query)
        return [(row["node"], row["token"], row["state"] in _USABLE) for row in rows]

    # -------------------------------------------------------------------------------------------- artifacts

    def find_outcome(self, pipeline: str, node: str, key: str) -> Outcome | None:
        """The newest execution of a node with this key whose outputs are all still as it left them.

        Args:
            pipeline: the pipeline's name.
            node: the node's name.
            key: the digest of all that its result depends on.
        """
        at_node = (_executions.c.pipeline == pipeline, _executions.c.node == node, _executions.c.key == key)
        did = (_executions.c.state.in_(_USABLE), _executions.c.cached_from.is_(None))
        query = sql.select(_executions).where(*at_node, *did)
        for row in self._rows(query.order_by(_executions.c.id.desc())):
            outputs = self._artifacts_of(row["id"], "output")
            if all(self._is_whole(artifact) for artifact in outputs.values()):
                return Outcome(row["id"], outputs, row["refusals"], row["parameters"])
        return None

    def artifacts_at(self, pipeline: str, node: str, output: str) -> list[Artifact]:
        """What a node has written in all runs, newest first.

        Args:
            pipeline: the pipeline's name.
            node: the node's name.
            output: the output's name.
        """
        at_output = (
            _artifacts.c.pipeline == pipeline,
            _artifacts.c.node == node,
            _artifacts.c.output == output,
        )
        query = sql.select(_artifacts).where(*at_output).order_by(_artifacts.c.id.desc())
        return [_artifact(row) for row in self._rows(query)]

    def is_blessed(self, artifact: Artifact) -> bool:
        """Whether blessings were given for an artifact, and each of the newest says yes.

        Args:
            artifact: a model.
        """
        # Of the input `model`: whatever else an execution read, such as a baseline, it did not judge.
        judging = sql.select(_events.c.execution).where(
            _events.c.artifact == artifact.id, _events.c.role == "input", _events.c.name == "model"
        )
        query = (
            sql.select(_artifacts)
            .join(_events, _events.c.artifact == _artifacts.c.id)
            .where(_events.c.execution.in_(judging), _events.c.role == "output")
            .where(_artifacts.c.type.in_(("ModelBlessing", "InfraBlessing")))
            .order_by(_artifacts.c.id)
        )
        newest = {row["node"]: _artifact(row) for row in self._rows(query)}
        return bool(newest) and all(each.properties.get("blessed") for each in newest.values())

    def _is_whole(self, artifact: Artifact) -> bool:
        return artifact.uri.is_dir() and self.fingerprint_of(artifact.uri) == artifact.fingerprint

    def fingerprint_of(self, path: Path) -> str:
        """The digest of a file or folder; files that have not changed since are not read again.

        Args:
            path: the file or folder.
        """
        files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
        stamps = {str(file): _stamp(file) for file in files}
        with self._reading.connect() as connection:
            query = sql.select(_digests).where(_digests.c.path == sql.bindparam("file"))
            rows = [connection.execute(query, {"file": file}).one_or_none() for file in stamps]
        known: dict[str, str] = {
            row.path: row.digest for row in rows if row is not None and row.stamp == stamps[row.path]
        }
        new = [
            {"path": file, "stamp": stamp, "digest": fingerprints.of_file(file)}
            for file, stamp in stamps.items()
            if file not in known
        ]
        known |= {each["path"]: each["digest"] for each in new}
        if new:
            self._keep_digests(new)
        if path.is_file():
            return known[str(path)]
        return fingerprints.of_folder(path, lambda file: known[str(file)])

    def _keep_digests(self, new: Sequence[Mapping[str, str]]) -> None:
        try:
            with self.engine.begin() as connection:
                paths = [each["path"] for each in new]
                connection.execute(sql.delete(_digests).where(_digests.c.path.in_(paths)))
                connection.execute(sql.insert(_digests), new)
        except sql.exc.IntegrityError:  # another process has just noted them too
            pass

    # ---------------------------------------------------------------------------------------------- details

    def _artifacts_of(self, execution: int, role: str) -> dict[str, Artifact]:
        query = (
            sql.select(_artifacts, _events.c.name)
            .join(_events, _events.c.artifact == _artifacts.c.id)
            .where(_events.c.execution == execution, _events.c.role == role)
        )
        return {row["name"]: _artifact(row) for row in self._rows(query)}

    def _note_events(
        self, connection: sql.Connection, execution: int, role: str, artifacts: Mapping[str, Artifact]
    ) -> None:
        rows = [
            {"execution": execution, "artifact": artifact.id, "role": role, "name": name}
            for name, artifact in artifacts.items()
        ]
        if rows:
            connection.execute(sql.insert(_events), rows)

    def _pipeline_of(self, run: int, connection: sql.Connection | None = None) -> str:
        query = sql.select(_runs.c.pipeline).where(_runs.c.id == run)
        if connection is not None:
            return str(connection.execute(query).scalar_one())
        with self._reading.connect() as own:
            return str(own.execute(query).scalar_one())

    def _insert(self, table: sql.Table, **values: Any) -> int:
        with self.engine.begin() as connection:
            return _inserted(connection, table, values)

    def _rows(self, query: sql.Select[Any]) -> list[dict[str, Any]]:
        with self._reading.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


def _inserted(connection: sql.Connection, table: sql.Table, values: Mapping[str, Any]) -> int:
    """Inserts a row; its number."""
    key: Any = connection.execute(sql.insert(table).values(**values)).inserted_primary_key
    return int(key[0])


def _engine(url: str) -> sql.Engine:
    try:
        return sql.create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise errors.failed_precondition(
            f"a database of {url.partition(':')[0]} needs the package {error.name}: pip install {error.name}"
        ) from None
    except sql.exc.ArgumentError as error:  # an unknown kind of database is one of these
        raise errors.invalid_argument(
            f"{error}: the metadata's place is a URL of SQLAlchemy, such as sqlite:////folder/metadata.db"
        ) from None


def _explain_failures(engine: sql.Engine, place: str) -> None:
    """Has the failures of a database say whose they are, in one line."""

    @sql.event.listens_for(engine, "handle_error")
    def on_error(context: sql.ExceptionContext) -> None:
        failure = context.sqlalchemy_exception
        # A ping only asks whether a connection is still there; rows that are there already are no failure.
        if isinstance(failure, sql.exc.DBAPIError) and not (
            context.is_pre_ping or isinstance(failure, sql.exc.IntegrityError)
        ):
            raise errors.unavailable(f"the metadata at {place} failed: {failure.orig}")


def _artifact(row: Mapping[str, Any]) -> Artifact:
    kind = TYPES.get(row["type"], Artifact)
    return kind(Path(row["uri"]), dict(row["properties"]), row["fingerprint"], row["id"])


def _stamp(file: Path) -> str:
    found = os.stat(file)
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


def _prepare_sqlite(engine: sql.Engine) -> None:
    """Several processes write one file: a writer waits for another from its first statement on."""

    @sql.event.listens_for(engine, "connect")
    def on_connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # this module begins transactions itself
        connection.execute("PRAGMA busy_timeout = 60000")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # whole after a kill, and after a power cut too
        connection.execute("PRAGMA foreign_keys = ON")

    @sql.event.listens_for(engine, "begin")
    def on_begin(connection: sql.Connection) -> None:
        reads = connection.get_execution_options().get("reads")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
