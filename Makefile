# make demo    creates .venv, installs surefoot, fits a simulated ANYmal and says where the report is
# make test    creates .venv, installs surefoot and its tools, runs the tests
# make docs    builds the documentation's pages into site/
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint docs bench clean
.DELETE_ON_ERROR:

$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("surefoot needs Python >= 3.11; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 $(MAKECMDGOALS)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt -e .
	@touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(VENV)/core
	$(BIN)/surefoot demo --out surefoot-demo

test: $(VENV)/dev
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/dev
	$(BIN)/python benchmarks/parity.py
	$(BIN)/python benchmarks/throughput.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/recovery.py

clean:
	rm -rf $(VENV) surefoot-demo site build dist
