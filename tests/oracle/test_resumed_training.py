"""Training that one engine began the other goes on with, in the same folder, and comes to the same end."""

import numpy as np
from runner import ORACLE, SUBJECT, run

import tideflow as tf


def _trained(side, folder, last_step):
    run(side, "resumed_training.py", folder, last_step)
    newest = tf.train.latest_checkpoint(str(folder))
    assert newest == str(folder / f"model.ckpt-{last_step}")
    return {name: tf.train.load_variable(newest, name) for name, _ in tf.train.list_variables(newest)}


def test_each_goes_on_with_what_the_other_trained(oracle, tmp_path):
    for last_step, side in zip((6, 11, 17), (SUBJECT, ORACLE, SUBJECT)):
        found = _trained(side, tmp_path / "together", last_step)
    wanted = _trained(ORACLE, tmp_path / "alone", 17)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
