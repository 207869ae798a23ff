# `make help` lists the targets.

CARGO ?= cargo

.PHONY: help build test demo clean
.DEFAULT_GOAL := help

help:
	@echo 'make build   build the command-line program, optimised'
	@echo 'make test    check formatting, lints, tests and documentation'
	@echo 'make demo    build the program and show what it can do'
	@echo 'make clean   remove everything that was built'

build:
	$(CARGO) build --release

# Each line stops the target when it fails.
test:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --release -- -D warnings
	$(CARGO) test --workspace --release
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --no-deps --workspace --release

demo: build
	$(CARGO) run --release -- demo

clean:
	$(CARGO) clean
