"""The soak in small: killed workers lose no request, and unloaded models give their memory back."""

import asyncio
import os

import pytest

from tests.serving import soak
from tests.serving.loops import served
from tideflow.serving import config, loading, messages
from tideflow.serving.manager import Manager
from tideflow.serving.metrics import Metrics
from tideflow.serving.replicas import WorkerServable
from tideflow.serving.servables import LocalServable

BYTES, ROUNDS = 8 << 20, 10


def test_every_request_has_an_answer_or_an_error_while_workers_are_killed(serving_loop, workers, tmp_path):
    soak.save_model(tmp_path / "linear" / "1")

    async def test():
        flags = [str(tmp_path), "--replicas=2", "--tiny_models_in_process=false"]
        async with served(workers, *flags) as server:
            pids = lambda: soak.children(workers._fork_server.pid)
            return await soak.ask_while_killing(
                server.rest_address, 3000, pids, clients=4, depth=8, seconds=0.5
            )

    outcome, killed = serving_loop(test())
    assert killed and outcome.count == 3000
    assert not outcome.lost and not outcome.wrong
    assert set(outcome.errors) <= {503}


@pytest.mark.slow(reason="it loads a model twenty times")
@pytest.mark.parametrize("in_process", [True, False])
def test_loads_and_unloads_give_memory_back(
    serving_loop, workers, tmp_path, monkeypatch, in_process, without_collector
):
    monkeypatch.setattr(loading, "is_tiny", lambda costs: in_process)
    soak.save_model(tmp_path / "large" / "1", BYTES // 8)
    large = messages.ModelConfig(name="large", base_path=str(tmp_path / "large"))

    async def configured(manager, *models):
        done = asyncio.get_running_loop().create_future()
        manager.configure(list(models), done.set_result)
        assert await done is None

    async def test():
        manager = Manager(config.parse([]), workers, Metrics())
        usual, found = len(workers._processes), []
        for _ in range(2 * ROUNDS):
            await configured(manager, large)
            assert isinstance(manager.find("large"), LocalServable if in_process else WorkerServable)
            await configured(manager)
            while "large" in manager.versions.models or len(workers._processes) > usual:
                await asyncio.sleep(0.001)
            found.append(soak.memory(os.getpid()))
        manager.close()
        return found

    found = serving_loop(test())
    # The first half is left out: each thread that loads keeps some memory for the next load.
    assert found[-1] - found[ROUNDS - 1] < ROUNDS * BYTES / 4, found
