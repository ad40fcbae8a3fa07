# Written by `python -m tideflow.programs.stubs`.

from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo as EmbeddingInfo
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig as ProjectorConfig
from tensorboard.plugins.projector.projector_config_pb2 import SpriteMetadata as SpriteMetadata
from tideflow.contrib.projector import export_tensors as export_tensors
from tideflow.contrib.projector import visualize_embeddings as visualize_embeddings
