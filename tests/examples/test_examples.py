"""The programs of `examples/` run as a user runs them, end by themselves, and learn what they should."""

import os
import re
from pathlib import Path

import pytest

import tideflow as tf
from tests import starter

ROOT = Path(__file__).resolve().parents[2]


def run_example(name, *arguments, expect=0):
    """What the example prints; its error output too, where it fails."""
    done = starter.run(
        [ROOT / "examples" / name, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
        timeout=300,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + (done.stderr if expect else "")


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def test_linear_regression_finds_the_line():
    after = re.search(r"after: .*", run_example("linear_regression.py")).group()
    slope, shift = numbers(after)
    assert abs(slope - 0.1) < 1e-3
    assert abs(shift - 0.3) < 1e-3


def test_relu_layer_lets_about_half_through():
    printed = run_example("relu_layer.py")
    assert 'Tensor("Relu:0", shape=(100, 100), dtype=float32)' in printed
    assert 30 < int(re.search(r"ReLU let (\d+)%", printed).group(1)) < 70


def test_softmax_classifier_learns():
    lines = run_example("softmax_classifier.py").splitlines()
    (_, first_loss, _), (step, last_loss, accuracy) = map(numbers, (lines[0], lines[-1]))
    assert step == 1000
    assert last_loss < 0.3 < first_loss
    assert accuracy > 88


def test_dense_layer_prints_a_hundred_falling_losses_and_has_learned():
    *losses, answer = run_example("dense_layer.py").splitlines()
    losses = [float(loss) for loss in losses]
    assert len(losses) == 100
    assert losses[-1] < losses[0]
    assert numbers(answer) == pytest.approx([1, 2, 3, 4, 0, -1, -2, -3], abs=0.01)  # asked, and answered


def test_digits_reach_97_percent_and_leave_a_picture(tmp_path):
    picture = tmp_path / "made" / "digits.png"
    printed = run_example("digits.py", "--out", picture)
    assert float(re.search(r"test accuracy: ([\d.]+)%", printed).group(1)) >= 97
    assert f"picture: {picture}" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_one_step_on_digits_is_enough_for_a_picture(tmp_path):
    picture = tmp_path / "digits.png"
    assert "test accuracy" in run_example("digits.py", "--steps", 1, "--out", picture)
    assert picture.exists()


def test_digits_leave_logs_and_the_command_that_shows_them(tmp_path):
    logs = tmp_path / "logs"
    printed = run_example("digits.py", "--steps", 1, "--out", tmp_path / "digits.png", "--logs", logs)
    assert f"-m tensorboard.main --logdir {logs}" in printed
    (path,) = logs.iterdir()
    *_, last = tf.train.summary_iterator(path)
    kinds = {value.WhichOneof("value") for value in last.summary.value}
    assert kinds == {"simple_value", "histo", "image", "tensor"}


def test_digits_refuse_no_steps_and_explain_themselves():
    assert "at least 1 step" in run_example("digits.py", "--steps", 0, expect=2)
    assert "--steps" in run_example("digits.py", "--help")


def test_digits_are_learned_eagerly_and_training_goes_on_from_a_checkpoint(tmp_path):
    first = run_example("eager_mnist.py", "--epochs", 1, "--folder", tmp_path)
    assert "goes on" not in first
    printed = run_example("eager_mnist.py", "--epochs", 1, "--folder", tmp_path)
    assert "goes on from step 23" in printed
    assert float(re.search(r"test accuracy ([\d.]+)%", printed).group(1)) > 60


@pytest.mark.parametrize("name", ["digits_from_queues.py", "digits_from_records.py"])
def test_digits_are_learned_from_files(name):
    printed = run_example(name, "--steps", 80)
    assert "1797 pictures in 8 files" in printed
    share, count = re.search(r"test accuracy: ([\d.]+)% of (\d+)", printed).groups()
    assert int(count) == 360
    assert float(share) > 75


def test_digits_from_queues_tell_how_full_the_queues_are():
    printed = run_example("digits_from_queues.py", "--steps", 1)
    assert re.search(r"shuffle_batch_join/random_shuffle_queue +RandomShuffleQueue +\d+ +1256", printed)


@pytest.mark.parametrize("name", ["digits_from_queues.py", "digits_from_records.py"])
def test_digits_from_files_refuse_no_steps(name):
    assert "at least 1 step" in run_example(name, "--steps", 0, expect=2)


def test_an_op_of_ones_own_learns_and_refuses():
    printed = run_example("add_an_op.py")
    (share,) = re.findall(r"([\d.]+)% of the points", printed)
    assert float(share) > 95
    assert "logits and signs must have one shape, but are (2,) and (3,)" in printed
    assert "add_an_op.py:" in printed


def test_a_character_model_gets_less_perplexed_and_writes():
    small = ["--units", 48, "--layers", 1, "--length", 20]
    printed = run_example("char_lm.py", *small, "--steps", 36, "--write", 80, "--begin", "The ")
    unseen = [float(n) for n in re.findall(r"([\d.]+) on unseen text", printed)]
    assert len(unseen) == 6
    assert unseen[-1] < 30 < unseen[0]
    assert len(printed.split("It writes:\n\n")[1]) >= 84


def test_a_character_model_refuses_what_it_cannot_do():
    assert "characters of the text" in run_example("char_lm.py", "--begin", "\u4e16", expect=2)
    assert "must be more than 0" in run_example("char_lm.py", "--units", 0, expect=2)
    assert "truncated backpropagation" in run_example("char_lm.py", "--help")


def test_strings_are_reversed_a_little_after_a_little_training():
    printed = run_example("reverse_strings.py", "--steps", 150, "--longest", 5, "--tell-every", 75, "abc")
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", printed)]
    assert len(losses) == 2
    assert losses[-1] < losses[0]
    assert float(re.search(r"without a mistake: ([\d.]+)%", printed).group(1)) > 30
    assert re.search(r"^ *abc  ->  \w+", printed, re.MULTILINE)


def test_reversing_refuses_no_steps_and_other_letters_and_explains_itself():
    assert "must be at least 1" in run_example("reverse_strings.py", "--steps", 0, expect=2)
    assert "letters a to z" in run_example("reverse_strings.py", "ABC", expect=2)
    assert "--longest" in run_example("reverse_strings.py", "--help")


def test_resumable_training_goes_on_where_it_was(tmp_path):
    for begin, end in ((0, 60), (60, 90)):
        printed = run_example("resumable_training.py", "--logdir", tmp_path, "--steps", end)
        assert printed.split() == ["from", "step", str(begin), "to", "step", str(end)]


def test_keras_text_learns():
    printed = run_example("keras_text.py", "--samples", 400, "--epochs", 3)
    assert "lstm (LSTM)" in printed
    assert float(re.search(r"new sentences: (\S+)", printed).group(1)) > 0.7


def test_the_census_is_learned_exported_and_served(tmp_path):
    printed = run_example("census_estimator.py", f"--model_dir={tmp_path}", "--people=400", "--steps=30")
    accuracy, baseline, area = numbers(printed.splitlines()[0])
    assert 0 < baseline < 1 and 0 < accuracy < 1 and area > 0.5
    assert printed.count("more than 50K with probability") == 3
    assert len(os.listdir(tmp_path / "export" / "census")) == 1
