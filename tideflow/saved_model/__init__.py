"""SavedModels: graphs with their variables, assets and signatures, in TensorFlow's directories."""

from tideflow.saved_model import (  # noqa: F401
    builder,
    constants,
    loader,
    main_op,
    objects,
    saving,
    signatures,
    tensor_info,
)
