"""Runs the pipeline of taxi.py twice, serves the model that it pushed, and asks it about some trips."""

import argparse
import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import taxi_data

import tideflow as tf
from tideflow.cli import main as tideflow
from tideflow.serving.client import Client

PROGRAM = Path(__file__).with_name("taxi.py")


@contextlib.contextmanager
def served(folder):
    """`tideflow serve` on the folder that the pipeline pushes to; its gRPC address."""
    command = [sys.executable, "-m", "tideflow", "serve", str(folder), "--port=-1", "--rest_api_port=-1"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        lines = [server.stdout.readline().strip() for _ in range(2)]
        if not lines[1]:
            raise SystemExit(server.wait() or 1)
        print(lines[0])
        yield f"grpc://{lines[1].rpartition(' ')[2]}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def example_of(trip):
    """A trip as a serialized Example; gaps are left out."""
    features = {}
    for name, value in trip.items():
        if isinstance(value, str):
            features[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))
        elif isinstance(value, int):
            features[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        elif isinstance(value, float):
            features[name] = tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def is_served(client):
    with contextlib.suppress(tf.errors.NotFoundError):  # the server has not looked yet
        return any(status.state == "AVAILABLE" for status in client.statuses("taxi"))
    return False


def ask(address, count):
    """Sends trips that no run has seen, and prints what the server expects of them."""
    columns = taxi_data.make_trips(count, span=99)
    trips = [
        {
            name: columns[name][row].item() if hasattr(columns[name][row], "item") else columns[name][row]
            for name in taxi_data.COLUMNS
        }
        for row in range(count)
    ]
    with Client(address) as client:
        while not is_served(client):
            time.sleep(0.1)
        answers = client.predict("taxi", {"examples": [example_of(trip) for trip in trips]}, "predict")
    for trip, chance in zip(trips, answers["logistic"][:, 0]):
        print(
            f"  {trip['fare']:6.2f} by {trip['payment_type']:<12} a large tip to {chance:4.0%}"
            f" (there was {'one' if trip['big_tip'] else 'none'})"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path("out/pipeline/taxi"))
    parser.add_argument("--rows", type=int, default=30000, help="trips of a week (30000)")
    parser.add_argument("--steps", type=int, default=400, help="of training (400)")
    parser.add_argument("--stay", action="store_true", help="serve until Ctrl-C")
    options = parser.parse_args()
    settings = [f"root={options.root}", f"rows={options.rows}", f"steps={options.steps}"]
    command = ["pipeline", "run", str(PROGRAM), *(part for each in settings for part in ("--set", each))]
    for title in ("From raw data to a pushed model", "Once more: nothing has changed"):
        began = time.perf_counter()
        print(f"== {title}", flush=True)
        if status := tideflow(command):
            raise SystemExit(status)
        print(f"   in {time.perf_counter() - began:.1f} s", flush=True)
    print("== The model is served, and asked")
    with served(options.root / "serving") as address:
        ask(address, 5)
        if options.stay:
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()
    print(f"== To look at all of it: tideflow pipeline ui {options.root}")


if __name__ == "__main__":
    main()
