"""Configuration: TensorFlow Serving's flags by their names, its files, and what this server has beside."""

from __future__ import annotations

import argparse
import math
import os
import ssl
from collections.abc import Sequence
from functools import partial
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message

from tideflow.graph import errors
from tideflow.graph.own_protos import make_messages
from tideflow.io.local_files import check_regular, local_path, read_bytes
from tideflow.launch.processes import file_in_memory, path_of
from tideflow.serving import messages
from tideflow.serving.batch_sizes import AIMD, QuantileRegression
from tideflow.serving.batching import BatchingOptions, from_parameters
from tideflow.serving.servables import Batching
from tideflow.serving.sources import models_in

# ------------------------------------------------------------------------------------------------------ flags

# TensorFlow Serving's: name, default, what it does.
_FLAGS: tuple[tuple[str, Any, str], ...] = (
    ("port", 8500, "the port of gRPC; 0 for none, -1 for any that is free"),
    ("grpc_socket_path", "", "a UNIX socket at which gRPC is answered too"),
    ("rest_api_port", 8501, "the port of REST and of the page to look at; the same"),
    ("rest_api_timeout_in_ms", 30000, "how long a REST request may take"),
    ("rest_api_enable_cors_support", False, "let pages of other sites send requests"),
    ("enable_batching", True, "compute the requests of several clients together"),
    ("batching_parameters_file", "", "BatchingParameters, instead of adaptive batch sizes"),
    ("enable_per_model_batching_parameters", False, "read batching_params.pbtxt in each version's folder"),
    ("model_config_file", "", "a ModelServerConfig"),
    ("model_config_file_poll_wait_seconds", 0, "read that file so often; 0 or less for once"),
    ("model_name", "default", "the name of the model at --model_base_path"),
    ("model_base_path", "", "the directory of a single model's versions"),
    ("allow_version_labels_for_unavailable_models", True, "labels wait for their version, or are refused"),
    (
        "force_allow_any_version_labels_for_unavailable_models",
        False,
        "a label that is moved means its new version at once, though that is not there yet",
    ),
    ("max_num_load_retries", 5, "how often a version that cannot be loaded is tried again"),
    ("load_retry_interval_micros", 60_000_000, "the pause between those; 0 or less for none"),
    ("file_system_poll_wait_seconds", 1, "look for new versions so often; 0 for once, -1 for never"),
    ("tensorflow_session_parallelism", 0, "kernel threads of a model; 0 for one a core"),
    ("tensorflow_intra_op_parallelism", 0, "the same"),
    ("ssl_config_file", "", "an SSLConfig: the keys with which both ports use TLS"),
    ("saved_model_tags", "serve", "the tags of the graph, separated by commas"),
    ("enable_model_warmup", True, "replay assets.extra/tf_serving_warmup_requests when a version is loaded"),
    ("num_request_iterations_for_warmup", 1, "how often"),
    ("monitoring_config_file", "", "a MonitoringConfig: where metrics are published"),
    (
        "enable_signature_method_name_check",
        False,
        "classify and regress only by signatures whose method_name says so",
    ),
    (
        "enable_serialization_as_tensor_content",
        False,
        "answer in tensor_content instead of float_val and so on",
    ),
    ("total_model_memory_limit_bytes", 0, "refuse models beyond so many bytes together; 0 for no limit"),
    ("enable_grpc_healthcheck_service", True, "answer grpc.health.v1.Health"),
)
# Known, and without effect: the reason is said when one of them is set.
_WITHOUT_EFFECT: tuple[tuple[str, Any, str], ...] = (
    *((name, 0, "one thread answers all") for name in ("rest_api_num_threads", "grpc_max_threads")),
    *((name, 0, "each version has a process") for name in ("num_load_threads", "num_unload_threads")),
    ("flush_filesystem_caches", True, "files are read in a process that ends with the model"),
    ("tensorflow_inter_op_parallelism", 0, "a step runs its operations one by one"),
    ("tensorflow_session_config_file", "", "sessions have no options here"),
    ("per_process_gpu_memory_fraction", 0.0, "memory is taken as it is needed"),
    ("platform_config_file", "", "a model's files tell its kind"),
    ("grpc_channel_arguments", "", "the server is no gRPC library"),
    ("remove_unused_fields_from_bundle_metagraph", True, "nothing of it is kept"),
    ("use_alts_credentials", False, "there is TLS (--ssl_config_file)"),
    *((name, False, "there are SavedModels only") for name in ("prefer_tflite_model",)),
    *(
        (name, 0, "there are SavedModels only")
        for name in ("num_tflite_pools", "num_tflite_interpreters_per_pool")
    ),
    *((f"xla_{kind}_compilation_enabled", False, "there is no XLA") for kind in ("cpu", "gpu")),
    ("enable_profiler", True, "look at the page, or at the metrics"),
    ("thread_pool_factory_config_file", "", "there are no thread pools"),
    ("mixed_precision", "", "values have the types of the graph"),
    ("skip_initialize_tpu", False, "there are no TPUs"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `tideflow serve` to its parser."""
    parser.usage = "tideflow serve DIR [OPTIONS]\n       tideflow serve --model_base_path DIR [OPTIONS]"
    parser.add_argument(
        "models", metavar="DIR", nargs="?", help="a directory of models, or of one's versions"
    )
    own = parser.add_argument_group("Tideflow's own")
    own.add_argument("--host", default="127.0.0.1", help="the interface to listen at (default: %(default)s)")
    own.add_argument(
        "--latency_objective_ms",
        type=float,
        default=20.0,
        metavar="MS",
        help="keep answers within (default: 20)",
    )
    own.add_argument(
        "--batch_sizes", choices=("aimd", "quantile"), default="aimd", help="how sizes adapt to the objective"
    )
    own.add_argument(
        "--batch_delay_micros", type=int, default=0, metavar="N", help="let a batch wait for more calls"
    )
    own.add_argument("--replicas", type=int, default=1, metavar="N", help="processes of each version")
    own.add_argument(
        "--max_replicas", type=int, default=0, metavar="N", help="up to so many, while queues are long"
    )
    own.add_argument(
        "--tiny_models_in_process",
        **_boolean(True),
        help="compute models that load and answer within milliseconds in the server's own process",
    )
    own.add_argument("--trust_models", **_boolean(False), help="models may run code and reach files")
    own.add_argument(
        "--resource_preserving", **_boolean(False), help="unload the old version before the new one is loaded"
    )
    own.add_argument(
        "--token_file", default="", metavar="FILE", help="the bearer tokens of clients, one a line"
    )
    own.add_argument("--max_body_bytes", type=int, default=256 << 20, metavar="N", help="of a request")
    own.add_argument(
        "--max_in_flight", type=int, default=10_000, metavar="N", help="requests under way at once"
    )
    own.add_argument(
        "--cache_bytes", type=int, default=0, metavar="N", help="a cache before all models; 0 for none"
    )
    own.add_argument(
        "--app_cache_bytes", type=int, default=32 << 20, metavar="N", help="a cache before applications"
    )
    own.add_argument(
        "--state_url",
        default="",
        metavar="URL",
        help="where applications and what they learned are kept: a file, or redis://HOST:PORT/DB",
    )
    own.add_argument(
        "--request_log", default="", metavar="PREFIX", help="write requests to PREFIX-….tfrecord"
    )
    own.add_argument(
        "--request_log_rate", type=float, default=1.0, metavar="P", help="the share that is logged"
    )
    own.add_argument(
        "--stop_seconds", type=float, default=30.0, metavar="S", help="for requests under way at the end"
    )
    own.add_argument("--version", action="store_true", help="say which version this is")
    own.add_argument(
        "--ray",
        default="",
        metavar="ADDRESS",
        help="workers on a Ray cluster: host:port, or auto",
    )
    own.add_argument("--kubernetes", action="store_true", help="print manifests for kubectl apply")
    own.add_argument("--name", default="tideflow", help="manifests: the server's name (default: tideflow)")
    own.add_argument("--image", default="tideflow:latest", help="manifests: the container image")
    serving = parser.add_argument_group("TensorFlow Serving's")
    for name, default, text in _FLAGS:
        _add_flag(serving, name, default, text)
    unused = parser.add_argument_group("TensorFlow Serving's, without effect here")
    for name, default, reason in _WITHOUT_EFFECT:
        _add_flag(unused, name, default, reason)


def _add_flag(group: Any, name: str, default: Any, text: str) -> None:
    if isinstance(default, bool):
        group.add_argument(f"--{name}", **_boolean(default), help=text)
    else:
        kind = type(default)
        group.add_argument(f"--{name}", type=kind, default=default, metavar=kind.__name__.upper(), help=text)


def _boolean(default: bool) -> dict[str, Any]:
    """`--flag`, `--flag=true`, `--flag=false`."""
    return {"type": _truth, "nargs": "?", "const": True, "default": default, "metavar": "BOOL"}


_TRUE, _FALSE = ("true", "1", "t", "yes"), ("false", "0", "f", "no")


def _truth(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"true or false is expected, not {text!r}")


_RANGES = (
    ("port", -1, 65535),
    ("rest_api_port", -1, 65535),
    ("request_log_rate", 0, 1),
    ("latency_objective_ms", 0.001, math.inf),
    *((name, 1, math.inf) for name in ("replicas", "max_body_bytes", "max_in_flight")),
    *(
        (name, 0, math.inf)
        for name in (
            "max_replicas batch_delay_micros cache_bytes app_cache_bytes stop_seconds max_num_load_retries "
            "total_model_memory_limit_bytes rest_api_timeout_in_ms tensorflow_session_parallelism "
            "tensorflow_intra_op_parallelism"
        ).split()
    ),
)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a command line."""
    parser = argparse.ArgumentParser("tideflow serve", allow_abbrev=False)
    add_options(parser)
    options = parser.parse_args(_with_values(parser, arguments))
    for name, lowest, highest in _RANGES:
        if not lowest <= getattr(options, name) <= highest:
            above = "" if highest == math.inf else f" and at most {highest:g}"
            parser.error(f"argument --{name}: at least {lowest:g}{above} is expected")
    return options


def _with_values(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> list[str]:
    """The arguments with a value for each boolean flag, so that none takes the next word: `--flag DIR`."""
    flags = {name for action in parser._actions if action.type is _truth for name in action.option_strings}
    following = [*arguments[1:], ""]
    return [
        f"{word}=true" if word in flags and after.lower() not in _TRUE + _FALSE else word
        for word, after in zip(arguments, following)
    ]


def without_effect(options: argparse.Namespace) -> list[str]:
    """What to say about flags that were set and do nothing."""
    return [
        f"--{name} has no effect: {reason}"
        for name, default, reason in _WITHOUT_EFFECT
        if getattr(options, name) != default
    ]


# ------------------------------------------------------------------------------------------------------ files


def read_text_message(path: str, kind: type[Message]) -> Any:
    """A message in text format."""
    path = local_path(path)
    check_regular(path)
    try:
        return text_format.Parse(read_bytes(path).decode(), kind())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise errors.invalid_argument(f"Invalid protobuf file: '{path}': {error}") from None


def model_configs(options: argparse.Namespace) -> list[Any]:
    """The models that the options name: by a config file, by a base path, or by a directory of models."""
    if options.model_config_file:
        return checked(read_text_message(options.model_config_file, messages.ModelServerConfig))
    if options.model_base_path:
        path = os.path.abspath(local_path(options.model_base_path))
        return [messages.ModelConfig(name=options.model_name, base_path=path)]
    if not options.models:
        raise errors.invalid_argument(
            "Name the models to serve: tideflow serve DIR, --model_base_path=DIR or --model_config_file=FILE."
        )
    try:
        found = models_in(options.models)
    except OSError as error:
        raise errors.not_found(f"{options.models} cannot be read: {error.strerror}") from None
    return [messages.ModelConfig(name=name, base_path=path) for name, path in sorted(found.items())]


def checked(config: Any) -> list[Any]:
    """The models of a ModelServerConfig, refused where it makes no sense."""
    if config.WhichOneof("config") == "custom_model_config":
        raise errors.unimplemented("Custom model configs are not supported: use model_config_list.")
    if config.WhichOneof("config") is None:
        raise errors.invalid_argument("Invalid ServerModelConfig")
    models = list(config.model_config_list.config)
    seen: set[str] = set()
    for model in models:
        if not model.name:
            raise errors.invalid_argument(
                f"Every model needs a name: the one at {model.base_path!r} has none."
            )
        if model.name in seen:
            raise errors.invalid_argument(f"Illegal to list model {model.name} multiple times in config")
        seen.add(model.name)
        if not os.path.isabs(local_path(model.base_path)):
            raise errors.invalid_argument(
                f"Expected model {model.name} to have an absolute path or URI; "
                f"got base_path()={model.base_path}"
            )
    return models


_PARAMETERS = (
    "max_batch_size batch_timeout_micros max_enqueued_batches num_batch_threads max_execution_batch_size"
)


def batching(options: argparse.Namespace, version_path: str = "") -> Batching:
    """How the calls of a version are batched."""
    file = options.batching_parameters_file
    own = os.path.join(version_path, "batching_params.pbtxt")
    if options.enable_per_model_batching_parameters and version_path and os.path.exists(own):
        file = own
    if file:
        given = read_text_message(file, messages.BatchingParameters)
        named = {name: getattr(given, name).value for name in _PARAMETERS.split() if given.HasField(name)}
        sizes, queue = from_parameters(
            **named,
            allowed_batch_sizes=tuple(given.allowed_batch_sizes),
            pad_variable_length_inputs=given.pad_variable_length_inputs,
            enable_large_batch_splitting=given.enable_large_batch_splitting.value,
        )
        return Batching(lambda: sizes, queue)
    if not options.enable_batching:
        sizes, queue = from_parameters(max_batch_size=1, max_enqueued_batches=100_000)
        return Batching(lambda: sizes, BatchingOptions(max_queued_rows=queue.max_queued_rows))
    # A call may wait for one batch and be computed in the next: a batch takes half of what a call may.
    adapting = {"aimd": AIMD, "quantile": QuantileRegression}[options.batch_sizes]
    return Batching(
        partial(adapting, objective=options.latency_objective_ms / 2000),
        BatchingOptions(delay=options.batch_delay_micros / 1e6),
    )


SSLConfig = make_messages(
    "ssl_config",
    {
        "SSLConfig": {
            "server_key": "string",
            "server_cert": "string",
            "custom_ca": "string",
            "client_verify": "bool",
        }
    },
    package="tideflow.serving",
)["SSLConfig"]


def tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    """The context of both ports, of an SSLConfig: keys as PEM texts; whether clients show one too."""
    if not options.ssl_config_file:
        return None
    given = read_text_message(options.ssl_config_file, SSLConfig)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    files = [file_in_memory("tls.pem", text) for text in (given.server_cert, given.server_key)]
    try:
        context.load_cert_chain(*map(path_of, files))
        if given.client_verify:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=given.custom_ca or None)
    except (ssl.SSLError, OSError, TypeError) as error:
        raise errors.invalid_argument(
            f"The keys in {options.ssl_config_file} cannot be used: {error}. server_key and server_cert are "
            "the texts of PEM files, from BEGIN to END; client_verify needs custom_ca."
        ) from None
    finally:
        for file in files:
            os.close(file)
    return context
