"""tf.errors: codes, classes, and messages that name the op and the user's line."""

import pickle
from types import SimpleNamespace

import pytest

from tideflow.graph import errors

CODES = {
    "CANCELLED": 1,
    "UNKNOWN": 2,
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "OUT_OF_RANGE": 11,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
    "DATA_LOSS": 15,
    "UNAUTHENTICATED": 16,
}


def class_of(code_name):
    return getattr(errors, "".join(word.capitalize() for word in code_name.split("_")) + "Error")


def fake_op(name="MatMul_1", type_="MatMul", frames=(("train.py", 9, "main"),), original=None):
    traceback = [(*frame, None) for frame in frames]
    return SimpleNamespace(name=name, type=type_, traceback=traceback, _original_op=original)


def test_ok_is_zero_and_has_no_class():
    assert errors.OK == 0
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(errors.OK)


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_every_code_has_its_class(name, code):
    cls = class_of(name)
    error = cls(None, None, "why")
    assert getattr(errors, name) == code == error.error_code
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code
    assert isinstance(error, errors.OpError)
    assert (error.message, error.op, error.node_def, str(error)) == ("why", None, None, "why")


def test_foreign_exceptions_have_the_unknown_code():
    assert errors.error_code_from_exception_type(ValueError) == errors.UNKNOWN
    assert errors.error_code_from_exception_type(errors.OpError) == errors.UNKNOWN


def test_unknown_error_may_carry_any_code():
    assert errors.UnknownError(None, None, "m", 77).error_code == 77
    assert errors.make_error(None, None, "m", 300).error_code == 300
    assert type(errors.make_error(None, None, "m", 300)) is errors.UnknownError
    assert type(errors.make_error(None, None, "m", 3)) is errors.InvalidArgumentError


def test_the_message_names_the_op_and_the_users_line():
    op = fake_op(frames=[("train.py", 9, "main"), ("model.py", 4, "layer")])
    error = errors.InvalidArgumentError("node", op, "sizes differ")
    assert error.op is op
    assert error.node_def == "node"
    assert str(error).splitlines() == [
        "sizes differ",
        "op 'MatMul_1' (MatMul), defined at model.py:4",
        "  called from train.py:9",
    ]


def test_an_op_made_for_another_names_that_one_too():
    forward = fake_op("y", "Log", [("model.py", 4, "f")])
    text = str(errors.InternalError(None, fake_op("gradients/y_grad", "Reciprocal", original=forward), "m"))
    assert "op 'gradients/y_grad' (Reciprocal), defined at train.py:9" in text
    assert "made for op 'y' (Log), defined at model.py:4" in text


def test_an_op_with_no_frames_is_still_named():
    assert "op 'a' (Add), defined at <unknown>" in str(
        errors.AbortedError(None, fake_op("a", "Add", []), "m")
    )


@pytest.mark.parametrize(
    "error",
    [
        errors.NotFoundError(None, None, "m"),
        errors.UnknownError(None, None, "m", 77),
        errors.OpError(None, None, "m", 5),
        errors.OutOfRangeError(None, fake_op(), "m"),
    ],
)
def test_errors_travel_between_processes(error):
    error_there = pickle.loads(pickle.dumps(error))
    assert type(error_there) is type(error)
    assert (error_there.message, error_there.error_code, error_there.op) == ("m", error.error_code, None)
    assert str(error_there) == str(error)
    assert str(pickle.loads(pickle.dumps(error_there))) == str(error)


def test_python_constructs_on_tensors_are_type_errors():
    assert issubclass(errors.OperatorNotAllowedInGraphError, TypeError)
