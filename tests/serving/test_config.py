"""Flags, config files, and where models are found."""

import os
import ssl
import subprocess

import pytest

import tideflow as tf
from tideflow.serving import config, messages
from tideflow.serving.batch_sizes import AIMD, FixedSize, QuantileRegression
from tideflow.serving.manager import policy_of
from tideflow.serving.sources import bytes_in, is_within, models_in, versions_in
from tideflow.serving.versions import All, Latest, Specific

# As `tensorflow_model_server --help` names them.
FLAGS = """
port grpc_socket_path rest_api_port rest_api_num_threads rest_api_timeout_in_ms rest_api_enable_cors_support
enable_batching allow_version_labels_for_unavailable_models batching_parameters_file model_config_file
enable_per_model_batching_parameters force_allow_any_version_labels_for_unavailable_models
model_config_file_poll_wait_seconds model_name model_base_path num_load_threads num_unload_threads
max_num_load_retries load_retry_interval_micros file_system_poll_wait_seconds flush_filesystem_caches
tensorflow_session_parallelism tensorflow_session_config_file tensorflow_intra_op_parallelism
tensorflow_inter_op_parallelism use_alts_credentials ssl_config_file platform_config_file
per_process_gpu_memory_fraction saved_model_tags grpc_channel_arguments grpc_max_threads enable_model_warmup
num_request_iterations_for_warmup version monitoring_config_file remove_unused_fields_from_bundle_metagraph
prefer_tflite_model num_tflite_pools num_tflite_interpreters_per_pool enable_signature_method_name_check
xla_cpu_compilation_enabled xla_gpu_compilation_enabled enable_profiler thread_pool_factory_config_file
enable_grpc_healthcheck_service enable_serialization_as_tensor_content mixed_precision skip_initialize_tpu
""".split()


def test_every_flag_of_tensorflow_serving_is_known():
    defaults = vars(config.parse([]))
    assert [name for name in FLAGS if name not in defaults] == []
    given = [f"--{name}={str(value).lower()}" for name, value in defaults.items() if name in FLAGS[:-1]]
    given.remove("--version=false")
    assert vars(config.parse(given)) == defaults


def test_negative_pauses_mean_none():
    flags = ["--load_retry_interval_micros=-1", "--model_config_file_poll_wait_seconds=-1"]
    options = config.parse(flags)
    assert options.load_retry_interval_micros == options.model_config_file_poll_wait_seconds == -1


def test_booleans_are_given_in_three_ways():
    given = {"--enable_batching": True, "--enable_batching=true": True, "--enable_batching=0": False}
    for text, value in given.items():
        assert config.parse([text]).enable_batching is value
    options = config.parse(
        ["--trust_models", "DIR", "--enable_batching", "false"]
    )  # no flag takes the directory
    assert (options.trust_models, options.models, options.enable_batching) == (True, "DIR", False)


def test_flags_without_effect_say_why():
    assert config.without_effect(config.parse([])) == []
    (line,) = config.without_effect(config.parse(["--num_load_threads=4"]))
    assert line == "--num_load_threads has no effect: each version has a process"


CONFIG = """
model_config_list {
  config {
    name: "a" base_path: "/models/a" model_platform: "tensorflow"
    model_version_policy { specific { versions: 3 versions: 5 } }
    version_labels { key: "stable" value: 3 }
    logging_config { log_collector_config { type: "file" filename_prefix: "/tmp/log" } }
  }
  config { name: "b" base_path: "/models/b" model_version_policy { latest { num_versions: 2 } } }
  config { name: "c" base_path: "/models/c" model_version_policy { all {} } }
}
"""


def test_model_config_files(tmp_path):
    file = tmp_path / "models.config"
    file.write_text(CONFIG)
    a, b, c = config.model_configs(config.parse([f"--model_config_file={file}"]))
    assert (a.name, a.base_path, dict(a.version_labels)) == ("a", "/models/a", {"stable": 3})
    assert [policy_of(one) for one in (a, b, c)] == [Specific(frozenset({3, 5})), Latest(2), All()]
    assert policy_of(messages.ModelConfig()) == Latest(1)


@pytest.mark.parametrize(
    "text, words",
    [
        ("model_config_list {", "Invalid protobuf file"),
        ("", "Invalid ServerModelConfig"),
        ('model_config_list { config { name: "a" base_path: "a" } }', "absolute path or URI"),
        ('model_config_list { config { base_path: "/a" } }', "needs a name"),
        ("model_config_list {" + 2 * 'config { name: "a" base_path: "/a" }' + "}", "multiple times"),
    ],
)
def test_model_config_files_that_make_no_sense(tmp_path, text, words):
    file = tmp_path / "models.config"
    file.write_text(text)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        config.model_configs(config.parse([f"--model_config_file={file}"]))


def test_models_by_base_path_and_by_directory(tmp_path, save_linear):
    save_linear(tmp_path / "all" / "a" / "00000012", 1)
    save_linear(tmp_path / "all" / "single", 1)
    (tmp_path / "all" / "a" / "notes").mkdir()
    (tmp_path / "all" / "a" / str(2**63)).mkdir()  # no message has such a number
    (tmp_path / "all" / "nothing").mkdir()
    (tmp_path / "all" / ".hidden").mkdir()
    assert models_in(str(tmp_path / "all")) == {
        name: str(tmp_path / "all" / name) for name in ("a", "single")
    }
    assert versions_in(str(tmp_path / "all" / "a")) == {12: str(tmp_path / "all" / "a" / "00000012")}
    assert versions_in(str(tmp_path / "all" / "single")) == {1: str(tmp_path / "all" / "single")}
    assert list(models_in(str(tmp_path / "all" / "a"))) == ["a"]
    assert bytes_in(str(tmp_path / "all" / "single")) > 100
    (one,) = config.model_configs(config.parse([f"--model_base_path={tmp_path}/all/a", "--model_name=m"]))
    assert (one.name, one.base_path) == ("m", f"{tmp_path}/all/a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name the models to serve"):
        config.model_configs(config.parse([]))
    with pytest.raises(tf.errors.NotFoundError, match="cannot be read"):
        config.model_configs(config.parse([str(tmp_path / "nowhere")]))


def test_batching(tmp_path):
    adaptive = config.batching(config.parse(["--latency_objective_ms=50", "--batch_delay_micros=2000"]))
    assert adaptive.sizes() == AIMD(objective=0.025) and adaptive.options.delay == 0.002
    assert isinstance(config.batching(config.parse(["--batch_sizes=quantile"])).sizes(), QuantileRegression)
    assert config.batching(config.parse(["--enable_batching=false"])).sizes() == FixedSize(1)
    file = tmp_path / "batching.txt"
    file.write_text(
        "max_batch_size { value: 32 } batch_timeout_micros { value: 1000 } allowed_batch_sizes: 8 "
        "allowed_batch_sizes: 32 pad_variable_length_inputs: true"
    )
    given = config.batching(config.parse([f"--batching_parameters_file={file}"]))
    assert given.sizes() == FixedSize(32) and given.options.allowed_sizes == (8, 32)
    assert given.options.delay == 0.001 and given.options.pads_inputs
    (tmp_path / "batching_params.pbtxt").write_text("max_batch_size { value: 4 }")
    options = config.parse([f"--batching_parameters_file={file}", "--enable_per_model_batching_parameters"])
    assert config.batching(options, str(tmp_path)).sizes() == FixedSize(4)


def test_tls(tmp_path):
    assert config.tls(config.parse([])) is None
    key, certificate, file = (tmp_path / name for name in ("key.pem", "certificate.pem", "ssl.config"))
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    key, certificate = (path.read_text().replace("\n", r"\n") for path in (key, certificate))
    pair = f'server_key: "{key}" server_cert: "{certificate}"'
    file.write_text(pair)
    context = config.tls(config.parse([f"--ssl_config_file={file}"]))
    assert context.verify_mode == ssl.CERT_NONE
    file.write_text(f'{pair} custom_ca: "{certificate}" client_verify: true')
    assert config.tls(config.parse([f"--ssl_config_file={file}"])).verify_mode == ssl.CERT_REQUIRED
    file.write_text('server_key: "no" server_cert: "no"')
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be used"):
        config.tls(config.parse([f"--ssl_config_file={file}"]))


@pytest.mark.parametrize(
    "flag",
    ["--port=99999", "--rest_api_port=-2", "--replicas=0", "--request_log_rate=2", "--max_in_flight=0"],
)
def test_numbers_that_make_no_sense_are_refused(flag, capsys):
    with pytest.raises(SystemExit) as ended:
        config.parse([flag])
    assert ended.value.code == 2
    assert f"argument {flag.partition('=')[0]}: at least" in capsys.readouterr().err


def test_links_that_lead_to_themselves_hide_nothing(tmp_path):
    for folder in (tmp_path, tmp_path / "a"):
        folder.mkdir(exist_ok=True)
        (folder / "7").symlink_to("7")
    (tmp_path / "a" / "3").mkdir()
    assert versions_in(str(tmp_path / "a")) == {3: str(tmp_path / "a" / "3")}
    assert models_in(str(tmp_path)) == {"a": str(tmp_path / "a")}


def test_a_config_file_that_is_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    options = config.parse([f"--model_config_file={tmp_path / 'pipe'}"])
    with pytest.raises(tf.errors.FailedPreconditionError, match="is not a regular file"):
        config.model_configs(options)


def test_paths_within_folders(tmp_path):
    own, other = tmp_path / "own", tmp_path / "own-not"
    for folder in (own, other):
        (folder / "1").mkdir(parents=True)
    (own / "link").symlink_to(other)
    assert is_within(str(own), [str(own)]) and is_within(f"file://{own}/1", [str(own)])
    for path in (other, own / "link" / "1", own / ".." / "own-not", tmp_path):
        assert not is_within(str(path), [str(own)])
    assert not is_within(str(own), [])
