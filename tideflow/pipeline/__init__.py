"""From raw data to a served model, watched at every step: TFX's ideas on one engine (`docs/pipeline.md`)."""
