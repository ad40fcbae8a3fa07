"""`tensorflow.python.saved_model.nested_structure_coder`: structures as messages, and back."""

from __future__ import annotations

from typing import Any

from tideflow.saved_model import structured_values
from tideflow.saved_model.structured_values import NotEncodableError


class StructureCoder:
    """Turns structures of plain values, types, shapes and specs into StructuredValues, and back."""

    def can_encode(self, nested: Any) -> bool:
        """Whether a structure can be encoded."""
        try:
            structured_values.encoded(nested)
        except NotEncodableError:
            return False
        return True

    def encode_structure(self, nested: Any) -> Any:
        """The StructuredValue of a structure."""
        return structured_values.encoded(nested)

    def decode_proto(self, proto: Any) -> Any:
        """The structure of a StructuredValue."""
        return structured_values.decoded(proto)
