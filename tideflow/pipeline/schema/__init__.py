"""Schemas: what data are expected to be. Inferred from statistics, edited by people, in TFDV's text form."""

from tideflow.pipeline.messages.schema import Feature, Schema
from tideflow.pipeline.schema.editing import (
    get_domain,
    get_feature,
    load_schema_text,
    schema_text,
    set_domain,
    write_schema_text,
)
from tideflow.pipeline.schema.inference import infer_schema, update_schema

__all__ = [
    "Feature",
    "Schema",
    "get_domain",
    "get_feature",
    "infer_schema",
    "load_schema_text",
    "schema_text",
    "set_domain",
    "update_schema",
    "write_schema_text",
]
