"""The models of a server, with real processes: change-over under load, broken versions, memory, labels."""

import asyncio
import math
import shutil
from contextlib import asynccontextmanager

import numpy as np
import pytest

import tideflow as tf
from tideflow.serving import config, loading, messages
from tideflow.serving import manager as manager_module
from tideflow.serving.calls import DEFAULT_SIGNATURE, Call, answer
from tideflow.serving.manager import Manager
from tideflow.serving.metrics import Metrics
from tideflow.serving.replicas import WorkerServable
from tideflow.serving.servables import LocalServable
from tideflow.serving.versions import State

ROW = np.ones((1, 3), np.float32)


@asynccontextmanager
async def managed(workers, *flags):
    """A manager of no models yet."""
    manager = Manager(config.parse([*flags]), workers, Metrics())
    try:
        yield manager
    finally:
        manager.close()


def model(name, path, policy="", labels=None):
    made = messages.ModelConfig(name=name, base_path=str(path), version_labels=labels or {})
    if policy == "all":
        made.model_version_policy.all.SetInParent()
    return made


async def configured(manager, *models):
    """Configures, and waits until all is loaded or could not be."""
    done = asyncio.get_running_loop().create_future()
    manager.configure(list(models), done.set_result)
    return await done


async def ask(servable):
    found = await answer(
        servable, Call(DEFAULT_SIGNATURE, {"x": ROW}, ("y",), 1, math.inf, lambda outcome: None)
    )
    return float(found["y"][0, 0])


async def until(condition, manager=None):
    """Polls until something has become so."""
    while not condition():
        if manager is not None:
            manager.poll()
        await asyncio.sleep(0.01)


def state_of(manager, name, version):
    return {status.version: status.state for status in manager.statuses(name)}.get(version)


@pytest.mark.parametrize("kind, flags", [(LocalServable, []), (WorkerServable, ["--replicas=2"])])
def test_a_change_of_versions_under_load_loses_nothing(
    serving_loop, workers, tmp_path, save_linear, monkeypatch, kind, flags
):
    monkeypatch.setattr(loading, "is_tiny", lambda costs: True)  # however busy the machine is
    loads = []

    def load_message(*arguments, **options):
        loads.append(loading.load_message(*arguments, **options))
        return loads[-1]

    monkeypatch.setattr(manager_module, "load_message", load_message)

    async def test():
        save_linear(tmp_path / "m" / "1", 1)
        async with managed(workers, *flags) as manager:
            assert await configured(manager, model("m", tmp_path / "m")) is None
            assert isinstance(manager.find("m"), kind) and manager.is_ready()
            answers, is_over = [], False

            async def client():
                own = []
                while not is_over:
                    own.append(await ask(manager.find("m")))
                    answers.append(own[-1])
                return own

            clients = [asyncio.ensure_future(client()) for _ in range(8)]
            await until(lambda: len(answers) > 100)
            await asyncio.get_running_loop().run_in_executor(None, save_linear, tmp_path / "m" / "2", 2)
            await until(lambda: state_of(manager, "m", 1) == State.END, manager)
            count = len(answers)
            await until(lambda: len(answers) > count + 100)
            is_over = True
            for own in await asyncio.gather(*clients):  # not one error, and no way back
                assert own == sorted(own) and set(own) == {2.0, 3.0}
            # The second version leaves the processors to the first.
            assert [load.in_background for load in loads] == [False, True]

    serving_loop(test())


def test_code_at_paths_that_clients_name_is_run_only_if_they_need_a_token(serving_loop, workers, tmp_path):
    folder = tmp_path / "m" / "1"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text("def predict_batch(x): return x")
    (tmp_path / "tokens").write_text("secret")
    one = model("m", tmp_path / "m")

    async def refusal(*flags, own=()):
        async with managed(workers, "--max_num_load_retries=0", *flags) as manager:
            manager.trust(list(own))
            return await configured(manager, one)

    async def test():
        assert isinstance(await refusal(), tf.errors.PermissionDeniedError)
        error = await refusal("--trust_models", own=[model("other", tmp_path / "other")])
        assert isinstance(error, tf.errors.PermissionDeniedError) and "--token_file" in error.message
        assert await refusal("--trust_models", own=[one]) is None
        assert await refusal("--trust_models", f"--token_file={tmp_path / 'tokens'}") is None

    serving_loop(test())


def test_a_broken_version_leaves_the_last_good_one(serving_loop, workers, tmp_path, save_linear):
    async def test():
        save_linear(tmp_path / "m" / "1", 1)
        async with managed(workers, "--max_num_load_retries=0") as manager:
            await configured(manager, model("m", tmp_path / "m"))
            broken = tmp_path / "m" / "2"
            broken.mkdir()
            (broken / "saved_model.pb").write_bytes(b"no")
            await until(lambda: state_of(manager, "m", 2) == State.END, manager)
            error = next(status.error for status in manager.statuses("m") if status.version == 2)
            assert "cannot be loaded" in error.message
            assert await ask(manager.find("m")) == 2
            save_linear(tmp_path / "whole", 5)
            shutil.copytree(tmp_path / "whole", broken, dirs_exist_ok=True)  # it was being written
            await until(lambda: state_of(manager, "m", 1) is None or manager.find("m").version == 2, manager)
            assert await ask(manager.find("m")) == 6
            shutil.rmtree(tmp_path / "m")  # storage has failed: what is loaded stays
            looks = manager._loop.time() + 0.2
            await until(lambda: manager._loop.time() > looks, manager)
            assert await ask(manager.find("m")) == 6 and manager.find("m").version == 2

    serving_loop(test())


def test_a_model_that_moves_answers_from_its_old_place_until_it_is_there(
    serving_loop, workers, tmp_path, save_linear
):
    async def test():
        for place, version, weight in (("old", 1, 1), ("new", 2, 2), ("other", 2, 3)):
            save_linear(tmp_path / place / str(version), weight)
        async with managed(workers) as manager:
            await configured(manager, model("m", tmp_path / "old"))
            changing = asyncio.ensure_future(configured(manager, model("m", tmp_path / "new")))
            while not changing.done():
                assert await ask(manager.find("m")) in (2, 3)
            assert await changing is None and await ask(manager.find("m")) == 3
            # A version of the same number is loaded anew.
            assert await configured(manager, model("m", tmp_path / "other")) is None
            assert await ask(manager.find("m")) == 4
            # Nothing is at a third place: what is there stays.
            error = await configured(manager, model("m", tmp_path / "nowhere"))
            assert "Could not find base path" in error.message and await ask(manager.find("m")) == 4
            await configured(manager, model("m", tmp_path / "other"))
            spelled_out = model("m", tmp_path / "other")
            spelled_out.model_platform = "tensorflow"
            served = manager.find("m")
            assert await configured(manager, spelled_out) is None and manager.find("m") is served

    serving_loop(test())


def test_labels_policies_and_reloading(serving_loop, workers, tmp_path, save_linear):
    async def test():
        for version in (1, 2):
            save_linear(tmp_path / "m" / str(version), version)
        save_linear(tmp_path / "n" / "5", 5)
        async with managed(workers) as manager:
            await configured(manager, model("m", tmp_path / "m", "all", {"stable": 1, "later": 3}))
            assert [await ask(manager.find("m", version)) for version in (1, 2)] == [2, 3]
            assert await ask(manager.find("m", label="stable")) == 2
            with pytest.raises(tf.errors.OpError):
                manager.find("m", label="later")
            assert [status.version for status in manager.statuses("m", label="stable")] == [1]
            assert len(manager.statuses("m", 0)) == len(manager.statuses("m")) == 2
            await configured(manager, model("m", tmp_path / "m", "all", {"stable": 2}))
            assert await ask(manager.find("m", label="stable")) == 3
            done = asyncio.get_running_loop().create_future()
            new = messages.ModelServerConfig()
            new.model_config_list.config.append(model("n", tmp_path / "n"))
            manager.reload(new, done.set_result)
            assert await done is None and manager.names() == ["n"]
            assert await ask(manager.find("n")) == 6
            await until(lambda: "m" not in manager.versions.models)
            with pytest.raises(tf.errors.NotFoundError, match=r"Servable not found for request: Latest\(m\)"):
                manager.find("m")
            with pytest.raises(tf.errors.NotFoundError, match="Could not find any versions of model m"):
                manager.statuses("m")
            with pytest.raises(tf.errors.NotFoundError, match="Could not find version 9 of model n"):
                manager.statuses("n", 9)
            assert await configured(manager, model("m", tmp_path / "m")) is None  # it comes back
            assert await ask(manager.find("m")) == 3

    serving_loop(test())


def test_a_configuration_that_is_replaced_before_it_is_loaded_says_so(
    serving_loop, workers, tmp_path, save_linear
):
    async def test():
        for name in "ab":
            save_linear(tmp_path / name / "1", 1)
        async with managed(workers) as manager:
            first = asyncio.get_running_loop().create_future()
            manager.configure([model(name, tmp_path / name) for name in "ab"], first.set_result)
            assert await configured(manager, model("a", tmp_path / "a")) is None
            assert isinstance(await first, tf.errors.AbortedError)

    serving_loop(test())


def test_labels_of_versions_that_are_not_there_are_refused_by_the_flag(
    serving_loop, workers, tmp_path, save_linear
):
    async def test():
        save_linear(tmp_path / "m" / "1", 1)
        async with managed(workers, "--allow_version_labels_for_unavailable_models=false") as manager:
            labelled = [model("m", tmp_path / "m", "all", {"stable": version}) for version in (1, 2)]
            with pytest.raises(tf.errors.FailedPreconditionError, match="not currently available"):
                manager.configure(labelled[:1])  # as TensorFlow Serving has it: load first, then label
            assert manager.names() == []
            await configured(manager, model("m", tmp_path / "m"))
            assert await configured(manager, labelled[0]) is None
            done = asyncio.get_running_loop().create_future()
            new = messages.ModelServerConfig()
            new.model_config_list.config.append(labelled[1])
            manager.reload(new, done.set_result)
            assert isinstance(await done, tf.errors.FailedPreconditionError)
            assert await ask(manager.find("m", label="stable")) == 2

    serving_loop(test())


def test_what_cannot_be_served_is_said(serving_loop, workers, tmp_path, save_linear):
    async def test():
        save_linear(tmp_path / "m" / "1", 1)
        (tmp_path / "empty").mkdir()
        async with managed(workers, "--total_model_memory_limit_bytes=100") as manager:
            error = await configured(manager, model("gone", tmp_path / "nowhere"))
            assert isinstance(error, tf.errors.NotFoundError) and "Could not find base path" in error.message
            error = await configured(manager, model("empty", tmp_path / "empty"))
            assert "No versions of servable empty found under base path" in error.message
            error = await configured(manager, model("m", tmp_path / "m"))
            assert isinstance(error, tf.errors.ResourceExhaustedError)
            done = asyncio.get_running_loop().create_future()
            manager.reload(messages.ModelServerConfig(), done.set_result)
            assert isinstance(await done, tf.errors.InvalidArgumentError)

    serving_loop(test())
