# `make help` lists the targets.

CARGO ?= cargo
PYTHON ?= python3
# The Python packages of the tests; ignored by git.
VENV := .venv

.PHONY: help build python test test-rust test-python test-docs test-browser test-random test-kills test-memory fuzz soak deny sbom docs release demo clean
.DEFAULT_GOAL := help

help:
	@echo 'make build   build the command-line program, optimised'
	@echo 'make python  build the Python package and install it into .venv, to be edited in place'
	@echo 'make test    check formatting, lints, tests and documentation, of Rust and of Python'
	@echo 'make test-random  run the property tests on fresh random cases, ten times as many'
	@echo 'make test-kills N=1000  kill the program at every writing call and at N random moments'
	@echo 'make test-memory  run the tests of kernels under AddressSanitizer'
	@echo 'make fuzz SECONDS=600   feed damaged files to every reader for so long'
	@echo 'make soak SECONDS=3600  run all kinds of work for so long and watch its memory'
	@echo 'make docs    build the documentation site, target/docs/site/index.html'
	@echo 'make release build programs, wheels and checksums into target/release-VERSION'
	@echo 'make demo    build the program and show what it can do'
	@echo 'make clean   remove everything that was built'

build:
	$(CARGO) build --release

$(VENV)/bin/maturin:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet 'maturin>=1.9.4,<2'

python: $(VENV)/bin/maturin
	cd python && ../$(VENV)/bin/maturin develop --release --extras plot,test

test: test-rust test-python test-docs test-browser

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

# Every code block of README and docs, with the program and the package as they were built.
test-docs: build $(VENV)/bin/maturin
	$(VENV)/bin/python -c 'import linkproof' 2> /dev/null || $(MAKE) python
	$(VENV)/bin/ruff check --config python/pyproject.toml docs/site
	$(VENV)/bin/ruff format --check --config python/pyproject.toml docs/site
	$(VENV)/bin/pytest -q -ra docs/site

# The page of a report in Chromium; where there is none, the tests say so. Their
# screenshots are in target/screenshots.
test-browser: build $(VENV)/bin/maturin
	$(VENV)/bin/python -m pip install --quiet -r browser/requirements.txt
	$(VENV)/bin/pytest -q -ra browser

# Every property test on cases that nobody has seen yet. A failure prints the seed
# that repeats it. SEED=1234 and TIMES=100 choose others.
SEED ?= random
TIMES ?= 10
test-random:
	LINKPROOF_TEST_SEED=$(SEED) LINKPROOF_TEST_TIMES=$(TIMES) $(CARGO) test --release -p linkproof-method -p linkproof-files --lib --test theory --test measure -- $(PROPERTIES)

# The names of the property tests; crates/linkproof/tests/architecture.rs compares.
PROPERTIES := \
	gradients_are_central_differences \
	gradients_of_every_path_are_central_differences \
	slopes_are_derivatives \
	slopes_of_size_laws_are_derivatives \
	slopes_of_the_size_score_are_derivatives \
	no_pair_pays_less_and_less_beyond_its_cap \
	capped_scores_agree_below_the_cap_and_grow_above \
	written_links_read_back \
	the_matching_is_the_best_of_all \
	noise_moves_the_moment_score_by_a_constant_and_a_small_term \
	renaming_labels_changes_nothing_and_bounds_hold \
	only_the_order_of_scores_counts

# At every system call that writes, with strace, and at N random moments.
N ?= 1000
test-kills:
	LINKPROOF_KILLS=$(N) $(CARGO) test --workspace --release --test kills -- --nocapture --test-threads 1

# Damaged files for every reader. Failures are kept in target/fuzz; bench/fuzz/corpus
# holds those that were found, and `make test` tries them again.
SECONDS ?= 600
fuzz:
	LINKPROOF_FUZZ_SECONDS=$(SECONDS) $(CARGO) test --workspace --release --bin linkproof-fuzz -- --ignored --nocapture

# Kernels under AddressSanitizer, with little optimisation and with checks of arithmetic.
# The compiler is the stable one, which is told to accept the flag. CRATES names others.
# Some tests ask for more memory than there is, and want to hear that.
CRATES ?= linkproof-numeric
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
test-memory:
	ASAN_OPTIONS=allocator_may_return_null=1 \
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_INCREMENTAL=0 \
	CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=line-tables-only \
	CARGO_TARGET_DIR=target/memory $(CARGO) test --target $(HOST) --lib $(CRATES:%=-p %)

# Licences, sources and banned crates; advisories need a database from the network.
deny:
	$(CARGO) deny --all-features check licenses bans sources

# What the program is made of, with licences and digests; part of a release.
sbom:
	$(PYTHON) bench/sbom > target/linkproof.cdx.json

# Programs, wheels, source, bill of materials and checksums, in target/release-VERSION.
release: $(VENV)/bin/maturin
	$(VENV)/bin/python -m pip install --quiet -r release/requirements.txt
	$(VENV)/bin/python release/build

soak: build
	$(PYTHON) bench/soak $(SECONDS)

# The site: tutorials run, links checked, the reference made anew.
docs: build $(VENV)/bin/maturin
	$(VENV)/bin/python -c 'import linkproof' 2> /dev/null || $(MAKE) python
	$(VENV)/bin/python -m pip install --quiet -r docs/site/requirements.txt
	$(VENV)/bin/python docs/site/build

demo: build
	$(CARGO) run --release -- demo

clean:
	$(CARGO) clean
	rm -rf $(VENV) python/linkproof/*.so
