"""Manifests are read by their own languages' parsers, and the scripts in them are run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launch.launched import SOON
from tideflow.cli import main
from tideflow.cluster import keys

REPORT = Path(__file__).with_name("report.py")

SRUN = """#!/bin/bash
# Slurm's srun, on this machine: one process a rank, its lines with its rank.
for option in "$@"; do
  case "$option" in --ntasks=*) count="${option#*=}" ;; esac
done
while [[ "$1" == --* ]]; do shift; done
for rank in $(seq 0 $((count - 1))); do
  (export SLURM_PROCID="$rank"; "$@" 2>&1 | sed "s/^/$rank: /"; exit "${PIPESTATUS[0]}") & ranks+=($!)
done
code=0
for rank in "${ranks[@]}"; do wait "$rank" || code=$?; done
exit "$code"
"""


@pytest.fixture
def shell(tmp_path):
    """Runs a script with stand-ins for the commands of a cluster; its exit code and output."""
    commands = {
        "srun": SRUN,
        "hostname": "#!/bin/sh\necho 127.0.0.1\n",
        "getent": "#!/bin/sh\necho 127.0.0.1 $2\n",
        "python3": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    }
    (tmp_path / "bin").mkdir()
    for name, text in commands.items():
        path = tmp_path / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def run(script: str, program: str, **environment: str) -> tuple[int, str]:
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            [program, "-c", script],
            env={**os.environ, "PATH": path, **environment},
            capture_output=True,
            text=True,
            timeout=SOON,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def printed(capsys, *arguments: object) -> str:
    assert main(["launch", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def told(line: str) -> dict:
    return json.loads(line.partition("told ")[2])


def test_kubernetes(capsys, shell, tmp_path):
    yaml = pytest.importorskip("yaml")
    options = ("--kubernetes", "--name", "digits", "--image", "registry/me:1", "--ps", 2, "--workers", 3)
    sizes = ("--worker-cpus", 4, "--worker-gpus", 1, "--restarts", 5)
    text = printed(capsys, *options, *sizes, REPORT, "--does", "it's=nothing $HOME")
    secret, service, servers, workers = yaml.safe_load_all(text)

    (tmp_path / "key").write_text(secret["stringData"]["cluster.key"])
    (tmp_path / "key").chmod(0o600)
    assert keys.read(tmp_path / "key")
    assert service["spec"]["clusterIP"] == "None"
    for job, count in ((servers, 2), (workers, 3)):
        spec = job["spec"]
        assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", count, count)
        assert spec["backoffLimitPerIndex"] == 5
        pod = spec["template"]["spec"]
        assert (pod["restartPolicy"], pod["subdomain"]) == ("Never", service["metadata"]["name"])
        assert spec["template"]["metadata"]["labels"] == service["spec"]["selector"]
        (volume,) = pod["volumes"]
        assert volume["secret"]["secretName"] == secret["metadata"]["name"]
    assert workers["spec"]["successPolicy"]["rules"] == [{"succeededIndexes": "0"}]
    (container,) = workers["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry/me:1"
    assert container["resources"]["limits"] == {"cpu": "4", "nvidia.com/gpu": "1"}

    (script,) = container["args"]
    script = script.replace("/etc/tideflow/cluster.key", str(tmp_path / "key"))
    script = script.replace("/tmp/cluster.key", str(tmp_path / "copy"))
    code, output = shell(script, "sh", JOB_COMPLETION_INDEX="2")
    assert code == 0, output
    found = told(output)
    hosts = [f"digits-worker-{i}.digits:2222" for i in range(3)]
    assert found["place"]["cluster"]["worker"] == hosts and found["worker_hosts"] == ",".join(hosts)
    assert found["place"]["task"] == {"type": "worker", "index": 2}
    assert (found["job_name"], found["task_index"], found["threads"]) == ("worker", "2", "4")
    assert found["does"] == "it's=nothing $HOME"
    assert keys.read(found["key"])


def test_slurm(capsys, shell, tmp_path):
    sizes = ("--ps", 1, "--workers", 2, "--worker-cpus", 2, "--restarts", 1)
    script = printed(capsys, "--slurm", "--name", "digits", *sizes, REPORT, "--does", "worker1=exit3")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    directives = dict(re.findall(r"^#SBATCH --([\w-]+)=(.*)$", script, re.MULTILINE))
    assert directives == {
        "job-name": "digits",
        "ntasks": "3",
        "cpus-per-task": "2",
        "output": "digits-%j.log",
    }
    code, output = shell(script, "bash", SLURM_JOB_ID="12345", SLURM_SUBMIT_DIR=str(tmp_path))
    assert code == 0, output  # without a worker the others go on
    assert "2: worker 1 has failed (code 3), 1 of 1 restarts taken" in output
    found = {line[0]: told(line) for line in output.splitlines() if "told" in line}
    cluster = {"ps": ["127.0.0.1:22345"], "worker": ["127.0.0.1:22346", "127.0.0.1:22347"]}
    assert found["0"]["place"] == {"cluster": cluster, "task": {"type": "ps", "index": 0}}
    assert found["2"]["place"] == {"cluster": cluster, "task": {"type": "worker", "index": 1}}
    assert (found["1"]["job_name"], found["1"]["task_index"]) == ("worker", "0")
    assert found["1"]["worker_hosts"] == ",".join(cluster["worker"])
    assert not Path(found["0"]["key"]).exists()  # it went with the job


def test_a_chief_that_fails_is_the_end_of_a_slurm_job(capsys, shell, tmp_path):
    script = printed(capsys, "--slurm", "--chief", "--restarts", 0, REPORT, "--does", "chief=exit4")
    code, output = shell(script, "bash", SLURM_JOB_ID="1", SLURM_SUBMIT_DIR=str(tmp_path))
    assert code == 4, output


def test_a_name_that_kubernetes_would_refuse(capsys):
    assert main(["launch", "--kubernetes", "--name", "My Job", str(REPORT)]) == 2
    assert "'My Job' is not a name of small letters" in capsys.readouterr().err
