# One command to run, one to test. Nothing but python 3.11+, pip and make is needed beforehand.

PYTHON ?= python3
UV := .tools/bin/uv
BIN := .venv/bin
SESSION_SECRET := .tools/session-secret
MEMBERS := $(wildcard plugins/formats/*/pyproject.toml plugins/providers/*/pyproject.toml plugins/servers/*/pyproject.toml plugins/extensions/*/pyproject.toml)

DASHBOARD := plugins/extensions/dashboard
DASHBOARD_PAGE := $(DASHBOARD)/gateway_extension_dashboard/static/index.html
DASHBOARD_SOURCES := $(shell find $(DASHBOARD)/web $(DASHBOARD)/web_build.py -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -name schema.d.ts)

.PHONY: run test lint types lock setup clean dashboard

run: .venv/ready $(SESSION_SECRET)
	@$(MAKE) --no-print-directory $(DASHBOARD_PAGE) || echo "The gateway starts without its dashboard."
	@JWT_SECRET="$${JWT_SECRET:-$$(cat $(SESSION_SECRET))}" $(BIN)/model-gateway

# Without a secret to sign sessions with nobody can sign in to the dashboard, and the gateway makes none.
$(SESSION_SECRET): $(UV)
	@umask 077 && $(PYTHON) -c 'import secrets; print(secrets.token_hex(32))' > $@

# The web dashboard's files, where they are missing or older than their sources.
dashboard: $(DASHBOARD_PAGE)

$(DASHBOARD_PAGE): .venv/ready $(DASHBOARD_SOURCES)
	$(BIN)/python $(DASHBOARD)/web_build.py

test: .venv/ready $(DASHBOARD_PAGE)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

lint: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/ready
	$(BIN)/python tools/check_types.py

setup: .venv/ready

# uv lives outside .venv, because a sync of .venv would remove it.
$(UV): requirements/tools.txt
	$(PYTHON) -m venv .tools
	.tools/bin/pip install --quiet --require-hashes -r requirements/tools.txt
	@touch $@

.venv/ready: $(UV) pyproject.toml requirements/lock.txt $(MEMBERS)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv
	$(UV) pip sync --quiet --compile-bytecode --require-hashes --python $(BIN)/python requirements/lock.txt
	$(UV) pip install --quiet --no-deps --python $(BIN)/python -e . $(foreach m,$(MEMBERS),-e $(dir $(m)))
	$(BIN)/python -m compileall -q -x /node_modules/ $(wildcard gateway_*) plugins
	@touch $@

# The image holds every distribution but the kit, which is for authors of plugins.
IN_IMAGE = $(shell sed -n 's/^name = //p' pyproject.toml plugins/formats/*/pyproject.toml plugins/providers/*/pyproject.toml $(filter-out plugins/extensions/kit/%,$(wildcard plugins/extensions/*/pyproject.toml)))

# Writes hash-pinned requirements that name no registry.
lock: $(UV)
	$(UV) lock --quiet --upgrade
	$(UV) export --quiet --all-packages --all-extras --all-groups --no-emit-workspace --no-header --output-file requirements/lock.txt
	$(UV) export --quiet --frozen $(addprefix --package ,$(IN_IMAGE)) --extra fast --extra compression --no-dev --no-emit-workspace --no-header --output-file requirements/image.txt
	$(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate requirements/build.in --output-file requirements/build.txt

# What is derived from the plugin folders and the docstrings; run it after adding a plugin.
.PHONY: generated
generated: .venv/ready
	$(BIN)/python tools/bundled.py
	$(BIN)/python tests/support/golden.py
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/coverage.py
	$(BIN)/python tools/openapi.py
	$(BIN)/python tools/conformance.py --changed

clean:
	rm -rf .venv .tools dist $(DASHBOARD)/web/node_modules $(DASHBOARD)/gateway_extension_dashboard/static

.PHONY: bench bench-quick bench-others profile count kills sockets batches

# What the gateway costs beside nginx; see benchmarks/README.md.
bench: .venv/ready
	$(BIN)/python -m benchmarks run $(ARGS)

bench-quick: .venv/ready
	$(BIN)/python -m benchmarks quick

bench-others: .venv/ready
	$(BIN)/python -m benchmarks others

profile: .venv/ready
	$(BIN)/python -m benchmarks profile $(ARGS)

count: .venv/ready
	$(BIN)/python -m benchmarks count $(ARGS)

kills: .venv/ready
	$(BIN)/python -m benchmarks kills $(ARGS)

sockets: .venv/ready
	$(BIN)/python -m benchmarks sockets $(ARGS)

batches: .venv/ready
	$(BIN)/python -m benchmarks batches $(ARGS)

.PHONY: screenshots

# Pictures of every page of the dashboard, in .data/screenshots; needs Debian's chromium.
screenshots: .venv/ready
	$(BIN)/python tools/screenshots.py $(ARGS)

.PHONY: docs

# The documentation as a site, in dist/docs; look at it with: python3 -m http.server --directory dist/docs
docs: .venv/ready
	PATH="$(BIN):$$PATH" $(BIN)/python tools/docs_site.py

.PHONY: dist

# Wheels and source archives of everything, with their sums and a bill of materials, in dist.
dist: .venv/ready
	$(BIN)/python tools/dist.py

.PHONY: image

# The container image, with docker, podman or buildah; see docs/container.md.
IMAGE ?= model-gateway
image:
	@sh container/build.sh $(IMAGE) $(ARGS)
