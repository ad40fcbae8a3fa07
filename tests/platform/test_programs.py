"""Flags, tf.app.run and logging as a program sees them: each in a process of its own."""

import subprocess
import sys

from tests import starter

PROGRAM = """
import sys
import tideflow.compat.v1 as tf

FLAGS = tf.app.flags.FLAGS
tf.flags.DEFINE_string("name", "x", "a name")
tf.flags.DEFINE_integer("n", 3, "a number")
tf.flags.DEFINE_float(flag_name="rate", default_value=0.1, docstring="old argument names")
"""


def run(body: str, *args: str) -> subprocess.CompletedProcess:
    return starter.run(["-c", PROGRAM + body, *args], timeout=120)


def test_flags_are_parsed_when_first_read():
    body = """
print("n" in FLAGS, FLAGS.is_parsed(), FLAGS.n, FLAGS.name, FLAGS.rate, FLAGS.is_parsed())
FLAGS.n = 7
print(FLAGS.n, FLAGS["n"].default, FLAGS.flag_values_dict()["rate"])
print(sorted(flag.name for flag in FLAGS.get_key_flags_for_module(sys.modules["__main__"])))
"""
    result = run(body, "--n", "4", "--name=q")
    assert result.stdout.splitlines() == ["True False 4 q 0.1 True", "7 3 0.1", "['n', 'name', 'rate']"]
    assert "UnrecognizedFlagError" in run("FLAGS.n", "--unknown=1").stderr


def test_run_leaves_unknown_flags_to_main():
    body = """
def main(argv):
    print(argv[1:], FLAGS.n)
    return 3
tf.app.run()
"""
    result = run(body, "--n=5", "--unknown=1", "rest")
    assert (result.stdout, result.returncode) == ("['--unknown=1', 'rest'] 5\n", 3)
    required = run('tf.flags.DEFINE_string("must", None, "m")\ntf.flags.mark_flag_as_required("must")' + body)
    assert required.returncode != 0 and "must" in required.stderr


def test_log_lines_are_tensorflows():
    body = """
assert tf.logging.get_verbosity() == tf.logging.WARN
tf.logging.info("hidden")
tf.logging.set_verbosity(tf.logging.INFO)
tf.logging.info("loss = %s", 0.5)
for i in range(4):
    tf.logging.log_every_n(tf.logging.WARN, "every %d", 3, i)
    tf.logging.log_first_n(tf.logging.ERROR, "first %d", 1, i)
    tf.logging.log_if(tf.logging.INFO, "if %d", i == 2, i)
tf.logging.fatal("goes on")
"""
    assert run(body).stderr.splitlines() == [
        "INFO:tensorflow:loss = 0.5",
        "WARNING:tensorflow:every 0",
        "ERROR:tensorflow:first 0",
        "INFO:tensorflow:if 2",
        "WARNING:tensorflow:every 3",
        "CRITICAL:tensorflow:goes on",
    ]


def test_a_program_that_set_up_logging_is_left_alone():
    body = (
        "import logging; logging.basicConfig(format='%(message)s')\n" + PROGRAM + "tf.logging.error('once')"
    )
    result = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, timeout=120)
    assert result.stderr == "once\n"


def test_log_records_name_the_users_line(caplog):
    import tideflow as tf

    tf.logging.error("here")
    tf.logging.log_if(tf.logging.ERROR, "here", True)
    assert {record.funcName for record in caplog.records} == {"test_log_records_name_the_users_line"}


def test_tests_run_themselves(tmp_path):
    file = tmp_path / "some_test.py"
    file.write_text(
        "import tideflow as tf\n"
        "class SomeTest(tf.test.TestCase):\n"
        "    def testSum(self):\n"
        "        with self.cached_session():\n"
        "            self.assertAllEqual([3], tf.constant([1]) + 2)\n"
        "if __name__ == '__main__':\n"
        "    tf.test.main()\n"
    )
    result = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0 and "OK (skipped=1)" in result.stderr, result.stderr
