# Two commands for a fresh machine with Python 3.11+ and make:
#   make demo   environment, installation, the page on 127.0.0.1:7860
#   make test   environment, installation, linters, import rules, all tests
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell command -v $(p) 2>/dev/null)))
PORT ?= 7860
PYTEST_WORKERS ?= 2
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint unit install browser models clean

demo: .venv/.demo
	$(BIN)/zh-albert demo --port $(PORT)

test: .venv/.dev browser lint unit

install: .venv/.dev

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: .venv/.dev
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup --cov --cov-report=term:skip-covered

browser:
	@sh tests/browser/install_chromium.sh

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "error: no python3 found; install Python 3.11 or newer"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than Python 3.11; run: make PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing zh-albert and the demo (PyTorch among it): a minute or two ..."
	$(PIP) -e '.[demo]'
	@touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing zh-albert and what its tests need: about two minutes ..."
	$(PIP) -e '.[dev]'
	@touch $@ .venv/.demo

# Train the bundled models anew; ZH_ALBERT_DATA names the folder with the datasets.
DATA := $(or $(ZH_ALBERT_DATA),../shared/data)/tasks
SENTIMENT := chnsenticorp waimai_10k online_shopping_10_cats
models: .venv/.dev
	$(BIN)/zh-albert finetune --task classification --config docs/recipes/sentiment.toml --resume --init encoder \
		$(foreach d,$(SENTIMENT),--train $(wildcard $(DATA)/$d/train.jsonl*)) \
		$(foreach d,$(SENTIMENT),--dev $(wildcard $(DATA)/$d/dev.jsonl*)) \
		$(foreach d,$(SENTIMENT),$(foreach s,dev test,--exclude $(wildcard $(DATA)/$d/$s.jsonl*))) \
		--out runs/sentiment
	$(BIN)/zh-albert finetune --task classification --config docs/recipes/news.toml --resume --init encoder \
		--train $(DATA)/tnews/train.jsonl.xz --dev $(DATA)/tnews/dev.jsonl \
		--exclude $(DATA)/tnews/dev.jsonl --out runs/news
	$(BIN)/zh-albert finetune --task ner --config docs/recipes/ner.toml --resume --init encoder \
		--train $(DATA)/cluener/train.jsonl.xz --dev $(DATA)/cluener/dev.jsonl \
		--exclude $(DATA)/cluener/dev.jsonl --out runs/ner

clean:
	rm -rf .venv test-artefacts
