"""A program that says what it was told, does what `--does` says, and needs no cluster."""

import argparse
import json
import os
import signal
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--job_name")
parser.add_argument("--task_index")
parser.add_argument("--ps_hosts")
parser.add_argument("--worker_hosts")
parser.add_argument("--does", default="")
options = parser.parse_args()
place = json.loads(os.environ["TF_CONFIG"])
told = {
    **vars(options),
    "threads": os.environ["OMP_NUM_THREADS"],
    "key": os.environ.get("TIDEFLOW_CLUSTER_KEY"),
}
print("told", json.dumps({**told, "place": place}), flush=True)
me = f"{place['task']['type']}{place['task']['index']}"
for action in options.does.split():
    who, _, what = action.partition("=")
    if who not in (me, place["task"]["type"], "all"):
        continue
    if what.startswith("exit"):
        sys.exit(int(what[4:]))
    if what == "stay":
        time.sleep(600)
    if what == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        time.sleep(600)
    if what == "raise":
        raise RuntimeError("on purpose")
