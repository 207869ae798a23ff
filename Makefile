# `make help` lists the targets.

CARGO ?= cargo
PYTHON ?= python3
# The Python packages of the tests; ignored by git.
VENV := .venv

.PHONY: help build python test test-rust test-python test-browser demo clean
.DEFAULT_GOAL := help

help:
	@echo 'make build   build the command-line program, optimised'
	@echo 'make python  build the Python package and install it into .venv, to be edited in place'
	@echo 'make test    check formatting, lints, tests and documentation, of Rust and of Python'
	@echo 'make demo    build the program and show what it can do'
	@echo 'make clean   remove everything that was built'

build:
	$(CARGO) build --release

$(VENV)/bin/maturin:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet 'maturin>=1.9.4,<2'

python: $(VENV)/bin/maturin
	cd python && ../$(VENV)/bin/maturin develop --release --extras plot,test

test: test-rust test-python test-browser

# Each line stops the target when it fails.
test-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --release -- -D warnings
	$(CARGO) test --workspace --release
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --no-deps --workspace --release

# The tests run against the wheel as users install it.
test-python: $(VENV)/bin/maturin
	rm -rf target/wheels
	$(VENV)/bin/maturin build --release --manifest-path python/Cargo.toml --out target/wheels
	$(VENV)/bin/python -m pip install --quiet --force-reinstall --no-deps target/wheels/linkproof-*.whl
	$(VENV)/bin/python -m pip install --quiet "$$(ls target/wheels/linkproof-*.whl)[plot,test]"
	cd python && ../$(VENV)/bin/ruff check . && ../$(VENV)/bin/ruff format --check .
	cd python && ../$(VENV)/bin/mypy
	cd target/wheels && ../../$(VENV)/bin/stubtest linkproof._core --mypy-config-file ../../python/pyproject.toml
	$(VENV)/bin/pytest -q -c python/pyproject.toml --pyargs linkproof python/tests python/README.md

# The page of a report in Chromium; where there is none, the tests say so. Their
# screenshots are in target/screenshots.
test-browser: build $(VENV)/bin/maturin
	$(VENV)/bin/python -m pip install --quiet -r browser/requirements.txt
	$(VENV)/bin/pytest -q -ra browser

demo: build
	$(CARGO) run --release -- demo

clean:
	$(CARGO) clean
	rm -rf $(VENV) python/linkproof/*.so
