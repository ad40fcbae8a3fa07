"""Sessions and servers, for the C API."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions

from tideflow.capi.graphs import output, parsed
from tideflow.cluster.cluster_spec import ServerDef
from tideflow.cluster.server import Server
from tideflow.graph import errors
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.errors import type_name
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.saved_model.loader import SavedModelLoader
from tideflow.session.session import Session

Fetches = list[Tensor | Operation]


def array_types() -> dict[int, Any]:
    """The NumPy dtypes of the types that have one, by number."""
    types = [as_dtype(number) for number in range(1, as_dtype("uint64").as_datatype_enum + 1)]
    return {dtype.as_datatype_enum: np.dtype(dtype.numpy) for dtype in types if dtype.numpy is not None}


def check_config(config: bytes) -> None:
    _config(config)


def _config(data: bytes) -> ConfigProto:
    return parsed(ConfigProto, data, "Unparseable ConfigProto")


def new_session(graph: Graph, target: str, config: bytes) -> Session:
    return Session(target, graph, _config(config))


def load_saved_model(
    graph: Graph, target: str, config: bytes, export_dir: str, tags: list[str]
) -> tuple[Session, bytes]:
    """A session with a MetaGraph of a SavedModel, and the MetaGraphDef."""
    if graph.get_operations():
        raise errors.invalid_argument("Graph is non-empty.")
    try:
        loader = SavedModelLoader(export_dir)
    except OSError:
        raise errors.not_found(
            f"Could not find SavedModel .pb or .pbtxt at supplied export directory path: {export_dir}"
        ) from None
    try:
        loader.get_meta_graph_def_from_tags(tags)
    except RuntimeError:
        raise errors.not_found(
            f"Could not find meta graph def matching supplied tags: {{ {' '.join(tags)} }}. To inspect "
            "available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`"
        ) from None
    session = new_session(graph, target, config)
    try:
        return session, loader.load(session, tags).SerializeToString()
    except BaseException:
        session.close()
        raise


def close(session: Session) -> None:
    session.close()


def run(session: Session, fetches: Fetches, feeds: dict[Tensor, Any]) -> list[Any]:
    """Runs a step that the session has not run before, or that has failed."""
    _check_open(session)
    _check_feeds(feeds)
    if not fetches:
        raise errors.invalid_argument("Must specify at least one target to fetch or execute.")
    return session.run(fetches, feeds)


def run_with_options(
    session: Session, fetches: Fetches, feeds: dict[Tensor, Any], options: bytes, wants_metadata: bool
) -> tuple[list[Any], bytes]:
    """Runs a step with RunOptions; returns its results and a RunMetadata."""
    _check_open(session)
    _check_feeds(feeds)
    metadata = RunMetadata() if wants_metadata else None
    results = session.run(
        fetches, feeds, parsed(RunOptions, options, "Unparseable RunOptions proto"), metadata
    )
    return results, b"" if metadata is None else metadata.SerializeToString()


def check_step(feeds: list[Tensor], fetches: list[Tensor]) -> None:
    """Raises InvalidArgumentError where a tensor is fed twice, or fed and fetched."""
    for tensor in feeds:
        if feeds.count(tensor) > 1:
            raise errors.invalid_argument(f'Endpoint "{tensor.name}" fed more than once.')
        if tensor in fetches:
            raise errors.invalid_argument(f"{tensor.name} is both fed and fetched.")


def refuse_type(index: int, wanted: int, given: int) -> NoReturn:
    """Raises InvalidArgumentError: a value of another type was fed than the tensor has."""
    names = [type_name(as_dtype(number)) for number in (wanted, given)]
    raise errors.invalid_argument(f"Expects arg[{index}] to be {names[0]} but {names[1]} is provided")


def _check_open(session: Session) -> None:
    if session._closed:
        raise errors.cancelled("Session has been closed.")


def _check_feeds(feeds: dict[Tensor, Any]) -> None:
    for tensor in feeds:
        if not tensor.graph.is_feedable(tensor):
            raise errors.invalid_argument(f"Tensor {tensor.name} may not be fed.")


def partial_run_setup(session: Session, fetches: Fetches, feeds: list[Tensor]) -> str:
    _check_open(session)
    return session.partial_run_setup(fetches, feeds)


def partial_run(session: Session, handle: str, fetches: Fetches, feeds: dict[Tensor, Any]) -> list[Any]:
    _check_open(session)
    return session.partial_run(handle, fetches, feeds)


def devices(session: Session) -> list[tuple[str, str, int, int]]:
    return [
        (device.name, device.device_type, device.memory_limit_bytes, device.incarnation)
        for device in session.list_devices()
    ]


def tensor_by_name(graph: Graph, name: str) -> Tensor:
    """The tensor "op:0" or "op", as sessions of the older kind name it."""
    op_name, _, index = name.partition(":")
    if op_name not in graph._by_name:
        key = name if ":" in name else f"{name}:0"
        raise errors.invalid_argument(
            f"Tensor {key}, specified in either feed_devices or fetch_devices was not found in the Graph"
        )
    return output(graph._by_name[op_name], int(index or 0))


def operation_by_name(graph: Graph, name: str) -> Operation:
    if name not in graph._by_name:
        raise errors.not_found(f"PruneForTargets: Some target nodes not found: {name}")
    return graph._by_name[name]


def reset(target: str, config: bytes, containers: list[str]) -> None:
    Session.reset(target, containers, _config(config))


# ------------------------------------------------------------------------------------------------ servers


def new_server(data: bytes) -> Server:
    definition = parsed(ServerDef, data, "Could not parse provided bytes into a ServerDef protocol buffer")
    if not definition.protocol.startswith("grpc"):
        raise errors.not_found(
            f"No server factory registered for the given ServerDef: {definition}\n"
            "The available server factories are: [ GRPC_SERVER ]"
        )
    return Server(definition, start=False)


def start_server(server: Server) -> None:
    server.start()


def stop_server(server: Server) -> None:
    server.stop()


def join_server(server: Server) -> None:
    server.join()


def server_target(server: Server) -> str:
    return server.target
