"""The whole server: real sockets, real worker processes, and its end."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from functools import partial

import grpc
import numpy as np
import pytest

import tideflow as tf
from tests.patience import eventually
from tests.serving.loops import PORTS, served
from tideflow.serving import messages, replay_command
from tideflow.serving.warmup import read_logs

SERVING = 1  # of gRPC's health service


def ask(address, method, path, body=None):
    """A request by HTTP: status and body."""
    connection = http.client.HTTPConnection(address, timeout=120)
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


async def asked(server, method, path, body=None):
    return await asyncio.get_running_loop().run_in_executor(
        None, ask, server.rest_address, method, path, body
    )


def predict_by_grpc(address, model, rows):
    request = messages.PredictRequest()
    request.model_spec.name = model
    request.inputs["x"].MergeFromString(tf.make_tensor_proto(rows).SerializeToString())
    with grpc.insecure_channel(address) as channel:
        method = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        answer = messages.PredictResponse.FromString(method(request.SerializeToString(), timeout=120))
    return list(answer.outputs["y"].float_val), answer.model_spec.version.value


def health_by_grpc(address):
    with grpc.insecure_channel(address) as channel:
        answer = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=120)
    return messages.HealthCheckResponse.FromString(answer).status


@pytest.fixture
def models(tmp_path, save_linear):
    save_linear(tmp_path / "models" / "linear" / "3", 2)
    return tmp_path / "models"


def test_a_worker_that_stands_still_costs_its_requests_their_time(serving_loop, workers, models):
    """And nothing after that: it need not be started again."""
    predict = "POST", "/v1/models/linear:predict", {"instances": [[1, 0, 0]]}

    async def test():
        flags = ["--tiny_models_in_process=false", "--rest_api_timeout_in_ms=300"]
        async with served(workers, str(models), *flags) as server:
            (worker,) = server.manager.find("linear").workers
            before = worker.pid
            os.kill(before, signal.SIGSTOP)
            late = await asyncio.gather(*(asked(server, *predict) for _ in range(4)))
            ready, _ = await asked(server, "GET", "/readyz")
            os.kill(before, signal.SIGCONT)
            while (answer := await asked(server, *predict))[0] == 504:
                pass
            return late, ready, answer, worker.pid == before

    late, ready, answer, is_the_same = serving_loop(test())
    assert {status for status, _ in late} == {504} and ready == 200
    assert answer[0] == 200 and is_the_same


def test_equal_requests_are_computed_once_with_a_cache(serving_loop, workers, models):
    async def test():
        async with served(workers, str(models), "--cache_bytes=1000000") as server:
            for value in (1, 2, 1, 1):
                body = {"instances": [[value, 0, 0]]}
                status, answer = await asked(server, "POST", "/v1/models/linear:predict", body)
                assert status == 200 and json.loads(answer) == {"predictions": [[2 * value + 1, 1, 1]]}
            return json.loads((await asked(server, "GET", "/page.json"))[1])["cache"]

    cache = serving_loop(test())
    assert (cache["hits"], cache["misses"], cache["entries"]) == (2, 2, 2)


def test_a_config_file_is_read_again_and_a_broken_one_changes_nothing(
    serving_loop, workers, models, tmp_path, caplog
):
    file = tmp_path / "models.config"

    def write(*names):
        listed = (f'config {{ name: "{name}" base_path: "{models}/linear" }}' for name in names)
        file.write_text(f"model_config_list {{ {' '.join(listed)} }}")

    async def test():
        write("first")
        async with served(workers, f"--model_config_file={file}") as server:
            assert server.manager.names() == ["first"]
            write("first", "second")
            server._reload()
            while (await asked(server, "GET", "/v1/models/second/metadata"))[0] != 200:
                await asyncio.sleep(0.01)
            file.write_text("model_config_list {")
            server._reload()
            server._reload()
            return server.manager.names()

    assert serving_loop(test()) == ["first", "second"]
    told = [line for line in caplog.messages if line.startswith("the model config stays as it was")]
    assert len(told) == 1  # however often it is read


def test_a_directory_of_models(serving_loop, workers, models, save_linear):
    async def test():
        async with served(workers, str(models), "--file_system_poll_wait_seconds=1") as server:
            assert server.manager.names() == ["linear"]
            body = {"instances": [[1, 2, 3]]}
            status, answer = await asked(server, "POST", "/v1/models/linear:predict", body)
            assert status == 200 and json.loads(answer) == {"predictions": [[3, 5, 7]]}
            found = await asyncio.get_running_loop().run_in_executor(
                None, predict_by_grpc, server.grpc_address, "linear", np.float32([[1, 2, 3]])
            )
            assert found == ([3, 5, 7], 3)
            assert (await asked(server, "GET", "/readyz"))[0] == 200
            status, answer = await asked(server, "GET", "/monitoring/prometheus/metrics")
            assert b':tensorflow:serving:request_count{model_name="linear",status="OK"} 2' in answer
            save_linear(models / "later" / "1", 5)  # a new model is served too
            while (await asked(server, "GET", "/v1/models/later"))[0] != 200:
                pass
            check_health = partial(health_by_grpc, server.grpc_address)
            assert await asyncio.get_running_loop().run_in_executor(None, check_health) == SERVING
            status, answer = await asked(server, "GET", "/v1/models/none")
            assert status == 404 and b"Could not find any versions of model none" in answer

    serving_loop(test())


def test_models_that_a_client_leaves_out_are_not_served_again(serving_loop, workers, models, save_linear):
    """Though they are in the directory still. What is put there later is new."""
    save_linear(models / "other" / "1", 3)
    request = messages.ReloadConfigRequest()
    request.config.model_config_list.config.add(name="linear", base_path=str(models / "linear"))

    def reload(address):
        with grpc.insecure_channel(address) as channel:
            call = channel.unary_unary("/tensorflow.serving.ModelService/HandleReloadConfigRequest")
            return call(request.SerializeToString(), timeout=120)

    async def test():
        async with served(workers, str(models), "--file_system_poll_wait_seconds=0") as server:
            assert server.manager.names() == ["linear", "other"]
            await asyncio.get_running_loop().run_in_executor(None, reload, server.grpc_address)
            save_linear(models / "later" / "1", 5)
            server._poll()
            while "later" not in server.manager.names():
                await asyncio.sleep(0.001)
            return server.manager.names()

    assert serving_loop(test()) == ["later", "linear"]


def test_the_health_service_can_be_left_out(serving_loop, workers, models):
    async def test():
        async with served(workers, str(models), "--enable_grpc_healthcheck_service=false") as server:
            check_health = partial(health_by_grpc, server.grpc_address)
            with pytest.raises(grpc.RpcError, match="Method not found"):
                await asyncio.get_running_loop().run_in_executor(None, check_health)

    serving_loop(test())


def test_applications_over_the_models_of_the_server(serving_loop, workers, models):
    async def test():
        async with served(workers, str(models)) as server:
            app = {
                "name": "app",
                "input_type": "floats",
                "default_output": "0",
                "latency_slo_micros": 5_000_000,
            }
            assert (await asked(server, "POST", "/admin/add_app", app))[0] == 200
            links = {"app_name": "app", "model_names": ["linear"]}
            assert (await asked(server, "POST", "/admin/add_model_links", links))[0] == 200
            status, answer = await asked(server, "POST", "/app/predict", {"input": [1.0, 2.0, 3.0]})
            assert status == 200 and not json.loads(answer)["default"], answer

    serving_loop(test())


def test_requests_are_logged_and_warm_up_the_next_version(serving_loop, workers, models, save_linear):
    log = models.parent / "log"

    async def test():
        async with served(workers, str(models), f"--request_log={log}") as server:
            for value in range(3):
                await asked(server, "POST", "/v1/models/linear:predict", {"instances": [[value] * 3]})

    serving_loop(test())
    (file,) = models.parent.glob("log-*.tfrecord")
    logs = list(read_logs(str(file)))
    assert [tf.make_ndarray(one.predict_log.response.outputs["y"])[0, 0] for one in logs] == [1, 3, 5]
    assert {one.log_metadata.model_spec.name for one in logs} == {"linear"}
    extra = models / "linear" / "3" / "assets.extra"
    extra.mkdir()
    file.rename(extra / "tf_serving_warmup_requests")

    async def test_again():
        async with served(workers, str(models)) as server:
            (read,) = server.metrics.warmup_records_read.children.values()
            assert read.value == 3
            (latency,) = server.metrics.warmup_latency.children.values()
            assert latency.count == 1 and latency.total > 0
            label = f'{{model_path="{models}/linear/3",status="OK"}}'
            assert (
                f":tensorflow:serving:model_warmup_latency_count{label} 1"
                in (await asked(server, "GET", "/monitoring/prometheus/metrics"))[1].decode()
            )

    serving_loop(test_again())


WAITING_MODEL = """
import os, time
HERE = os.path.dirname(__file__)

def predict_batch(inputs):
    open(f"{HERE}/began", "w").close()
    while not os.path.exists(f"{HERE}/go"):
        time.sleep(0.01)
    return inputs
"""


@pytest.mark.slow(reason="it is a program: it imports everything, and so does the process of its workers")
def test_sigterm_answers_what_is_under_way_and_ends_all_processes(models):
    folder = models / "waiting" / "1"
    folder.mkdir(parents=True)
    (folder / "go").touch()  # zeros are computed when it is loaded
    (folder / "model.py").write_text(WAITING_MODEL)
    command = [sys.executable, "-m", "tideflow", "serve", str(models), "--trust_models", *PORTS]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split("//")[1].strip().rstrip("/")
        eventually(lambda: ask(address, "GET", "/readyz")[0] == 200, 120, "the model is not loaded")
        (forker,) = _children(server.pid)
        (folder / "began").unlink()
        (folder / "go").unlink()
        clients = [http.client.HTTPConnection(address, timeout=120) for _ in range(4)]
        for number, client in enumerate(clients):
            body = json.dumps({"instances": [[float(number)]]})
            client.request("POST", "/v1/models/waiting:predict", body)
        eventually((folder / "began").exists, 120, "no prediction begins")
        server.send_signal(signal.SIGTERM)
        while "stopping" not in server.stderr.readline():
            pass
        (folder / "go").touch()
        answers = [json.loads(client.getresponse().read()) for client in clients]
        assert answers == [{"predictions": [[float(number)]]} for number in range(4)]
        assert server.wait(120) == 0
        assert not os.path.exists(f"/proc/{forker}")
    finally:
        server.kill()
        server.communicate()


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(number) for number in file.read().split()]


REPLAYS = (["--clients=2", "--same_version"], ["--model=other"], [])


def test_a_log_is_replayed_and_compared(serving_loop, workers, models, save_linear, capsys):
    log = models.parent / "log"
    save_linear(models / "other" / "1", 7)
    config_file = models.parent / "models.config"
    config_file.write_text(
        "model_config_list {"
        f' config {{ name: "linear" base_path: "{models / "linear"}" model_version_policy {{ all {{}} }} }}'
        f' config {{ name: "other" base_path: "{models / "other"}" }}'
        "}"
    )

    other_log = str(models.parent / "session_runs")
    session_run = messages.PredictionLog()
    session_run.session_run_log.request.fetch.append("y:0")
    with tf.io.TFRecordWriter(other_log) as writer:
        writer.write(session_run.SerializeToString())

    async def test():
        flags = [f"--model_config_file={config_file}", "--file_system_poll_wait_seconds=0"]
        async with served(workers, *flags, f"--request_log={log}") as server:
            for value in range(5):
                await asked(server, "POST", "/v1/models/linear:predict", {"instances": [[value] * 3]})
            server._logs.close()
            save_linear(models / "linear" / "9", 7)
            server.manager.poll()
            while server.manager.find("linear").version != 9:
                await asyncio.sleep(0.001)
            (file,) = models.parent.glob("log-*.tfrecord")
            arguments = [f"http://{server.rest_address}", str(file), other_log]
            replay = lambda *flags: replay_command.main([*arguments, *flags])
            run = asyncio.get_running_loop().run_in_executor
            return [await run(None, replay, *flags) for flags in REPLAYS]

    assert serving_loop(test()) == [0, 1, 1]
    out = capsys.readouterr().out
    assert "5 requests" in out and "5 as in the log, 0 otherwise" in out
    assert out.count("left out: 1") == 3
    assert out.count("1 as in the log, 4 otherwise") == 2  # of zeros both make ones
