"""Shows and runs SavedModels: `python -m tensorflow.python.tools.saved_model_cli`."""

from __future__ import annotations

from tideflow.programs.inner.tools.saved_model_commands import main

if __name__ == "__main__":
    main()
