# Two commands for a fresh machine with Python 3.11+ and make:
#   make demo   environment, installation, the page on 127.0.0.1:7860
#   make test   environment, installation, linters, import rules, quick tests
# and one for all tests, as CI runs them:
#   make test-all   also the slow ones, those of the page in a browser, and coverage
# and one for the docs site (all tests build it, too):
#   make docs   site/index.html; every warning is an error
# and one that compares with other packages, in environments of their own (minutes, 3 GB):
#   make interop   models to other packages and back, other projects' checkpoints, as one table
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell command -v $(p) 2>/dev/null)))
PORT ?= 7860
PYTEST_WORKERS ?= 2
BIN := .venv/bin
PYTEST = $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-all lint docs install programs models interop sbom clean

demo: .venv/.demo
	$(BIN)/zh-albert demo --port $(PORT)

test: lint
	$(PYTEST) -m "not slow" tests/unit tests/property tests/golden zh_albert corpora_tools apps

test-all: programs lint
	$(PYTEST) --cov --cov-report=term:skip-covered

install: .venv/.dev

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "site/index.html; with search: $(BIN)/python -m http.server --bind 127.0.0.1 --directory site"

programs:
	@sh tests/install_programs.sh

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "error: no python3 found; install Python 3.11 or newer"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than Python 3.11; run: make PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing zh-albert and the demo (PyTorch among it): a minute or two ..."
	$(PIP) -e '.[demo]'
	@touch $@

.venv/.docs: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing zh-albert and what builds its site (PyTorch among it): a minute or two ..."
	$(PIP) -e '.[docs]'
	@touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing zh-albert and what its tests need: about two minutes ..."
	$(PIP) -e '.[dev]'
	@touch $@ .venv/.demo .venv/.docs

# Train the bundled models anew and export them in int8, checked on a dev file; ZH_ALBERT_DATA names
# the folder with the datasets. What is trained already is not trained again: remove runs/NAME.
DATA := $(or $(ZH_ALBERT_DATA),../shared/data)/tasks
# The encoder before it was pretrained alone is nearer to its teacher, whose vectors embedder learns.
# Where it is not there (docs/recipes/distil-gpu-512.toml makes it), embedder becomes another model than the bundled one.
DISTILLED = $(if $(wildcard runs/distil-gpu-512/config.json),runs/distil-gpu-512,encoder)
WEIBO = $(DATA)/smp2020_ewect_usual
MSRA = $(DATA)/msra_ner
task = $(BIN)/zh-albert finetune --task $(1) --config docs/recipes/$(2).toml --resume --out runs/$(2) --init $(or $(4),encoder) $(5) \
	$(foreach d,$(3),--train $(wildcard $(DATA)/$d/train.jsonl*) --dev $(wildcard $(DATA)/$d/dev.jsonl*) \
		$(foreach s,dev test trial,$(addprefix --exclude ,$(wildcard $(DATA)/$d/$s.jsonl*))))
bundle = $(BIN)/zh-albert export runs/$(1) runs/bundled/$(1) --format zh_albert --precision int8 \
	--dev $(wildcard $(DATA)/$(2)/dev.jsonl*)
REVIEWS = chnsenticorp waimai_10k online_shopping_10_cats book_review
# Rows of each set of reviews and of the posts, drawn at random: draw,SPLIT,ROWS …
draw = test -s runs/reviews-$(1).jsonl || $(BIN)/python docs/recipes/draw_rows.py runs/reviews-$(1).jsonl \
	$(join $(foreach d,$(REVIEWS),$(wildcard $(DATA)/$d/$(1).jsonl*)) runs/weibo-$(1).jsonl,$(addprefix =,$(2)))
# Questions of each reading set and of the lessons, drawn in the same way.
draw_questions = test -s runs/reader-$(1).jsonl || $(BIN)/python docs/recipes/draw_rows.py runs/reader-$(1).jsonl \
	$(join $(wildcard $(DATA)/cmrc2018/$(1).jsonl*) runs/drcd-$(1).jsonl $(wildcard $(DATA)/dureader_checklist/$(1).jsonl*) \
		runs/reading-$(1).jsonl,$(addprefix =,$(2)))
NOT_READ = $(addprefix --exclude ,runs/drcd-dev.jsonl runs/drcd-test.jsonl $(wildcard $(DATA)/dureader_robust/dev.jsonl*))
few_bits = test -s runs/$(1)-stored/config.json || $(BIN)/zh-albert compress quantize runs/$(or $(3),$(1)) --out runs/$(1)-stored --set store.bits=$(or $(4),5) \
	--train $(2) --dev $(2) && $(BIN)/zh-albert export runs/$(1)-stored runs/bundled/$(1) --format zh_albert --precision int8 --dev $(2)
# The small model of runs/$(1), from its network alone; $(2): task files, $(3): dev file of the export, $(4): options of shared_ngrams.py.
nano = test -s runs/$(1)-nano/config.json || $(BIN)/zh-albert compress nano runs/$(1) --no-ngrams --resume --out runs/$(1)-nano \
	--set 'cut.layers=[2, 4, 5, 6]' --set cut.positions=128 $(2) && $(BIN)/zh-albert export runs/$(1)-nano runs/bundled/$(1)-nano --format zh_albert --precision int8 --dev $(3) && \
	$(BIN)/python docs/recipes/shared_ngrams.py runs/bundled/$(1)-nano runs/bundled/$(1) $(4)
# What the cards of the small models say they learned from.
of_reviews = part of the texts that sentiment learned from (11,000 reviews and posts, 7,000 lessons), and 4,000 reviews of FewCLUE's eprstmt without labels; without any text that also occurs in a dev or test split
of_headlines = the train split of TNEWS (CLUE), without any text that also occurs in the dev split
of_names = the train split of CLUENER2020 (CLUE) and 9,000 lessons (entity_lessons.py), without any text that also occurs in the dev split
models: .venv/.dev
	mkdir -p runs
	test -s runs/weibo-train.jsonl || $(BIN)/python docs/recipes/weibo_moods.py $(wildcard $(WEIBO)/train.jsonl*) runs/weibo-train.jsonl
	test -s runs/weibo-dev.jsonl || $(BIN)/python docs/recipes/weibo_moods.py $(wildcard $(WEIBO)/dev.jsonl*) runs/weibo-dev.jsonl
	$(call task,classification,sentiment-reviews,$(REVIEWS),, \
		--train runs/weibo-train.jsonl --dev runs/weibo-dev.jsonl $(addprefix --exclude ,$(wildcard $(WEIBO)/dev.jsonl* $(WEIBO)/test.jsonl*)))
	test -s runs/sentiment-lessons.jsonl || $(BIN)/python docs/recipes/sentiment_lessons.py $(DATA)/.. runs/sentiment-lessons.jsonl
	test -s runs/lessons-train.jsonl || \
		$(BIN)/python docs/recipes/keep_back.py runs/sentiment-lessons.jsonl 2000 runs/lessons-dev.jsonl runs/lessons-train.jsonl
	$(call draw,train,9600 9600 12000 5000 7000)
	$(call draw,dev,960 1200 1500 1000 782)
	$(call task,classification,sentiment,,runs/sentiment-reviews,--train runs/reviews-train.jsonl --train runs/lessons-train.jsonl \
		--dev runs/reviews-dev.jsonl --dev runs/lessons-dev.jsonl --exclude runs/lessons-dev.jsonl \
		$(foreach d,$(REVIEWS) smp2020_ewect_usual,$(addprefix --exclude ,$(wildcard $(DATA)/$d/dev.jsonl* $(DATA)/$d/test.jsonl*))))
	test -s runs/sentiment-ngrams/config.json || $(BIN)/python docs/recipes/ngrams_anew.py runs/sentiment runs/sentiment-ngrams --weight 2 --window 512 64 \
		$(foreach d,$(REVIEWS),--train $(wildcard $(DATA)/$d/train.jsonl*)) --train runs/weibo-train.jsonl --train runs/lessons-train.jsonl \
		--dev runs/reviews-dev.jsonl --dev runs/lessons-dev.jsonl \
		$(foreach d,$(REVIEWS) smp2020_ewect_usual,$(addprefix --exclude ,$(wildcard $(DATA)/$d/dev.jsonl* $(DATA)/$d/test.jsonl*)))
	$(call task,classification,news,tnews)
	$(call task,ner,ner-cluener,cluener)
	test -s runs/entity-lessons.jsonl || $(BIN)/python docs/recipes/entity_lessons.py $(DATA)/.. runs/entity-lessons.jsonl --of cluener
	test -s runs/ner-train.jsonl || $(BIN)/python docs/recipes/keep_back.py runs/entity-lessons.jsonl 1000 runs/ner-dev.jsonl runs/ner-train.jsonl
	$(call task,ner,ner-lessons,cluener,runs/ner-cluener,--train runs/ner-train.jsonl --dev runs/ner-dev.jsonl --exclude runs/ner-dev.jsonl)
	test -s runs/ner/config.json || $(BIN)/python docs/recipes/interpolated.py runs/ner-cluener runs/ner-lessons runs/ner --share 0.8
	test -s runs/msra-train.jsonl || \
		$(BIN)/python docs/recipes/keep_back.py $(wildcard $(MSRA)/train.jsonl*) 2000 runs/msra-dev.jsonl runs/msra-train.jsonl
	$(call task,ner,ner-msra-newspaper,,, --train runs/msra-train.jsonl --dev runs/msra-dev.jsonl \
		--exclude runs/msra-dev.jsonl --exclude $(wildcard $(MSRA)/test.jsonl*))
	test -s runs/msra-lessons.jsonl || $(BIN)/python docs/recipes/entity_lessons.py $(DATA)/.. runs/msra-lessons.jsonl --of msra
	test -s runs/msra-lessons-train.jsonl || \
		$(BIN)/python docs/recipes/keep_back.py runs/msra-lessons.jsonl 1000 runs/msra-lessons-dev.jsonl runs/msra-lessons-train.jsonl
	$(call task,ner,ner-msra-lessons,,runs/ner-msra-newspaper, --train runs/msra-train.jsonl --train runs/msra-lessons-train.jsonl \
		--dev runs/msra-dev.jsonl --dev runs/msra-lessons-dev.jsonl \
		--exclude runs/msra-dev.jsonl --exclude runs/msra-lessons-dev.jsonl --exclude $(wildcard $(MSRA)/test.jsonl*))
	$(call task,pair,nli,ocnli)
	test -s runs/similar-pairs.jsonl || $(BIN)/python docs/recipes/similar_pairs.py $(DATA)/.. runs/similar-pairs.jsonl
	test -s runs/meant-pairs.jsonl || $(BIN)/python docs/recipes/similar_pairs.py $(DATA)/.. runs/meant-pairs.jsonl --of runs/similar-pairs.jsonl
	$(call task,pair,similarity-words,stsb_zh,runs/nli,--train runs/similar-pairs.jsonl)
	$(call task,pair,similarity,stsb_zh,runs/similarity-words,--train runs/meant-pairs.jsonl)
	for s in train dev test; do test -s runs/drcd-$$s.jsonl || \
		$(BIN)/python docs/recipes/simplified.py $(DATA)/drcd/$$s.jsonl* runs/drcd-$$s.jsonl || exit; done
	$(call task,reading,reader-sets,cmrc2018 dureader_checklist,, --train runs/drcd-train.jsonl --dev runs/drcd-dev.jsonl \
		$(NOT_READ))
	test -s runs/reading-lessons.jsonl || $(BIN)/python docs/recipes/reading_lessons.py $(DATA)/.. runs/reading-lessons.jsonl
	test -s runs/reading-train.jsonl || \
		$(BIN)/python docs/recipes/keep_back.py runs/reading-lessons.jsonl 600 runs/reading-dev.jsonl runs/reading-train.jsonl
	$(call draw_questions,train,2500 600 1500 9500)
	$(call draw_questions,dev,300 200 300 600)
	$(call task,reading,reader-lessons,,runs/reader-sets, --train runs/reader-train.jsonl --dev runs/reader-dev.jsonl \
		--exclude runs/reading-dev.jsonl $(NOT_READ) \
		$(addprefix --exclude ,$(wildcard $(DATA)/cmrc2018/dev.jsonl* $(DATA)/cmrc2018/trial.jsonl* $(DATA)/dureader_checklist/dev.jsonl*)))
	test -s runs/reader-mixed/config.json || \
		$(BIN)/python docs/recipes/interpolated.py runs/reader-sets runs/reader-lessons runs/reader-mixed --share 0.5
	test -s runs/declined-dev.jsonl || $(BIN)/python docs/recipes/draw_rows.py runs/declined-dev.jsonl \
		$(join $(foreach d,cmrc2018 dureader_checklist dureader_robust,$(wildcard $(DATA)/$d/dev.jsonl*)),=250 =300 =250) \
		runs/drcd-dev.jsonl=150 runs/reading-dev.jsonl=600
	test -s runs/reader/config.json || \
		$(BIN)/python docs/recipes/reader_decisions.py runs/reader-mixed runs/reader runs/declined-dev.jsonl --declined 0.05
	$(BIN)/python docs/recipes/sentence_vectors.py $(DATA)/.. runs/sentences --texts 58500
	$(BIN)/zh-albert finetune --task embedding --config docs/recipes/embedder.toml --resume --out runs/embedder-first --init $(DISTILLED) \
		--train runs/sentences/train.jsonl --dev $(wildcard $(DATA)/stsb_zh/dev.jsonl*)
	$(BIN)/zh-albert finetune --task embedding --config docs/recipes/embedder.toml --resume --out runs/embedder --init runs/embedder-first \
		--set vectors.file=runs/sentences/second.npy --set train.peak_lr=1.5e-4 \
		--train runs/sentences/second.jsonl --dev $(wildcard $(DATA)/stsb_zh/dev.jsonl*)
	rm -rf runs/bundled
	$(call few_bits,sentiment,$(wildcard $(DATA)/chnsenticorp/dev.jsonl*),sentiment-ngrams)
	$(BIN)/python docs/recipes/rarer_class.py runs/bundled/sentiment neutral --share 0.028 --dev runs/reviews-dev.jsonl runs/lessons-dev.jsonl \
		--without runs/weibo-dev.jsonl $(foreach d,book_review waimai_10k chnsenticorp fewclue_eprstmt,$(wildcard $(DATA)/$d/dev.jsonl*))
	$(call few_bits,embedder,$(wildcard $(DATA)/stsb_zh/dev.jsonl*))
	$(call few_bits,ner,$(wildcard $(DATA)/cluener/dev.jsonl*),,6)
	cat runs/msra-dev.jsonl runs/msra-lessons-dev.jsonl > runs/msra-both-dev.jsonl
	$(call few_bits,ner-msra,runs/msra-both-dev.jsonl,ner-msra-lessons,6)
	$(call few_bits,reader,runs/reader-dev.jsonl,,6)
	$(call bundle,news,tnews)
	$(call few_bits,nli,$(wildcard $(DATA)/ocnli/dev.jsonl*),,6)
	$(call few_bits,similarity,$(wildcard $(DATA)/stsb_zh/dev.jsonl*),,6)
	$(call nano,news,--set "tune.card.trained_on=$(of_headlines)" --train $(wildcard $(DATA)/tnews/train.jsonl*) --dev $(wildcard $(DATA)/tnews/dev.jsonl*) \
		--exclude $(wildcard $(DATA)/tnews/dev.jsonl*) --set learn.tune.train.epochs=1 --set learn.tune.train.peak_lr=5e-4,$(wildcard $(DATA)/tnews/dev.jsonl*),--dev $(wildcard $(DATA)/tnews/dev.jsonl*))
	cat $(wildcard $(DATA)/cluener/dev.jsonl) runs/ner-dev.jsonl > runs/ner-both-dev.jsonl
	$(call nano,ner,--set "tune.card.trained_on=$(of_names)" --train $(wildcard $(DATA)/cluener/train.jsonl*) --train runs/ner-train.jsonl --dev runs/ner-both-dev.jsonl \
		--exclude $(wildcard $(DATA)/cluener/dev.jsonl*) --exclude runs/ner-dev.jsonl \
		--set trim.prune.heads=0.8 --set round.tune.train.epochs=2 --set round.tune.train.peak_lr=1.5e-4,runs/ner-both-dev.jsonl,--dev runs/ner-both-dev.jsonl)
	test -s runs/part-train.jsonl || $(BIN)/python docs/recipes/draw_rows.py runs/part-train.jsonl runs/reviews-train.jsonl=11000 runs/lessons-train.jsonl=7000
	test -s runs/part-more.jsonl || $(BIN)/python docs/recipes/draw_rows.py runs/part-more.jsonl $(wildcard $(DATA)/fewclue_unlabelled/eprstmt.jsonl*)=4000
	cat runs/reviews-dev.jsonl runs/lessons-dev.jsonl > runs/sentiment-dev.jsonl
	$(call nano,sentiment,--set "tune.card.trained_on=$(of_reviews)" --train runs/part-train.jsonl --unlabelled runs/part-more.jsonl --dev runs/sentiment-dev.jsonl \
		$(foreach d,$(REVIEWS) smp2020_ewect_usual fewclue_eprstmt,$(addprefix --exclude ,$(wildcard $(DATA)/$d/dev.jsonl* $(DATA)/$d/test.jsonl*))) \
		--exclude runs/lessons-dev.jsonl --set learn.tune.train.epochs=1,runs/sentiment-dev.jsonl,--weight 2 --dev runs/sentiment-dev.jsonl)

INTEROP := .interop/transformers-4 .interop/transformers-5
.interop/transformers-4/.ready: PACKAGES = 'transformers>=4.57,<5' sentence-transformers
.interop/transformers-5/.ready: PACKAGES = 'transformers>=5,<6' sentence-transformers
interop: $(INTEROP:=/rows.jsonl) .interop/here/rows.jsonl
	@$(BIN)/python -m tests.interop.table $^

.PHONY: $(INTEROP:=/rows.jsonl) .interop/here/rows.jsonl
.interop/here/rows.jsonl: .venv/.dev
	@mkdir -p $(@D)
	@$(BIN)/python -m tests.interop.foreign_checkpoints > $@
	@$(BIN)/python -m tests.interop.onnx_alone >> $@

$(INTEROP:=/rows.jsonl): %/rows.jsonl: %/.ready
	@HF_HUB_OFFLINE=1 $*/bin/python -m tests.interop.rows > $@

# Versions as in constraints.txt, except of what transformers chooses.
.interop/%/.ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no python3 found; install Python 3.11 or newer"; exit 2; }
	$(PYTHON) -m venv .interop/$*
	grep -v -E '^(transformers|tokenizers|huggingface_hub)==' constraints.txt > .interop/$*/constraints.txt
	.interop/$*/bin/python -m pip install --quiet --disable-pip-version-check -c .interop/$*/constraints.txt -e . $(PACKAGES)
	@touch $@

# The packages of the environment with versions and licences, as a CycloneDX document.
sbom: .venv/.dev
	$(BIN)/python -m venv .venv/sbom
	.venv/sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	.venv/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o sbom.json $(BIN)/python
	@echo "sbom.json"

clean:
	rm -rf .venv .interop site test-artefacts sbom.json
