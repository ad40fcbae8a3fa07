"""What the real TensorBoard makes of our files, by the data that its pages ask for."""

import io
import json
import wave

import numpy as np
from google.protobuf import text_format
from PIL import Image
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef

RUN = "run=rate_0.01"


def test_every_page_has_something_to_show(ask):
    pages = json.loads(ask("plugins_listing"))
    shown = {name for name, page in pages.items() if page["enabled"]}
    assert shown >= {
        *"scalars custom_scalars images audio graphs distributions histograms text".split(),
        *"pr_curves hparams mesh timeseries".split(),
    }


def test_scalars(ask):
    series = json.loads(ask(f"plugin/scalars/scalars?{RUN}&tag=training/loss"))
    assert [step for _, step, _ in series] == list(range(0, 61, 5))
    assert series[-1][2] < series[0][2]


def test_histograms_and_distributions(ask):
    histograms = json.loads(ask(f"plugin/histograms/histograms?{RUN}&tag=convolution/weights"))
    assert sum(count for _, _, count in histograms[0][2]) == 3 * 3 * 1 * 8
    distributions = json.loads(ask(f"plugin/distributions/distributions?{RUN}&tag=convolution/weights"))
    shares, values = zip(*distributions[0][2])
    assert shares[0] == 0 and shares[-1] == 10000
    assert list(values) == sorted(values)


def test_images_and_sounds(ask):
    pictures = json.loads(ask(f"plugin/images/images?{RUN}&tag=input/seen/image/0&sample=0"))
    picture = Image.open(io.BytesIO(ask(f"plugin/images/individualImage?{pictures[-1]['query']}")))
    assert picture.size == (16, 16)
    sounds = json.loads(ask(f"plugin/audio/audio?{RUN}&tag=once/chord/audio/0&sample=0"))
    with wave.open(io.BytesIO(ask(f"plugin/audio/individualAudio?{sounds[0]['query']}"))) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (8000, 4000)


def test_text(ask):
    (about,) = json.loads(ask(f"plugin/text/text?{RUN}&tag=once/about"))
    assert "<h1>A tour</h1>" in about["text"]
    (kinds,) = json.loads(ask(f"plugin/text/text?{RUN}&tag=once/kinds"))
    assert "<td>stripes</td>" in kinds["text"].replace("<p>", "").replace("</p>", "")


def test_graph_with_devices_and_shapes(ask):
    graph = text_format.Parse(ask(f"plugin/graphs/graph?{RUN}").decode(), GraphDef())
    nodes = {node.name: node for node in graph.node}
    convolution = nodes["convolution/Conv2D"]
    assert convolution.device == "/device:CPU:0"
    (shape,) = convolution.attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [-1, 8, 8, 8]


def test_run_metadata_have_time_and_memory(ask):
    text = ask(f"plugin/graphs/run_metadata?{RUN}&tag=step%2060").decode()
    (device,) = text_format.Parse(text, RunMetadata()).step_stats.dev_stats
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    stats = {stats.node_name: stats for stats in device.node_stats}
    assert stats["convolution/Conv2D"].all_end_rel_micros > 0
    assert stats["convolution/Conv2D"].memory[0].total_bytes == 32 * 8 * 8 * 8 * 4
    assert {"input/pictures", "convolution/kernel"} <= stats.keys()
    assert all(o.tensor_description.HasField("shape") for s in stats.values() for o in s.output)


def test_projector_shows_the_embedding_of_the_checkpoint(ask, tour):
    (embedding,) = json.loads(ask(f"plugin/projector/info?{RUN}"))["embeddings"]
    assert embedding["tensorShape"] == [60, 16]
    rows = np.frombuffer(ask(f"plugin/projector/tensor?{RUN}&name=shown_features"), np.float32)
    np.testing.assert_array_equal(
        rows.reshape(60, 16), np.loadtxt(tour / "rate_0.01" / "shown_features.tsv", np.float32)
    )
    labels = ask(f"plugin/projector/metadata?{RUN}&name=shown_features").decode().split()
    assert len(labels) == 60 and set(labels) == {"stripes", "disc", "noise"}


def test_mesh_curves_and_custom_scalars(ask):
    parts = json.loads(ask(f"plugin/mesh/meshes?{RUN}&tag=icosahedron&sample=0"))
    assert [part["data_shape"] for part in parts] == [[1, 12, 3], [1, 20, 3], [1, 12, 3]]
    curves = json.loads(ask(f"plugin/pr_curves/pr_curves?{RUN}&tag=first_kind"))["rate_0.01"]
    assert curves[-1]["step"] == 60 and max(curves[-1]["precision"]) > 0.5
    assert json.loads(ask("plugin/custom_scalars/layout"))["category"][0]["title"] == "all"


def test_hyperparameters(ask):
    asked = json.dumps({"experimentName": "", "hparamsLimit": 10}).encode()
    experiment = json.loads(ask("plugin/hparams/experiment", asked))
    assert {info["name"] for info in experiment["hparamInfos"]} == {"rate", "steps"}
