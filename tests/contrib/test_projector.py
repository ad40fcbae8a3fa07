"""tf.contrib.tensorboard.plugins.projector: configurations, and embeddings as tables."""

import numpy as np
import pytest
from google.protobuf import text_format

import tideflow as tf
from tideflow.contrib import projector


@pytest.fixture
def saved(tmp_path):
    """A directory with a checkpoint of a table and a vector."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("scope/table", initializer=np.float32([[1.5, -2], [1 / 3, 1e-20]]))
        tf.get_variable("vector", initializer=np.zeros(3, np.float32))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    return tmp_path


def configure(folder, **embedding):
    config = projector.ProjectorConfig()
    config.embeddings.add(**embedding)
    with tf.summary.FileWriter(folder) as writer:
        projector.visualize_embeddings(writer, config)


def read(folder):
    return text_format.Parse((folder / "projector_config.pbtxt").read_text(), projector.ProjectorConfig())


def test_the_configuration_is_tensorboards(saved):
    configure(saved, tensor_name="scope/table:0", metadata_path="labels.tsv")
    (embedding,) = read(saved).embeddings
    assert (embedding.tensor_name, embedding.metadata_path) == ("scope/table:0", "labels.tsv")
    public = tf.contrib.tensorboard.plugins.projector
    assert public.visualize_embeddings is projector.visualize_embeddings
    assert public.EmbeddingInfo is projector.EmbeddingInfo


def test_what_tensorboard_cannot_read_by_itself_is_told(saved, caplog):
    configure(saved, tensor_name="scope/table:0")
    (told,) = caplog.messages
    assert f"projector.export_tensors({str(saved)!r})" in told
    caplog.clear()
    configure(saved, tensor_name="scope/table:0", tensor_path="table.tsv")
    assert not caplog.messages


def test_tables_hold_the_checkpoints_numbers(saved):
    configure(saved, tensor_name="scope/table:0")
    (path,) = projector.export_tensors(str(saved))
    np.testing.assert_array_equal(np.loadtxt(path, np.float32), np.float32([[1.5, -2], [1 / 3, 1e-20]]))
    (embedding,) = read(saved).embeddings
    assert embedding.tensor_path == "scope_table.tsv" and list(embedding.tensor_shape) == [2, 2]
    assert projector.export_tensors(str(saved)) == []  # there already


@pytest.mark.parametrize(
    ("name", "found"), [("nobody", "is not in the checkpoint"), ("vector", r"has shape \[3\]")]
)
def test_an_embedding_that_is_no_table_is_named(saved, name, found):
    configure(saved, tensor_name=name)
    with pytest.raises(tf.errors.NotFoundError, match=f"'{name}' {found}; the tables there are: scope/table"):
        projector.export_tensors(str(saved))


def test_without_configuration_or_checkpoint(saved, tmp_path_factory):
    with pytest.raises(tf.errors.NotFoundError, match=r"projector_config\.pbtxt"):
        projector.export_tensors(str(saved))
    empty = tmp_path_factory.mktemp("empty")
    configure(empty, tensor_name="x")
    with pytest.raises((ValueError, tf.errors.NotFoundError)):
        projector.export_tensors(str(empty))
