# `make demo` and `make test` need nothing but Python 3.11 or newer; each makes .venv itself.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test check lint types layers peers models wheel bench scale regress baseline snapshot compare pages found site smoke full mutants hostile lowest newest clean

SOURCES = $(shell find engine cli robots scenarios -name "*.py" -o -name "*.yaml" -o -name "*.csv")

$(VENV)/demo: pyproject.toml $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	rm -rf build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	touch $@

# bytecode once, as pip makes it of what it copies, and not by each of the first processes at the same time
$(VENV)/test: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	$(BIN)/python -m compileall -q engine cli tests/support
	touch $@ $(VENV)/demo

$(VENV)/dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m compileall -q engine cli tests/support
	touch $@ $(VENV)/test $(VENV)/demo

$(VENV)/bench: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@ $(VENV)/demo

demo: $(VENV)/demo
	$(BIN)/denoc idyn puma.yaml

test: $(VENV)/test
	$(BIN)/python -m pytest -q

# the quickest tests, after every change: a minute of CPU
smoke: $(VENV)/test
	$(BIN)/python -m pytest -q -n 0 -m smoke

# every case of every test
full: $(VENV)/test
	$(BIN)/python -m pytest -q --full

# broken files of all kinds through the command line: make hostile KIND="mat store" COUNT=5000 SEED=x
hostile: $(VENV)/test
	$(BIN)/python tests/tools/hostile.py $(addprefix --kind ,$(KIND)) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS))

# deliberate bugs, which the tests have to catch: make mutants SAMPLE=10, or ONLY=word, or WHOLE=1
mutants: $(VENV)/test
	$(BIN)/python tests/tools/mutants.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only "$(ONLY)") $(if $(WHOLE),--whole) $(if $(JOBS),--jobs $(JOBS))

# every check there is
check: lint types layers test regress peers wheel

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/python tests/tools/installed.py mypy -p denoc

layers: $(VENV)/dev
	$(BIN)/python tests/tools/installed.py lint-imports

# the tests beside Pinocchio and MuJoCo, which the developers' tools bring, and the robots of the small packages among these
peers: $(VENV)/dev
	$(BIN)/python -m pytest -q -n 0 tests/study/test_peers.py tests/cli/test_verify.py tests/mechanics/trees/test_pinocchio.py tests/mechanics/trees/test_derivatives.py tests/formats/test_urdf_beside_pinocchio.py tests/formats/test_mjcf.py tests/formats/test_mjcf_beside_mujoco.py tests/formats/test_models.py "tests/test_readme.py::test_what_is_shown_is_so[coming-from.md]"

$(VENV)/models: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,models]'
	touch $@ $(VENV)/demo

# every robot of packages that carry URDF, SDF and MJCF files, beside Pinocchio and MuJoCo; installs them first
models: $(VENV)/models
	$(BIN)/python -m pytest -q -n 0 --full tests/formats/test_models.py

wheel: $(VENV)/dev
	$(BIN)/python tests/tools/wheel.py

# the quick tests on the lowest versions that pyproject.toml allows, and on the newest; each installs them first
lowest newest:
	$(PYTHON) tests/tools/versions.py $@

# denoc beside other programs; installs them first
bench: $(VENV)/bench
	$(BIN)/python tests/benchmarks/run.py

# what studies of very many runs cost: the figures of docs/scale.md
scale: $(VENV)/test
	$(BIN)/python tests/benchmarks/scale.py

# what is found of the papers' tables and figures: docs/papers.json, and the pages that have it; or make found ONLY=id
found: $(VENV)/test
	$(BIN)/python tests/tools/pages.py found $(ONLY)

# the library's scenarios beside outputs/baseline/
regress: $(VENV)/test
	$(BIN)/denoc regress

# shows what has changed and makes it the new baseline; scenarios that are new come in
baseline: $(VENV)/test
	$(BIN)/denoc regress $(basename $(notdir $(wildcard scenarios/*.yaml))) --update

# everything that the library gives, kept in a folder: make snapshot DIR=outputs/before
snapshot: $(VENV)/test
	$(BIN)/python tests/tools/snapshot.py take $(DIR)

# what differs between two of them: make compare OLD=outputs/before NEW=outputs/after, with TOLERANCE=1e-12 or BITS=1; WORK=1
compare: $(VENV)/test
	$(BIN)/python tests/tools/snapshot.py compare $(OLD) $(NEW) $(if $(TOLERANCE),--tolerance $(TOLERANCE)) $(if $(BITS),--bits) $(if $(WORK),--work)

# the pages that are made of the program and checked to be so: docs/reference.md, docs/schema/, links to lines of code
pages: $(VENV)/test
	$(BIN)/python tests/tools/pages.py

$(VENV)/site: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[site]'
	touch $@ $(VENV)/demo

# the documentation with its gallery as outputs/site/, which opens offline; links are checked
site: $(VENV)/site
	$(BIN)/python tests/tools/website.py

clean:
	rm -rf build dist *.egg-info .venv
