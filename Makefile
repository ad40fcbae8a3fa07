# Everything is set up in .venv, with nothing but Python 3.10+, gcc and make to start from.
PYTHON ?= python3
VENV   := .venv
READY  := $(VENV)/.ready
RUN    := $(VENV)/bin/python
OUT    ?= out/digits.png
SITE   ?= out/site
SECONDS ?= 300
PYTHONS ?= 3.10 3.11 3.12 3.13

.DEFAULT_GOAL := help
.PHONY: help demo serve pipeline check test lint types changed docs coverage bench oracle oracle-pipeline fuzz wheel \
	capi simulate clean

help:  ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

demo: $(READY)  ## train a convolutional network on handwritten digits and draw what it learned
	@echo "== Training a convolutional classifier on handwritten digits (examples/digits.py)"
	@$(RUN) examples/digits.py --out $(OUT)

serve: $(READY)  ## serve the digits' network over REST and gRPC, and send it pictures
	@$(RUN) examples/serve_digits.py

pipeline: $(READY)  ## take records of taxi trips to a served model, watched at every step
	@$(RUN) examples/pipeline/serve_taxi.py

check: $(READY)  ## lint, types, layering and the tests of what changed: run it while you work
	@$(MAKE) --no-print-directory -j 2 --output-sync=target lint types changed

test: $(READY)  ## run the tests, but for those that need TensorFlow
	@echo "== Running the tests (three processes, one kernel thread each: some tests only wait)"
	OMP_NUM_THREADS=1 $(RUN) .ci/all_tests.py -n 3 --dist worksteal tests --ignore=tests/oracle --ignore=tests/oracle_pipeline

lint: $(READY)  ## check the code's style
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(READY)  ## check the types of the packages that pyproject.toml lists
	$(RUN) -m mypy

changed: $(READY)
	@OMP_NUM_THREADS=1 $(RUN) .ci/changed_tests.py

docs: $(READY)  ## build the documentation site in out/site
	@echo "== Building the site: guides, tutorials, and a reference whose examples are run (some minutes)"
	@NO_MKDOCS_2_WARNING=1 OMP_NUM_THREADS=1 $(RUN) -m mkdocs build --strict --quiet --site-dir $(SITE)
	@echo "== Done. To read it: $(RUN) -m http.server --bind 127.0.0.1 --directory $(SITE)"

coverage: $(READY)  ## count what of TensorFlow 1.15 is there, and write docs/coverage.md
	$(RUN) -m tideflow coverage --write

oracle: $(READY)  ## compare with TensorFlow 1.15.5 itself (needs Python 3.7 for it)
	@echo "== Making TensorFlow 1.15.5's own environment, .oracles/tf1, where it is not there yet"
	tests/oracle/make-oracles .oracles tf1
	@echo "== Running the same programs under TensorFlow and Tideflow"
	$(RUN) -m pytest -q tests/oracle

oracle-pipeline: $(READY)  ## compare with TFDV, TFT and TFMA themselves (needs Python 3.11 and uv for them)
	@echo "== Making the originals' own environment, .oracles/tfx, where it is not there yet (3 GB)"
	tests/oracle/make-oracles .oracles tfx
	@echo "== Running the same cases there and with Tideflow"
	$(RUN) -m pytest -q tests/oracle_pipeline

bench: $(READY)  ## measure speed and memory beside TensorFlow, PyTorch and JAX
	@echo "== Making the peers' environments, .oracles/tf2 and .oracles/jax, where they are not there yet"
	tests/oracle/make-oracles .oracles tf2 jax
	$(RUN) -m benchmarks

fuzz: $(READY)  ## try hostile files, graphs, messages, inputs and interrupts for SECONDS (300)
	OMP_NUM_THREADS=1 $(RUN) -m tests.fuzz --seconds $(SECONDS)

wheel: $(READY)  ## build the wheel, and try it in new environments of each of PYTHONS
	$(RUN) -m tests.wheel $(PYTHONS)

capi: $(READY)  ## build the C library, its header and pkg-config file in build/capi
	@$(RUN) -m tideflow.capi.build --out build/capi

simulate: $(READY)  ## simulate clusters of up to 10,000 workers, and draw them beside the paper's figures
	$(RUN) -m tideflow simulate --out docs/simulation

clean:  ## remove what was made here, the environments included
	rm -rf $(VENV) .oracles build out *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; \
	  v >= (3, 10) or sys.exit("Tideflow needs Python 3.10 or later, and $(PYTHON) is %d.%d: make PYTHON=..." % v[:2])'
	@echo "== Setting up $(VENV): PyTorch and the rest of pyproject.toml, at the versions of constraints.txt"
	@echo "   (once, and again when either file changes; the first time is a large download of some minutes)"
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@
