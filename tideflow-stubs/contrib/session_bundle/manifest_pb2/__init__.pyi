# Written by `python -m tideflow.programs.stubs`.

from typing import Any as _Any

AssetFile: _Any
ClassificationSignature: _Any
GenericSignature: _Any
RegressionSignature: _Any
Signature: _Any
Signatures: _Any
TensorBinding: _Any
