# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.engine.sequential import Sequential as Sequential
from tideflow.keras.engine.training import Model as Model
from tideflow.keras.models import clone_model as clone_model
from tideflow.keras.saving.models import load_model as load_model
from tideflow.keras.saving.models import model_from_config as model_from_config
from tideflow.keras.saving.models import model_from_json as model_from_json
from tideflow.keras.saving.models import model_from_yaml as model_from_yaml
from tideflow.keras.saving.models import save_model as save_model
