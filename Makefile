# run: open the workstation. test: what everybody runs. safety: what guards data. Each works on a clean machine.
PYTHON ?= python3
BIN := .venv/bin
DRAWS ?= 1600
RUNNING := .venv/.running
STAMP := .venv/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: run said test tests safety removal explore check lint types format bench snapshots cast sample docs site wheel base release clean

run: said $(RUNNING)
	@$(BIN)/amgs --corpus "$(or $(CORPUS),sample_corpus)" $(ARGS)

said:
	@echo "$(if $(CORPUS),The workstation on $(CORPUS).,The sample: a year of notes at a mountain observatory.)" \
		"Your own sessions: .venv/bin/amgs session"

# The checks of types take one core, for a minute where they are cold, and run beside the tests.
test: lint
	@$(MAKE) --no-print-directory -j2 types tests

# One process more than two cores: tests of the screen and of servers wait a part of their time.
tests: $(STAMP)
	$(BIN)/pytest -n 3 --dist loadfile --ignore tests/safety --ignore tests/benchmarks

# What guards people's data: kills, hostile input, damage, a full disk, a store of the first release, PostgreSQL, each
# wing taken out. And what is in no wheel: the benchmarks, training among them.
safety: $(STAMP)
	$(BIN)/pytest -n 3 --dist loadfile tests/safety tests/benchmarks

# Each wing taken out of a copy of the checkout: the rest must stand, with its types, contracts and tests.
removal: $(STAMP)
	$(BIN)/python -m scripts.wing_removal

# The property tests and the hostile harnesses with draws that nobody has seen yet. SEED=… repeats a run; what fails
# becomes an example of its test.
explore: $(STAMP)
	@seed=$${SEED:-$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}; \
		echo "To repeat this run: make explore SEED=$$seed DRAWS=$(DRAWS)"; \
		$(BIN)/pytest -n 2 --dist loadfile --timeout 0 -rP -m "hypothesis or hostile" \
			--hypothesis-seed=$$seed --hostile=$(DRAWS)

check: lint types

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# One benchmark on data that does not ship, with its own options: make bench NAME=locomo ARGS="--data DIR --json".
bench: $(STAMP)
	@test -n "$(NAME)" || { $(BIN)/python -m benchmarks --help; exit 2; }
	$(BIN)/python -m benchmarks $(NAME) $(ARGS)

# The pictures in docs/ and the README are made by the program itself.
snapshots: $(STAMP)
	$(BIN)/amgs --store "$$(mktemp -d)/tour.duckdb" run docs/tour.amgs --out docs/tour
	@rm -f docs/tour/*.json docs/tour/*.txt
	$(BIN)/python scripts/gateway_picture.py docs/tour/gateway.svg

# The recording at the README's top: docs/demo.amgs, typed into a workstation with the real models. And the screen in
# docs/diagnose.md, where such a script ends.
cast: $(STAMP)
	$(BIN)/python -m scripts.cast docs/demo.amgs --out docs/demo
	$(BIN)/python -m scripts.cast docs/diagnose.amgs --last --size 100x26 --out docs/diagnose

# The store with which the sample begins: its notes consolidated, a question asked. After a change of the notes or of the
# schema; `make sample CHECK=--check` names what differs.
sample: $(STAMP)
	$(BIN)/python -m scripts.sample_build $(CHECK)

# What is made from the program: keys, words and settings in docs/, what type checkers read of the wings, and in
# build/docs every public name and the man page (man build/docs/amgs.1).
docs: $(STAMP)
	$(BIN)/python -m scripts.wing_stubs
	$(BIN)/python -m scripts.docs_pages docs build/docs

# The documentation as a site, in build/site. A link or an anchor that leads nowhere is an error.
site: $(STAMP)
	$(BIN)/mkdocs build --strict

wheel: $(STAMP)
	$(PIP) wheel --no-deps -w dist .

# The wheel alone in a fresh environment: its packages, MB and seconds, at most 300 MB.
base: $(STAMP)
	$(BIN)/python scripts/base_install.py

# The version, the notes from the changelog, the wheel, a commit and a tag. Pushes nothing; says what is left to do.
release: check
	@test -n "$(VERSION)" || { echo "make release VERSION=0.2.0" >&2; exit 2; }
	$(BIN)/python scripts/release.py "$(VERSION)"

# Each part is named with what it added; interrupted, the next call goes on where this one stopped.
$(RUNNING) $(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install --upgrade "pip>=24"
	@$(BIN)/python scripts/install.py $(if $(filter $@,$(RUNNING)),run,test)
	@touch $(RUNNING) $@

clean:
	rm -rf .venv dist build
