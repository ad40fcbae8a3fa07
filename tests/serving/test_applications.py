"""Applications: answers in time from several models, or defaults; feedback that is learned."""

import asyncio
import random

import numpy as np
import pytest

from tideflow.graph import errors
from tideflow.graph.dtypes import float32, int64, string
from tideflow.serving.applications import (
    LATE,
    NO_MODELS,
    Application,
    Applications,
    Query,
    input_array,
    model_inputs,
)
from tideflow.serving.calls import DEFAULT_SIGNATURE, PREDICT, Signature, TensorSpec
from tideflow.serving.selection_state import States


class Fake:
    """A model of one output that is a function of the input, or an error, or never comes (None)."""

    def __init__(self, name, function, version=1, dtype=float32, shape=(None, 2), output=(None, 2)):
        self.name, self.version, self.function, self.calls = name, version, function, 0
        inputs, outputs = {"x": TensorSpec(dtype, shape, "x:0")}, {"y": TensorSpec(float32, output, "y:0")}
        self.signatures = {DEFAULT_SIGNATURE: Signature(PREDICT, inputs, outputs)}

    def submit(self, call):
        self.calls += 1
        outcome = self.function(call.inputs["x"])
        if isinstance(outcome, errors.OpError):
            call.done(outcome)
        elif outcome is not None:
            row = np.array([outcome], object) if isinstance(outcome, bytes) else np.asarray(outcome)[None]
            call.done({"y": row})


@pytest.fixture(autouse=True)
def same_chances():
    """Policies draw the same numbers every time."""
    random.seed(0)


class Models(dict):
    def find(self, name, version=None, label=None):
        if name not in self or version not in (None, self[name].version):
            raise errors.not_found(f"Servable not found for request: Latest({name})")
        return self[name]


def running(main, *models, url=""):
    """Runs a coroutine function of applications and these models."""

    async def all_of_it():
        states = States(url)
        applications = Applications(Models({model.name: model for model in models}), states)
        try:
            loaded = asyncio.get_running_loop().create_future()
            applications.load(lambda: loaded.set_result(None))
            await loaded
            return await main(applications)
        finally:
            states.close()

    return asyncio.run(all_of_it())


def application(*models, name="app", objective=10.0, **options):
    return Application(name, "floats", "default", objective, models=list(models), **options)


async def ask(applications, value=(1.0, 2.0), user="", name="app"):
    answer = asyncio.get_running_loop().create_future()
    applications.predict(name, np.array(value), user, answer.set_result)
    return await asyncio.wait_for(answer, 120)


async def tell(applications, feedback, value=(1.0, 2.0), user="", name="app"):
    done = asyncio.get_running_loop().create_future()
    applications.update(name, np.array(value), feedback, user, done.set_result)
    return await asyncio.wait_for(done, 120)


def test_one_model_answers_and_the_second_time_the_cache_does():
    double = Fake("double", lambda x: x[0] * 2)

    async def main(applications):
        applications.add(application("double"))
        first, second = await ask(applications), await ask(applications)
        np.testing.assert_array_equal(first.output, [2.0, 4.0])
        np.testing.assert_array_equal(second.output, first.output)
        assert (first.explanation, first.confidence, first.models) == ("", 1.0, ["double"])
        assert double.calls == 1 and applications.queries == {"app": 2}

    running(main, double)


def test_answers_come_in_time_with_what_has_come():
    quick = [Fake(f"m{number}", lambda x: np.float32([0.9, 0.1])) for number in range(3)]
    slow = Fake("slow", lambda x: None)

    async def main(applications):
        names = [*(model.name for model in quick), "slow"]
        applications.add(application(*names, objective=0.02, policy="mean"))
        answer = await ask(applications)
        np.testing.assert_allclose(answer.output, [0.9, 0.1], rtol=1e-6)
        assert answer.confidence == pytest.approx(0.75) and not answer.explanation
        slow.function = lambda x: np.float32([0.1, 0.9])
        assert (await ask(applications, (3.0, 4.0))).confidence == pytest.approx(0.75)
        slow.function = lambda x: None
        answer = await ask(applications, (5.0, 6.0))  # the slow one's mean stands in for it
        np.testing.assert_allclose(answer.output, [0.7, 0.3], rtol=1e-6)
        applications.add(application(*names, name="sure", objective=0.02, policy="majority", threshold=0.8))
        answer = await ask(applications, (7.0, 8.0), name="sure")
        assert answer.output == "default" and "0.75 is below the threshold 0.8" in answer.explanation
        applications.add(application("slow", name="single", objective=0.01))
        answer = await ask(applications, (9.0, 9.0), name="single")
        assert (answer.output, answer.explanation, answer.confidence) == ("default", LATE, 0.0)
        assert applications.defaults == {"sure": 1, "single": 1}

    running(main, *quick, slow)


def test_why_a_default_answers():
    broken = Fake("broken", lambda x: errors.internal("no such weight"))

    async def main(applications):
        applications.add(application())
        assert (await ask(applications)).explanation == NO_MODELS
        applications.add(application("broken", name="b"))
        assert (await ask(applications, name="b")).explanation == "model broken: no such weight"
        applications.add(application("gone", name="g"))
        assert "Servable not found" in (await ask(applications, name="g")).explanation
        applications.add(application("broken", name="o", output="z"))
        assert (await ask(applications, name="o")).explanation == "model broken: model broken has no output z"
        answer = await ask(applications, (1.0, 2.0, 3.0), name="b")
        assert answer.explanation == "model broken: model broken takes 2 values, and the input has 3"

    running(main, broken)


@pytest.mark.parametrize("policy", ["exp3", "exp4"])
def test_feedback_is_learned_and_outlives_the_server(policy, tmp_path):
    def good(x):
        return np.eye(2, dtype=np.float32)[int(x[0, 0] > x[0, 1])]

    right, wrong = Fake("right", good), Fake("wrong", lambda x: good(x)[::-1])
    numbers = random.Random(0)

    async def learn(applications):
        applications.add(application(policy={"name": policy, "rate": 0.3}))
        applications.link("app", ["right", "wrong"])
        for _ in range(60):
            value = (numbers.random(), numbers.random())
            await ask(applications, value)
            assert await tell(applications, int(value[0] > value[1]), value) is None
        assert applications.weights["app"]["right"] > 0.95
        before = right.calls + wrong.calls
        assert before == (60 if policy == "exp3" else 120)  # feedback found its predictions in the cache

    async def remember(applications):
        state = asyncio.get_running_loop().create_future()
        applications.state("app", "", state.set_result)
        assert (await state)["weights"]["right"] > 0.95
        assert applications.find("app").models == ["right", "wrong"]
        answers = [await ask(applications, (0.5, number / 100)) for number in range(50)]
        assert applications.weights["app"]["right"] > 0.95  # of before, without a word of feedback
        assert np.mean([answer.output.argmax() for answer in answers]) > 0.9

    for main in (learn, remember):
        running(main, right, wrong, url=str(tmp_path / "states"))


def test_users_learn_apart_or_together_and_keep_their_model():
    a, b = Fake("a", lambda x: np.float32([1, 0])), Fake("b", lambda x: np.float32([0, 1]))

    async def main(applications):
        applications.add(application("a", "b", policy={"name": "exp4", "rate": 1.0}, per_user=True))
        for _ in range(20):
            await tell(applications, 0, user="ann")
            await tell(applications, 1, user="bob")
        ann, bob = await ask(applications, user="ann"), await ask(applications, user="bob")
        assert (ann.output.argmax(), bob.output.argmax()) == (0, 1)
        applications.add(
            application("a", "b", name="ab", policy={"name": "shares", "shares": {"a": 1, "b": 1}})
        )
        picks = {}
        for turn in range(3):
            for user in map(str, range(40)):
                answer = await ask(applications, (turn, 0.0), user, "ab")
                assert picks.setdefault(user, answer.models) == answer.models
        assert {tuple(models) for models in picks.values()} == {("a",), ("b",)}
        assert await tell(applications, 0, name="ab") is None  # nothing to learn

    running(main, a, b)


def test_feedback_that_cannot_be_learned_says_why():
    async def main(applications):
        applications.add(application(policy="exp4"))
        assert (await tell(applications, 1)).message == NO_MODELS
        applications.link("app", ["broken"])
        assert (await tell(applications, 1)).message == "broken"

    running(main, Fake("broken", lambda x: errors.internal("broken")))


def test_another_model_under_the_same_version_is_not_answered_from_the_cache():
    async def main(applications):
        applications.add(application("m"))
        assert (await ask(applications)).output[0] == 1
        applications._models["m"] = Fake("m", lambda x: np.float32([5, 5]))
        assert (await ask(applications)).output[0] == 5
        with pytest.raises(errors.NotFoundError):
            applications.set_version("m", 7)
        applications.set_version("m", 1)
        assert applications.versions == {"m": 1}

    running(main, Fake("m", lambda x: x[0]))


def test_links():
    two_inputs = Fake("two", lambda x: x)
    signature = two_inputs.signatures[DEFAULT_SIGNATURE]
    two_inputs.signatures = {DEFAULT_SIGNATURE: Signature(PREDICT, dict.fromkeys("ab"), signature.outputs)}

    async def main(applications):
        applications.add(application())
        with pytest.raises(errors.AlreadyExistsError):
            applications.add(application())
        applications.link("app", ["m", "m"])
        assert applications.find("app").models == ["m"]
        with pytest.raises(errors.FailedPreconditionError, match="must have one input"):
            applications.link("app", ["two"])
        with pytest.raises(errors.NotFoundError):
            applications.link("app", ["unknown"])
        with pytest.raises(errors.NotFoundError, match="not linked to two"):
            applications.unlink("app", ["two"])
        applications.unlink("app", ["m"])
        applications.delete("app")
        with pytest.raises(errors.NotFoundError, match="No application with name app found"):
            applications.predict("app", np.array([1.0]), "", print)

    running(main, two_inputs, Fake("m", lambda x: x[0]))


@pytest.mark.parametrize(
    "options", [{"name": "App"}, {"name": ""}, {"objective": 0.0}, {"policy": "exp9"}, {"name": "a" * 64}]
)
def test_bad_applications(options):
    with pytest.raises(errors.InvalidArgumentError):
        application(**options)


def test_inputs_become_rows():
    def row(value, dtype=float32, shape=(None, 2)):
        return model_inputs(
            "m", Fake("m", None, dtype=dtype, shape=shape).signatures[DEFAULT_SIGNATURE], value
        )["x"]

    floats = input_array("floats", [1, 2.5, 3, 4])
    assert row(floats, shape=(None, 2, 2)).shape == (1, 2, 2) and row(floats, shape=None).dtype == np.float32
    assert row(floats, shape=(2, 2)).shape == (2, 2)
    assert row(input_array("integers", [7]), int64, (None,)).tolist() == [7]
    assert row(input_array("strings", "hé"), string, (None,)).tolist() == ["hé".encode()]
    assert row(input_array("bytes", b"\0"), string, None).shape == (1,)
    for input_type, value in (("floats", 1.0), ("integers", [1.5]), ("integers", [True]), ("strings", [1])):
        with pytest.raises(errors.InvalidArgumentError):
            input_array(input_type, value)
    with pytest.raises(errors.InvalidArgumentError):
        input_array("integers", [1 << 80])
    with pytest.raises(errors.InvalidArgumentError, match="takes string"):
        row(floats, string)


def test_a_query_needs_no_clock():
    query = Query(application(policy="majority"), {}, ["a", "b"])
    assert not query.is_complete and query.answer({}).explanation == LATE
    query.arrived("a", np.array(3))
    assert query.answer({}).confidence == 0.5
    query.arrived("b", errors.internal("broken"))
    assert query.is_complete and query.answer({}).output == 3
