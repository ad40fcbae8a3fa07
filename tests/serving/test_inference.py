"""serving/inference.py: what requests mean for signatures, and TensorFlow Serving's refusals."""

import numpy as np
import pytest

from tests.serving.fake_models import SIGNATURES, FakeServable, rows_of
from tideflow.graph import dtypes, errors
from tideflow.serving import inference
from tideflow.serving.calls import CLASSIFY, PREDICT, REGRESS, Signature

X = np.float32([[1, 2], [3, 4], [5, 6]])
TWO = {"a": np.int32([1, 2]), "s": np.array([b"x", b"y"], object)}


def predict(signature="", inputs=None, wanted=(), servable=None):
    outcomes = []
    servable = servable or FakeServable()
    call = inference.predict_call(servable, signature, inputs or {"x": X}, wanted, 9.0, outcomes.append)
    servable.submit(call)
    return call, outcomes[0]


def test_a_prediction_is_a_call_with_its_rows():
    call, outputs = predict()
    assert (call.signature, call.rows, call.outputs, call.deadline) == ("serving_default", 3, ("y",), 9.0)
    assert outputs["y"].tolist() == (X / 2 + 2).tolist()
    assert predict("two", TWO, ["sum"])[1].keys() == {"sum"}


@pytest.mark.parametrize(
    ("arguments", "kind", "phrase"),
    [
        ({"signature": "no"}, "FailedPrecondition", 'Serving signature key "no" not found.'),
        (
            {"inputs": {"z": X}},
            "InvalidArgument",
            r"alias not found in signature: z. Inputs expected to be in the set \{x\}",
        ),
        (
            {"inputs": {"x": X, "z": X}},
            "InvalidArgument",
            r"input size does not match signature: 2!=1 len\(\{x,z\}\) != len\(\{x\}\). "
            r"Sent extra: \{z\}. Missing but required: \{\}.",
        ),
        ({"inputs": {"x": X.astype(float)}}, "InvalidArgument", "must be of type float32, but .* float64"),
        ({"inputs": {"x": X[0]}}, "InvalidArgument", r"must have shape \[\?,2\], but it has shape \[2\]"),
        ({"wanted": ["q"]}, "InvalidArgument", r"output tensor alias not found in signature: q .*\{y\}"),
        ({"wanted": ["y", "y"]}, "InvalidArgument", "duplicate output tensor alias: y"),
        (
            {"signature": "two", "inputs": TWO | {"a": np.int32([1])}},
            "InvalidArgument",
            "equal 0th-dimension",
        ),
        ({"signature": "any", "inputs": {"x": np.float32(1)}}, "InvalidArgument", "at least one dimension"),
    ],
)
def test_wrong_requests_are_refused_before_they_reach_a_batch(arguments, kind, phrase):
    with pytest.raises(getattr(errors, f"{kind}Error"), match=phrase):
        predict(**arguments)


def on_examples(method, signature, examples=(b"one", b"three"), servable=None, **options):
    outcomes = []
    servable = servable or FakeServable()
    call = inference.examples_call(
        servable, inference.METHODS[method], signature, examples, 9.0, outcomes.append, **options
    )
    servable.submit(call)
    return outcomes[0]


def test_examples_are_classified_and_regressed():
    classes = on_examples(CLASSIFY, "classify")
    assert classes.labels.tolist() == [[b"long", b"short"]] * 2
    assert classes.scores.tolist() == [[3, -3], [5, -5]]
    assert on_examples(REGRESS, "regress").tolist() == [3, 5]


@pytest.mark.parametrize(
    ("method", "signature", "phrase"),
    [
        (CLASSIFY, "no", "No signature was found with the name: no"),
        (
            CLASSIFY,
            "regress",
            "Expected classification signature method_name to be .*classify. Was: .*regress",
        ),
        (REGRESS, "classify", "Expected regression signature method_name to be .*regress. Was: .*classify"),
    ],
)
def test_methods_need_signatures_of_their_own_where_names_are_checked(method, signature, phrase):
    with pytest.raises(errors.InvalidArgumentError, match=phrase):
        on_examples(method, signature, checks_name=True)
    with pytest.raises(errors.InvalidArgumentError, match="Input is empty"):
        on_examples(CLASSIFY, "classify", ())


def test_signatures_of_tensorflow_2_are_asked_by_their_inputs_and_outputs():
    native = Signature(PREDICT, SIGNATURES["regress"].inputs, SIGNATURES["regress"].outputs)
    servable = FakeServable(signatures={"regress": native})
    assert on_examples(REGRESS, "regress", servable=servable).tolist() == [3, 5]
    assert multi(("half", "regress", REGRESS), servable=servable)[0][0].tolist() == [3]
    with pytest.raises(errors.InvalidArgumentError, match="Expected regression signature method_name"):
        multi(("half", "regress", REGRESS), servable=servable, checks_names=True)
    with pytest.raises(errors.FailedPreconditionError, match='at least one of "classes" or "scores"'):
        on_examples(CLASSIFY, "regress", servable=servable)


def test_outputs_that_are_no_classes_are_refused():
    class Odd(FakeServable):
        def submit(self, call):
            call.done({"classes": np.array([[b"a"]], object), "scores": np.zeros((1, 2), np.float32)})

    assert (
        "should match in dim_size(1). Got 1 vs. 2" in on_examples(CLASSIFY, "classify", [b"e"], Odd()).message
    )
    refusal = on_examples(CLASSIFY, "classify", [b"e", b"f"], Odd()).message
    assert refusal == "Expected classes output batch size of 2. Got: 1"
    odd = FakeServable(signatures={"r": Signature(REGRESS, {"inputs": rows_of(dtypes.string)}, {})})
    with pytest.raises(errors.InvalidArgumentError, match="Expected one output Tensor"):
        on_examples(REGRESS, "r", servable=odd)


def multi(*tasks, servable=None, **options):
    outcomes = []
    servable = servable or FakeServable()
    tasks = [inference.Task(*task) for task in tasks]
    calls = inference.multi_inference_calls(servable, tasks, [b"abc"], 9.0, outcomes.append, **options)
    for call in calls:
        servable.submit(call)
    return outcomes


def test_multi_inference_answers_when_all_tasks_have():
    servable = FakeServable(is_holding=True)
    outcomes = multi(("half", "classify", CLASSIFY), ("half", "regress", REGRESS), servable=servable)
    assert not outcomes
    servable.release()
    ((classes, values),) = outcomes
    assert (classes.scores.tolist(), values.tolist()) == ([[3, -3]], [3])


def test_multi_inference_fails_once():
    servable = FakeServable(is_holding=True)
    outcomes = multi(("half", "classify", CLASSIFY), ("half", "regress", REGRESS), servable=servable)
    for call in servable.held:
        call.done(errors.unavailable("gone"))
    assert [outcome.message for outcome in outcomes] == ["gone"]


@pytest.mark.parametrize(
    ("tasks", "phrase"),
    [
        ([("", "classify", CLASSIFY)], "Found ModelSpec with an empty model name"),
        ([("a", "classify", CLASSIFY), ("b", "regress", REGRESS)], "must access the same model name"),
        (
            [("a", "classify", CLASSIFY), ("a", "classify", CLASSIFY)],
            "Duplicate evaluation of signature: classify",
        ),
        ([("a", "no", CLASSIFY)], "Requested signature not found in model graph: no"),
        ([("a", "", PREDICT)], "Unsupported signature method_name: tensorflow/serving/predict"),
    ],
)
def test_tasks_that_do_not_fit_together_are_refused(tasks, phrase):
    with pytest.raises(errors.OpError, match=phrase):
        multi(*tasks)
