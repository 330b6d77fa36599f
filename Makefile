# What a newcomer needs. Each target but check, orders and web first installs what the machine
# lacks (tools/setup).
#
#   make dist    what users install: one file, and a package for Debian, tried in an empty root
#   make demo    build, compare two designs of the engine for a minute, write a report
#   make check   form and unit tests: minutes, for each step of a change
#   make test    every check and every test, real servers included
#   make orders  of these, the searches of orders of threads
#   make isolation  10⁸ operations of the engine at each of its levels, judged: half an hour
#   make deny    licences, bans and sources once more by cargo-deny, and advisories
#   make soak    what searches longer and elsewhere than make test: an hour and more
#   make fuzz    look for input that breaks a parser: a minute for each of eight
#   make bench   what asking costs and how fast tables fill, beside sysbench: minutes
#   make aa      how often verdicts are right, without and with a planted 5 %: hours
#   make web     rebuild the script of the report page (needs Node)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
# Where rustup puts cargo, also when it was installed a moment ago.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: demo dist check test orders loom shuttle isolation deny soak setup fuzz bench aa web

demo:
	tools/setup demo
	cargo build --profile demo --locked -p dbdyno
	$(TARGET)/demo/dbdyno demo

dist:
	tools/setup dist
	tools/dist

check:
	cargo xtask check

# Goes on after a failure, and ends with a list of what failed: xtask/src/testing/steps.rs. Then
# `cargo xtask slowest` says where the time went.
test: setup
	cargo xtask test

# The protocols between the threads of the engine: small ones in every order, large ones in many.
orders: loom shuttle

loom:
	cargo test --locked -p dbdyno-engine --features loom --lib -- orders gather ring

shuttle:
	cargo test --locked -p dbdyno-engine --features shuttle --test orders

# Each seed is a history of some 12 million operations at each level.
ISOLATION_SEEDS := 8

isolation:
	cargo build --release --locked -p dbdyno
	for seed in $$(seq $(ISOLATION_SEEDS)); do \
	  $(TARGET)/release/dbdyno verify 'engine:?device=none' --transactions 600000 --clients 4 \
	    --keys 1000 --repeat 0 --seed $$seed; \
	done

# Tests that are sweeps, with the time of each; properties with fresh seeds; orders, one
# interruption deeper and ten times as many, from a fresh seed; damaged input; every server. Goes on after a failure. A finding is repeated with what was
# printed: PROPTEST_RNG_SEED=… cargo test -p CRATE TEST, SOAK_SEED=… make orders.
SOAK_SEEDS := 20

soak: setup
	status=0; seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); \
	cargo xtask soak || status=1; cargo xtask slowest 100; \
	cargo xtask properties $(SOAK_SEEDS) || status=1; \
	cargo xtask faults || status=1; \
	echo "SOAK_SEED=$$seed make orders"; \
	SOAK_SEED=$$seed $(MAKE) --no-print-directory --keep-going orders || status=1; \
	$(MAKE) --no-print-directory fuzz || status=1; \
	$(MAKE) --no-print-directory deny || status=1; \
	cargo build --locked -p dbdyno-report --example pages && tools/page || status=1; \
	cargo xtask servers || status=1; \
	$(MAKE) --no-print-directory dist || status=1; \
	exit $$status

# Advisories only where their database, which is fetched by git, can be reached.
deny:
	tools/setup deny
	cargo deny --all-features check licenses bans sources
	if cargo deny fetch db; then cargo deny --all-features check advisories; else \
	  echo "advisories were NOT checked: their database cannot be reached from here" >&2; fi

setup:
	tools/setup test

# What is found is kept in fuzz/artifacts, and said; what was learnt is kept in fuzz/corpus.
FUZZ := sql records loads mysql served postgres histories logs
FUZZ_SECONDS := 60

fuzz:
	tools/setup fuzz
	for target in $(FUZZ); do \
	  mkdir -p fuzz/corpus/$$target fuzz/seeds/$$target; \
	  dict=; if [ -e fuzz/$$target.dict ]; then dict=-dict=fuzz/$$target.dict; fi; \
	  cargo +nightly fuzz run $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=10 -verbosity=0 -print_final_stats=1 $$dict; \
	done

bench:
	tools/setup bench
	cargo bench --locked -p dbdyno-load --bench client_cost
	cargo bench --locked -p dbdyno-lab --bench fill -- mariadb:11.8
	cargo bench --locked -p dbdyno-lab --bench fill -- postgres:17

aa:
	tools/setup demo
	cargo xtask calibrate measure mariadb:10.11 mariadb:10.11 30 --quick
	cargo xtask calibrate measure postgres:15 postgres:15 20 --quick
	cargo xtask calibrate measure sqlite: 'sqlite:?slow=5%' 10 --quick

web:
	cd web && npm ci && npm test && npm run build
