"""Manifests of a job for Kubernetes and Slurm, as text to read, change and submit."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from tideflow.cluster import keys
from tideflow.launch.local import NEW_KEY, key_file
from tideflow.launch.plan import Cluster, Plan, Resources, cluster_of, environment_of, threads_of
from tideflow.launch.processes import TASK_ENTRY
from tideflow.launch.supervision import Task

PORT = 2222
_NAME = re.compile(r"[a-z]([-a-z0-9]{0,40}[a-z0-9])?")
_INDEX = "INDEX"  # a placeholder for the index of a task, which the shell knows
_KEY_FOLDER = "/etc/tideflow"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"--name: '{name}' is not a name of small letters, digits and dashes (42 at most)")
    return name


def _program(plan: Plan, flags: Mapping[str, str]) -> str:
    """The shell command of a task. `flags` are shell words already; the rest is quoted."""
    words = [shlex.quote(word) for word in (plan.script, *plan.arguments)]
    return " ".join(
        ["python3", "-m", TASK_ENTRY, *words, *(f"--{name}={flags[name]}" for name in plan.flags)]
    )


def _indented(text: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}\n" if line else "\n" for line in text.splitlines())


# ------------------------------------------------------------------------------------------------ Kubernetes

_KUBERNETES = """\
# {name}: {sizes}.
#
# `kubectl apply -f FILE` starts the job, `kubectl logs -f job/{name}-{chief}` follows the chief,
# `kubectl delete -f FILE` stops it and removes what is left of it.
#
# Each kind of task is an indexed Job: a pod that fails is made again with the same name and index, and
# parameter servers leave by themselves when the chief has finished. (A StatefulSet would start them again.)
# Checkpoints must be where every pod can reach them: see the volume that is commented out below.
apiVersion: v1
kind: Secret
metadata:
  name: {name}-key
# Whoever has this key can run steps in the cluster: keep this file to yourself, or take a sealed secret.
stringData:
  cluster.key: "{key}"
---
# Gives every pod a name that the others find it by.
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  clusterIP: None
  publishNotReadyAddresses: true  # tasks wait for each other themselves
  selector:
    tideflow-job: {name}
"""

_KUBERNETES_JOB = """\
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}-{job}
spec:
  completionMode: Indexed
  completions: {count}
  parallelism: {count}
  backoffLimitPerIndex: {restarts}  # how often each task is started again
{success}  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      labels:
        tideflow-job: {name}
    spec:
      subdomain: {name}
      restartPolicy: Never  # the Job makes a new pod instead, perhaps on another machine
      containers:
        - name: task
          image: {image}  # has Tideflow and the program
          command: ["/bin/sh", "-c"]
          args:
            - |
{script}          ports:
            - containerPort: {port}
{resources}          volumeMounts:
            - name: key
              mountPath: {key_folder}
              readOnly: true
            # - name: checkpoints
            #   mountPath: /checkpoints
      volumes:
        - name: key
          secret:
            secretName: {name}-key
        # - name: checkpoints
        #   persistentVolumeClaim:
        #     claimName: checkpoints
"""

_SUCCESS = """\
  successPolicy:  # when the chief has finished, so has the job
    rules:
      - succeededIndexes: "0"
"""

_POD_SCRIPT = """\
set -eu
# A copy that nobody else can read, as Tideflow wants it, whoever owns the volume.
umask 077
cat {key_folder}/cluster.key > /tmp/cluster.key
export TIDEFLOW_CLUSTER_KEY=/tmp/cluster.key
export TF_CONFIG={config}
{threads}# The name of this pod takes a moment to be known.
tries=0
until getent hosts {host} > /dev/null || [ "$tries" -ge 60 ]; do tries=$((tries + 1)); sleep 1; done
exec {program}
"""


def kubernetes(plan: Plan, name: str, key: str | None, image: str) -> str:
    """A Secret with the cluster key, a headless Service, and an indexed Job for each kind of task."""
    name = _checked(name)
    tasks = plan.tasks
    cluster = cluster_of({task: f"{name}-{task.job}-{task.index}.{name}:{PORT}" for task in tasks})
    head = _KUBERNETES.format(
        name=name, sizes=_sizes(cluster), chief=plan.chief.job, key=_key_text(key).strip()
    )
    jobs = [_kubernetes_job(plan, name, job, cluster, image) for job in cluster]
    return head + "".join(jobs)


def _kubernetes_job(plan: Plan, name: str, job: str, cluster: Cluster, image: str) -> str:
    resources = plan.resources_of(Task(job, 0))
    return _KUBERNETES_JOB.format(
        name=name,
        job=job,
        count=len(cluster[job]),
        restarts=plan.restarts,
        success=_SUCCESS if job == plan.chief.job else "",
        image=json.dumps(image),
        script=_indented(_pod_script(plan, name, job, cluster, resources), 14),
        port=PORT,
        resources=_indented(_pod_resources(resources), 10),
        key_folder=_KEY_FOLDER,
    )


def _pod_script(plan: Plan, name: str, job: str, cluster: Cluster, resources: Resources) -> str:
    index = '"$JOB_COMPLETION_INDEX"'
    flags = {
        "job_name": job,
        "task_index": index,
        "ps_hosts": ",".join(cluster.get("ps", ())),
        "worker_hosts": ",".join(cluster.get("worker", ())),
    }
    threads = f"export OMP_NUM_THREADS={threads_of(resources.cpus)}\n" if resources.cpus else ""
    return _POD_SCRIPT.format(
        key_folder=_KEY_FOLDER,
        config=_config(cluster, job, index),
        threads=threads,
        host=f"{name}-{job}-{index}.{name}",
        program=_program(plan, flags),
    )


def _config(cluster: Cluster, job: str, index: str) -> str:
    """TF_CONFIG as a shell word that contains the shell word for the index."""
    text = environment_of(Task(job, 0), cluster)["TF_CONFIG"].replace('"index": 0', f'"index": {_INDEX}')
    return shlex.quote(text).replace(_INDEX, f"'{index}'")


def _pod_resources(resources: Resources) -> str:
    wanted = {"cpu": resources.cpus, "nvidia.com/gpu": resources.gpus}
    lines = [f"    {name}: {json.dumps(f'{amount:g}')}\n" for name, amount in wanted.items() if amount]
    if not lines:
        return "# resources: say what a task may have, or give --worker-cpus, --ps-cpus, --worker-gpus\n"
    return "resources:\n  requests:\n" + "".join(lines) + "  limits:\n" + "".join(lines)


def _key_text(key: str | None) -> str:
    """The content of a key file, or of a new key if there is none."""
    with key_file(key or NEW_KEY) as named:
        return Path(named[keys.VARIABLE]).read_text()


def _sizes(cluster: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{len(hosts)} of {job}" for job, hosts in cluster.items())


# ----------------------------------------------------------------------------------------------------- Slurm

_SLURM = """\
#!/bin/bash
# {name}: {sizes}. Submit it with sbatch, from a folder that all nodes share.
#SBATCH --job-name={name}
#SBATCH --ntasks={count}
# Parameter servers have as many CPUs and GPUs as workers.
#SBATCH --cpus-per-task={cpus}
{gpus}#SBATCH --output={name}-%j.log
# With one # less, what your cluster may want:
##SBATCH --time=24:00:00
##SBATCH --partition=
set -euo pipefail

# Only you can read what is made here: the key of the cluster, and what each task runs.
umask 077
folder="$(mktemp -d "${{SLURM_SUBMIT_DIR:-$PWD}}/.{name}.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
{key}
# Which node each task is on, by rank; ports differ from job to job, so that two may share a node.
port=$((20000 + SLURM_JOB_ID % 10000))
mapfile -t hosts < <(srun --ntasks={count} --label hostname -f | sort -n | awk '{{print $NF}}')
if [ "${{#hosts[@]}}" != {count} ]; then echo "{name}: srun has not named {count} hosts" >&2; exit 1; fi
for rank in "${{!hosts[@]}}"; do hosts[rank]="${{hosts[rank]}}:$((port + rank))"; done
listed() {{ local IFS=,; echo "$*"; }}
quoted() {{ printf '"%s"\\n' "$@" | paste -s -d ,; }}
{slices}export TIDEFLOW_CLUSTER={cluster}

cat > "$folder/task.sh" <<'TASK'
{ranks}
task="{{\\"type\\": \\"$job\\", \\"index\\": $index}}"
export TF_CONFIG="{{\\"cluster\\": $TIDEFLOW_CLUSTER, \\"task\\": $task}}"
export OMP_NUM_THREADS="${{SLURM_CPUS_PER_TASK:-1}}"
for restart in $(seq 0 {restarts}); do
  code=0
  {program} || code=$?
  if [ "$code" = 0 ]; then exit 0; fi
  echo "$job $index has failed (code $code), $restart of {restarts} restarts taken"
  sleep "$restart"
done
# The others go on without a worker, but not without the chief or a parameter server.
if [ "$job $index" != "{chief}" ] && [ "$job" != ps ]; then exit 0; fi
exit "$code"
TASK

srun --ntasks={count} --label --kill-on-bad-exit=1 bash "$folder/task.sh"
"""


def slurm(plan: Plan, name: str, key: str | None) -> str:
    """A script for sbatch that runs each task as a Slurm task."""
    name = _checked(name)
    sizes: dict[str, int] = {}
    for task in plan.tasks:
        sizes[task.job] = sizes.get(task.job, 0) + 1
    wanted = [plan.resources_of(task) for task in plan.tasks]
    gpus = max(int(one.gpus or 0) for one in wanted)
    flags = {
        "job_name": '"$job"',
        "task_index": '"$index"',
        "ps_hosts": '"$PS_HOSTS"' if "ps" in sizes else "",
        "worker_hosts": '"$WORKER_HOSTS"',
    }
    return _SLURM.format(
        name=name,
        sizes=", ".join(f"{size} of {job}" for job, size in sizes.items()),
        count=len(plan.tasks),
        cpus=max(1, *(int(one.cpus or 1) for one in wanted)),
        gpus=f"#SBATCH --gpus-per-task={gpus}\n" if gpus else "",
        key=_slurm_key(key),
        slices=_slices(sizes),
        cluster=_shell_cluster(sizes),
        ranks=_ranks(sizes),
        restarts=plan.restarts,
        program=_program(plan, flags),
        chief=plan.chief,
    )


def _slurm_key(key: str | None) -> str:
    if key is None or key == NEW_KEY:
        made = 'python3 -m tideflow keygen "$folder/cluster.key" > "$folder/said"'
        return f'{made}\nexport {keys.VARIABLE}="$folder/cluster.key"\n'
    keys.read(key)
    return f"export {keys.VARIABLE}={shlex.quote(str(Path(key).absolute()))}\n"


def _bounds(sizes: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """Each job with its first rank and its size."""
    bounds, first = [], 0
    for job, size in sizes.items():
        bounds.append((job, first, size))
        first += size
    return bounds


def _slices(sizes: Mapping[str, int]) -> str:
    lines = ""
    for job, first, size in _bounds(sizes):
        lines += f'{job}=("${{hosts[@]:{first}:{size}}}")\n'
        lines += f'export {job.upper()}_HOSTS="$(listed "${{{job}[@]}}")"\n'
    return lines


def _shell_cluster(sizes: Mapping[str, int]) -> str:
    """The cluster as JSON in a shell word that contains shell variables."""
    parts = [f'\\"{job}\\": [$(quoted "${{{job}[@]}}")]' for job in sizes]
    return '"{' + ", ".join(parts) + '}"'


def _ranks(sizes: Mapping[str, int]) -> str:
    """Shell commands that set `job` and `index` from the rank of a Slurm task."""
    lines: list[str] = []
    for job, first, size in _bounds(sizes):
        word = "elif" if lines else "if"
        lines.append(f'{word} [ "$SLURM_PROCID" -lt {first + size} ]; then')
        lines.append(f"  job={job} index=$((SLURM_PROCID - {first}))")
    return "\n".join([*lines, "fi"])
