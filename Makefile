# memtrace: one file, no recursion into folders; `make help` lists the targets, `V=1` shows commands.
#
# The sources are whatever .c files the folders hold. They compile twice: build/lib/ for the preload
# library (PIC, hidden, libc only) and build/cli/ for the tool. CFLAGS, CPPFLAGS and LDFLAGS are
# yours; ours are added to them.

BUILD ?= build
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
VERSION := $(shell sed -n 's/.*MEMTRACE_VERSION "\(.*\)"/\1/p' src/base/settings/version.h)
OPT ?= -O2
CFLAGS ?= -g
SAN ?=#		address,undefined: the tool and the unit tests under sanitizers
WERROR ?=#	1: a warning is an error (`make check` sets it)
DEBUG ?=#	1: the library stops where it breaks a promise (base/guest/debug_checks.h)
SETUP ?= yes#	no: `make check` and `make demo` do not look for missing packages
STATIC ?=#	1: the tool needs libc alone, for the other libraries' archives are inside (`make wheel`)
CUDA ?=#		/usr/local/cuda: `make samples` and `make check-gpu` use this toolkit, not the fake
CJSON_CFLAGS ?=
CJSON_LIBS ?= -lcjson
ZLIB_LIBS ?= -lz

in_path = $(firstword $(wildcard $(addsuffix /$(1),$(subst :, ,$(PATH)))))
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(patsubst $(BUILD)/%,%,$(2));)

# What the tool can do without: what needs them says so then.
has_header = $(shell printf '\043include <%s>\n' $(1) | $(CC) $(CPPFLAGS) $(CFLAGS) -E - >/dev/null 2>&1 && echo yes)
OPTIONAL := $(if $(call has_header,sqlite3.h),sqlite) $(if $(call has_header,zstd.h),zstd) \
	$(if $(call has_header,elfutils/libdwfl.h),libdw)
OPTIONAL_FLAGS := $(if $(filter sqlite,$(OPTIONAL)),-DHAVE_SQLITE=1) $(if $(filter zstd,$(OPTIONAL)),-DHAVE_ZSTD=1) \
	$(if $(filter libdw,$(OPTIONAL)),-DHAVE_LIBDW=1)
OPTIONAL_LIBS := $(if $(filter sqlite,$(OPTIONAL)),-lsqlite3) $(if $(filter zstd,$(OPTIONAL)),-lzstd) \
	$(if $(filter libdw,$(OPTIONAL)),-ldw)

# --- sources ---------------------------------------------------------------------------------------

comma := ,

# A folder's files, and those of its rooms.
src_of = $(foreach folder,$(1),$(wildcard src/$(folder)/*.c src/$(folder)/*/*.c))
# In both; what else the library holds is its own.
SHARED := $(call src_of,base codec spool ledger facts render/values render/document)
LIB_SOURCES := $(SHARED) $(call src_of,capture) $(wildcard src/capture/*/*.S)
CLI_SOURCES := $(sort $(SHARED) $(call src_of,analyse render cli))
TREE_HEADERS := $(wildcard src/*/*.h src/*/*.def src/*/*/*.h src/*/*/*.def include/memtrace/*.h)

lib_o = $(patsubst src/%,$(BUILD)/lib/%.o,$(basename $(1)))
cli_o = $(patsubst src/%.c,$(BUILD)/cli/%.o,$(1))
LIB_OBJECTS := $(call lib_o,$(LIB_SOURCES))
CLI_OBJECTS := $(call cli_o,$(CLI_SOURCES)) $(BUILD)/cli/render/page/page_bundle.o
CLI_NO_MAIN := $(filter-out $(BUILD)/cli/cli/main.o,$(CLI_OBJECTS))

# --- flags -----------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wwrite-strings \
	-Wundef
LANGUAGE := -std=gnu11 -D_GNU_SOURCE= -Isrc -Iinclude
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all)

# A compiler that tunes for no processor clears a struct by `rep stos`, which takes 30 cycles to begin.
MACHINE := $(shell $(CC) -dumpmachine)
TUNE := $(if $(filter x86_64%,$(MACHINE)),-mtune=skylake)

BASE_FLAGS = $(LANGUAGE) $(CPPFLAGS) $(OPT) -g -fno-omit-frame-pointer $(WARNINGS) $(CFLAGS)
# -fexceptions: a C++ exception or pthread_exit may pass through a wrapper. The library is never
# sanitized (but for check-tsan, whose programs are linked with it): the programs it is preloaded into
# lack the sanitizer's runtime.
LIB_FLAGS = $(BASE_FLAGS) $(if $(filter 1,$(DEBUG)),-DMEMTRACE_DEBUG=1) $(LIB_SANITIZE) $(TUNE) -DMEMTRACE_LIBRARY=1 -include src/base/guest/old_glibc.h -fPIC -fvisibility=hidden -fexceptions \
	-ftls-model=initial-exec -fno-semantic-interposition -ffunction-sections -fdata-sections
# noseparate-code: two mappings fewer in every process that inherits LD_PRELOAD, and in all that it forks.
# Bsymbolic-functions: nobody looks for our own functions by name there.
LIB_LINK = -shared -Wl,-soname,libmemtrace.so.$(firstword $(subst ., ,$(VERSION))) $(if $(LIB_SANITIZE),,-Wl,-z,defs $(LIB_LAYOUT)) -Wl,-z,nodelete \
	-Wl,-z,noexecstack -Wl,-Bsymbolic-functions -Wl,-z,noseparate-code -Wl,--gc-sections -Wl,--as-needed $(if $(filter 1,$(DEBUG)),$(WATCH_LOADER))
# lazy: a function that nobody calls is not looked up, and the loader leaves its entry of us where
# capture/life/init.c finds it. No start files: crtbegin.o asks for four names in every process. norelro: to
# protect what the loader wrote would be a call and a mapping more.
LIB_LAYOUT = -nostartfiles -Wl,-z,lazy -Wl,-z,norelro -Wl,-T,src/libmemtrace.ld
WATCH_LOADER := $(addprefix -Wl$(comma)--wrap=,dlopen dlclose dladdr dladdr1 dl_iterate_phdr)
CLI_FLAGS = $(BASE_FLAGS) $(OPTIONAL_FLAGS) $(CJSON_CFLAGS) $(SANITIZE)
# Archives come in the order in which they need each other: libdw needs libelf, which needs the packers.
TOOL_LIBS = -Wl,--as-needed $(if $(filter 1,$(STATIC)),-Wl$(comma)-Bstatic $(CJSON_LIBS) $(OPTIONAL_LIBS) \
	$(if $(filter libdw,$(OPTIONAL)),-lelf -lbz2 -llzma) $(ZLIB_LIBS) -Wl$(comma)-Bdynamic,$(CJSON_LIBS) $(ZLIB_LIBS) $(OPTIONAL_LIBS)) -ldl -lpthread -lm
FAKE_FLAGS = $(BASE_FLAGS) -Itests/fake -Itests/fake/include -fPIC $(if $(LIB_SANITIZE),-include tests/tsan/unseen.h)
# A caller that ended in a jump would be in no stack: tests ask for each by name.
PROGRAM_FLAGS = $(BASE_FLAGS) -fno-optimize-sibling-calls -Itests/fake/include

COMPILE = $(CC) -MMD -MP $(if $(filter 1,$(WERROR)),-Werror)

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

.PHONY: all
all: $(BUILD)/libmemtrace.so $(BUILD)/memtrace ## the library and the tool (this is the default)

# Rewritten only when the flags changed, so that everything is built again exactly then.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; printf '%s\n' '$(subst ','\'',$(CC) $(LIB_FLAGS) $(LIB_LINK) $(CLI_FLAGS) $(LDFLAGS) $(TOOL_LIBS))' >$$new; \
		if cmp -s $$new $@; then rm -f $$new; else mv $$new $@; fi
.PHONY: FORCE
FORCE:

# What must be there before anything compiles, said in one sentence.
$(BUILD)/ready: $(BUILD)/flags
	@command -v $(firstword $(CC)) >/dev/null || \
		{ echo '$(firstword $(CC)) is missing: run scripts/setup.sh' >&2; exit 1; }
	@echo '#include <cjson/cJSON.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) $(CJSON_CFLAGS) -E - >/dev/null 2>&1 || \
		{ echo 'libcjson-dev is missing: run scripts/setup.sh' >&2; exit 1; }
	@echo '#include <zlib.h>' | $(CC) $(CPPFLAGS) $(CFLAGS) -E - >/dev/null 2>&1 || \
		{ echo 'zlib1g-dev is missing: run scripts/setup.sh' >&2; exit 1; }
	@touch $@

# --- the page of `memtrace html` -------------------------------------------------------------------

# Without npm, or where it reaches no registry (an empty page, tried again next time), the rest builds
# all the same, and `memtrace html` says what it lacks. PAGE= builds without the page on purpose.
NPM := $(call in_path,npm)
PAGE ?= $(if $(NPM),$(BUILD)/page/page.html)
PAGE_SOURCES := $(wildcard src/page/*.* src/page/*/*.ts) src/facts/trace.def src/facts/frame_kinds.def

.PHONY: page
page: $(BUILD)/page/page.html ## the page of `memtrace html`, bundled from src/page (wants npm)
	@[ -s $< ] || { echo 'the page could not be built, see above' >&2; rm -f $<; exit 1; }

$(BUILD)/page/page.html: $(PAGE_SOURCES) scripts/page.sh
	$(call say,PAGE,$@) sh scripts/page.sh $(@D) || { [ $$? = 3 ] && : >$@ && touch -d @0 $@ && \
		echo 'building without the page: memtrace html will say what it lacks' >&2; }

$(BUILD)/cli/render/page/page_bundle.o: src/render/page/page_bundle.S $(BUILD)/flags $(PAGE) | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,AS,$@) $(COMPILE) $(CLI_FLAGS) $(if $(PAGE),-DPAGE_FILE='"$(PAGE)"') -c -o $@ $<

# Texts that these hold as they are.
$(BUILD)/cli/cli/completion.o: src/cli/completion.bash src/cli/completion.zsh
$(BUILD)/cli/analyse/categories/rules.o: src/analyse/categories/builtin_categories.rules src/analyse/categories/rules.help

# --- the library and the tool ----------------------------------------------------------------------

$(BUILD)/lib/%.o: src/%.c $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(LIB_FLAGS) -c -o $@ $<

$(BUILD)/lib/%.o: src/%.S $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,AS,$@) $(COMPILE) $(LIB_FLAGS) -c -o $@ $<

# A sanitizer asks dlsym before it can be called itself, and the first who asks begins our life.
$(call lib_o,src/capture/exports/interpose_dlsym.c src/capture/life/init.c src/capture/life/fork.c): private override LIB_SANITIZE :=

$(BUILD)/cli/%.o: src/%.c $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(CLI_FLAGS) -c -o $@ $<

$(BUILD)/libmemtrace.so: $(LIB_OBJECTS) src/libmemtrace.ld
	$(call say,LINK,$@) $(CC) $(LIB_FLAGS) $(LDFLAGS) $(LIB_LINK) -o $@ $(LIB_OBJECTS)

# SQLite asks for log(), of which glibc 2.29 has a version of its own: the archive's call goes to the old one.
$(BUILD)/old_log.o: | $(BUILD)/ready
	$(call say,AS,$@) printf '%s\n' '.globl log' '.hidden log' '.symver old_log, log@GLIBC_2.2.5' 'log: jmp old_log@PLT' \
		'.section .note.GNU-stack, "", @progbits' | $(CC) -x assembler -c -o $@ -

$(BUILD)/memtrace: $(CLI_OBJECTS) $(if $(filter 1-x86_64%,$(STATIC)-$(MACHINE)),$(BUILD)/old_log.o)
	$(call say,LINK,$@) $(CC) $(CLI_FLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)

# --- the simulated CUDA ----------------------------------------------------------------------------

FAKE := $(BUILD)/fake
fake_o = $(patsubst tests/fake/%.c,$(FAKE)/$(2)/%.o,$(1))
FAKE_DRIVER := $(wildcard tests/fake/driver*.c)
FAKE_RUNTIME := $(wildcard tests/fake/cudart*.c)
FAKE_STATIC := $(FAKE_RUNTIME) $(wildcard tests/fake/static*.c)
FAKE_FILES := $(addprefix $(FAKE)/,libcuda.so.1 libcuda.so libcudart.so.13 libcudart.so libcudart_static.a libcupti.so.13 libnvidia-ml.so.1)

.PHONY: fake
fake: $(FAKE_FILES) ## a simulated libcuda.so.1, libcudart.so.13 and libnvidia-ml.so.1 under build/fake/

$(FAKE)/shared/%.o: tests/fake/%.c $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(FAKE_FLAGS) -c -o $@ $<

$(FAKE)/static/%.o: tests/fake/%.c $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(FAKE_FLAGS) -DFAKE_CUDART_STATIC -c -o $@ $<

# As the real one, the runtime is not linked with the driver: it asks for it with dlopen. Names have
# versions where there is a .map. -Bsymbolic: a driver bound to a preload would be hooked from inside.
$(FAKE)/libcuda.so.1: $(call fake_o,$(FAKE_DRIVER),shared) $(wildcard tests/fake/driver.map)
$(FAKE)/libcudart.so.13: $(call fake_o,$(FAKE_RUNTIME),shared) $(wildcard tests/fake/cudart.map)
$(FAKE)/libcupti.so.13: $(call fake_o,tests/fake/cupti.c,shared)
$(FAKE)/libnvidia-ml.so.1: $(call fake_o,$(wildcard tests/fake/nvml*.c),shared)
$(FAKE)/libcuda.so.1 $(FAKE)/libcudart.so.13 $(FAKE)/libcupti.so.13 $(FAKE)/libnvidia-ml.so.1:
	$(call say,LINK,$@) $(CC) $(FAKE_FLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ \
		$(filter %.o,$^) $(patsubst %,-Wl$(comma)--version-script=%,$(filter %.map,$^)) -ldl -lpthread

$(FAKE)/libcudart_static.a: $(call fake_o,$(FAKE_STATIC),static)
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $^

$(FAKE)/libcuda.so: $(FAKE)/libcuda.so.1
$(FAKE)/libcudart.so: $(FAKE)/libcudart.so.13
$(FAKE)/libcuda.so $(FAKE)/libcudart.so:
	$(Q)ln -sf $(<F) $@

# --- samples, which are also what the end-to-end tests trace ---------------------------------------

# --as-needed: a program that calls the driver itself gets libcuda.so.1, the others do not.
FAKE_LINK := -rdynamic -Wl,--as-needed -L$(FAKE) -lcudart -lcuda -ldl -lpthread -lm
FAKE_STATIC_LINK := -rdynamic $(FAKE)/libcudart_static.a -Wl,--as-needed -L$(FAKE) -lcuda -ldl -lpthread -lm

SAMPLES := $(patsubst samples/%.c,%,$(wildcard samples/*.c))
FAKE_SAMPLES := $(foreach name,$(SAMPLES),$(BUILD)/samples/$(name) $(BUILD)/samples/$(name)-static)

$(BUILD)/samples/%: samples/%.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(PROGRAM_FLAGS) $(LDFLAGS) -o $@ $< $(FAKE_LINK)

$(BUILD)/samples/%-static: samples/%.c $(FAKE)/libcudart_static.a $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(PROGRAM_FLAGS) $(LDFLAGS) -o $@ $< $(FAKE_STATIC_LINK)

# Against a toolkit. The fake's libcuda.so stands in at link time where there is no driver: the
# soname is the same.
NVCC := $(if $(CUDA),$(wildcard $(CUDA)/bin/nvcc))
GPU_SAMPLES := $(foreach name,$(SAMPLES),$(BUILD)/gpu-samples/$(name) $(BUILD)/gpu-samples/$(name)-static) \
	$(if $(wildcard tests/fake/agree.c),$(BUILD)/gpu-samples/agree) \
	$(if $(NVCC),$(patsubst samples/%.cu,$(BUILD)/gpu-samples/%,$(wildcard samples/*.cu)))
GPU_FLAGS = $(BASE_FLAGS) -fno-optimize-sibling-calls -isystem $(CUDA)/include
GPU_PATH = -L$(CUDA)/lib64 -L$(CUDA)/lib64/stubs -L$(FAKE)
GPU_LINK = -rdynamic -Wl,--as-needed $(GPU_PATH) -lcudart -lcuda -ldl -lpthread -lm

$(BUILD)/gpu-samples/%: samples/%.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(GPU_FLAGS) $(LDFLAGS) -o $@ $< $(GPU_LINK)

$(BUILD)/gpu-samples/%-static: samples/%.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(GPU_FLAGS) $(LDFLAGS) -o $@ $< $(CUDA)/lib64/libcudart_static.a \
		-Wl,--as-needed $(GPU_PATH) -lcuda -ldl -lpthread -lrt -lm

$(BUILD)/gpu-samples/agree: tests/fake/agree.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(GPU_FLAGS) $(LDFLAGS) -o $@ $< $(GPU_LINK)

$(BUILD)/gpu-samples/%: samples/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,NVCC,$@) $(NVCC) -O2 -g -Iinclude -o $@ $< -ldl

.PHONY: samples demo
samples: $(if $(CUDA),$(GPU_SAMPLES),$(FAKE_SAMPLES)) ## the sample programs, CUDA=/usr/local/cuda: against a toolkit

demo: $(if $(filter no,$(SETUP)),,$(BUILD)/setup-demo) ## a traced program and its report, on the GPU or the simulated one
	$(Q)MAKE='$(MAKE)' BUILD='$(BUILD)' sh scripts/demo.sh

# --- test programs ---------------------------------------------------------------------------------

TESTS := $(BUILD)/tests
# Tests lie in rooms, and are built side by side: no two have one name.
UNIT_ROOMS := $(patsubst tests/unit/%/,%,$(wildcard tests/unit/*/))
E2E_ROOMS := $(patsubst tests/e2e/%/,%,$(wildcard tests/e2e/*/))
UNIT_TESTS := $(patsubst %.c,$(TESTS)/%,$(notdir $(wildcard tests/unit/*/test_*.c)))
# Beside the rooms and the probe, what lies in tests/unit helps any test.
UNIT_HELP := $(filter-out %_probe.c,$(wildcard tests/unit/*.c))
PYTHON_PROBE := $(if $(wildcard tests/unit/python_probe.c),$(TESTS)/python_probe.so)
GENERATOR := $(if $(wildcard tests/generator.c),$(TESTS)/generator)
GENERATOR_OBJECTS := $(patsubst tests/%.c,$(TESTS)/%.o,$(wildcard tests/generator.c tests/generator_*.c))
# tests/e2e/*/lib*.c are libraries that the programs load.
E2E_LIBRARIES := $(patsubst %.c,$(TESTS)/e2e/%.so,$(notdir $(wildcard tests/e2e/*/lib*.c)))
E2E_PROGRAMS := $(patsubst %.c,$(TESTS)/e2e/%,$(filter-out lib%,$(notdir $(wildcard tests/e2e/*/*.c))))
GUEST_PROGRAMS := $(patsubst tests/%.c,$(TESTS)/%,$(wildcard tests/guest/*.c))

# The corners in which the simulation and a GPU must answer alike.
AGREE := $(if $(wildcard tests/fake/agree.c),$(TESTS)/agree)

# Archives: a test takes from them what it names. So it may name parts of capture too, and no
# constructor of the library runs in a test that does not ask for it.
CAPTURE_OBJECTS := $(filter $(BUILD)/lib/capture/%,$(LIB_OBJECTS))
$(TESTS)/tool.a: $(CLI_NO_MAIN) $(CAPTURE_OBJECTS) $(patsubst tests/%.c,$(TESTS)/%.o,$(UNIT_HELP))
$(TESTS)/lib.a: $(LIB_OBJECTS)
$(TESTS)/tool.a $(TESTS)/lib.a:
	@mkdir -p $(@D)
	$(call say,AR,$@) rm -f $@ && $(AR) rcs $@ $^

$(TESTS)/%.o: tests/%.c $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(CLI_FLAGS) -Itests -c -o $@ $<

define unit_room
$(patsubst tests/unit/$(1)/%.c,$(TESTS)/%,$(wildcard tests/unit/$(1)/test_*.c)): $(TESTS)/%: $(TESTS)/unit/$(1)/%.o $(TESTS)/tool.a
	$$(call say,LINK,$$@) $$(CC) $$(CLI_FLAGS) $$(LDFLAGS) -rdynamic -o $$@ $$< $(TESTS)/tool.a $$(TOOL_LIBS)
endef
$(foreach room,$(UNIT_ROOMS),$(eval $(call unit_room,$(room))))

$(TESTS)/generator: $(GENERATOR_OBJECTS) $(TESTS)/tool.a
	$(call say,LINK,$@) $(CC) $(CLI_FLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)

$(TESTS)/python_probe.so: tests/unit/python_probe.c $(TESTS)/lib.a
	$(call say,LINK,$@) $(COMPILE) $(BASE_FLAGS) -fPIC -shared $(LDFLAGS) -o $@ \
		$(filter %.c %.a,$^) -ldl -lpthread

define e2e_room
$(TESTS)/e2e/%: tests/e2e/$(1)/%.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(COMPILE) $$(PROGRAM_FLAGS) $$(LDFLAGS) -o $$@ $$< $$(FAKE_LINK)

$(TESTS)/e2e/%.so: tests/e2e/$(1)/%.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(COMPILE) $$(PROGRAM_FLAGS) $$(LDFLAGS) -fPIC -shared -Wl,-soname,$$(@F) \
		-o $$@ $$< $$(FAKE_LINK)
endef
$(foreach room,$(E2E_ROOMS),$(eval $(call e2e_room,$(room))))

$(TESTS)/guest/%: tests/guest/%.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(PROGRAM_FLAGS) $(LDFLAGS) -o $@ $< $(FAKE_LINK)

$(TESTS)/agree: tests/fake/agree.c $(BUILD)/flags | $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(PROGRAM_FLAGS) $(LDFLAGS) -o $@ $< $(FAKE_LINK)

# Linked with the library, which comes before the runtime that it stands in front of: under a sanitizer
# a preload would come before that one's own runtime.
$(TESTS)/tsan/threads: tests/tsan/threads.c $(BUILD)/libmemtrace.so $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(PROGRAM_FLAGS) $(LIB_SANITIZE) $(LDFLAGS) -o $@ $< \
		-Wl,--no-as-needed $(BUILD)/libmemtrace.so -L$(FAKE) -lcudart -lcuda -ldl -lpthread

$(TESTS)/tsan/%.so: tests/tsan/%.c $(FAKE_FILES)
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(PROGRAM_FLAGS) $(LDFLAGS) -fPIC -shared -o $@ $< -L$(FAKE) -lcudart

# The library with its promises asserted (base/guest/debug_checks.h); what is in BUILD/debug is this alone.
DEBUG_LIBRARY := $(BUILD)/debug/libmemtrace.so
$(DEBUG_LIBRARY): $(LIB_SOURCES) $(TREE_HEADERS) $(BUILD)/flags
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/debug DEBUG=1 OPT=-O0 $@

WATCH_SOURCES := $(addprefix src/base/,$(addprefix guest/,debug_checks.c lock.c own_stack_and_thread.c signals.c) $(addprefix text/,log.c fd.c text.c utf8.c))
$(TESTS)/debug/promises: tests/debug/promises.c $(WATCH_SOURCES) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$@) $(COMPILE) $(CLI_FLAGS) -DMEMTRACE_DEBUG=1 $(LDFLAGS) -o $@ $(filter %.c,$^)

.PHONY: unit-programs test-programs tsan-programs guest-programs
tsan-programs: $(TESTS)/tsan/threads $(TESTS)/tsan/plug.so $(TESTS)/e2e/libc10.so
unit-programs: $(UNIT_TESTS) $(PYTHON_PROBE)
guest-programs: all fake $(FAKE_SAMPLES) $(GUEST_PROGRAMS) $(TESTS)/e2e/ends $(TESTS)/e2e/libjump.so
test-programs: all fake manual $(FAKE_SAMPLES) unit-programs $(GENERATOR) $(E2E_PROGRAMS) $(E2E_LIBRARIES) \
	$(GUEST_PROGRAMS) $(AGREE) fuzz-replay $(DEBUG_LIBRARY) $(TESTS)/debug/promises tsan-programs

# --- tests -----------------------------------------------------------------------------------------

# One missing package must not cost the whole run, so a failed setup speaks and is tried again next
# time. The script builds by calling make on this file: a program that does not build is one failed
# test there, not the end of all.
$(BUILD)/setup-%: scripts/setup.sh
	@mkdir -p $(@D)
	@sh scripts/setup.sh $* && touch $@ || true

TESTING = MAKE='$(MAKE)' BUILD='$(BUILD)' CC='$(CC)' TOOL_LIBS='$(TOOL_LIBS)' sh scripts/run-tests.sh

.PHONY: check check-unit check-e2e check-hostile check-san check-tsan check-debug check-gpu check-all bench bench-scale
check: $(if $(filter no,$(SETUP)),,$(BUILD)/setup-check) ## every test below, closed by "N passed, N failed"
	@$(TESTING) static unit e2e guest

check-unit: ## the unit tests, T=word: only those with it in their name
	@$(TESTING) unit

check-e2e: ## the end-to-end scripts on the simulated CUDA, T=word as above
	@$(TESTING) e2e

check-hostile: ## tests/guest/*.sh: hosts that do what they must not, T=word as above, LONG=1: all of it
	@$(TESTING) guest

check-san: ## the unit tests under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory check-unit BUILD=$(BUILD)/san SAN=address,undefined

check-tsan: ## eight threads in a library that is compiled with -fsanitize=thread
	$(Q)MAKE='$(MAKE)' BUILD='$(BUILD)' CC='$(CC)' sh scripts/check-tsan.sh

check-debug: $(DEBUG_LIBRARY) ## the end-to-end scripts with a library that asserts its promises
	@LIBRARY='$(abspath $(DEBUG_LIBRARY))' $(TESTING) e2e

check-gpu: ## tests/gpu/*.sh on the real device (CUDA=/usr/local/cuda)
	@CUDA='$(firstword $(CUDA) $(wildcard /usr/local/cuda))' $(TESTING) gpu

# Each fuzz target three times: for libFuzzer, for AFL++, and to replay tests/fuzz/corpus under the
# sanitizers with the compiler at hand, which is a test of `make check`.
FUZZ := $(BUILD)/fuzz
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SOURCES := $(sort $(SHARED) $(call src_of,analyse render)) $(addprefix src/cli/,args.c budget_file.c top/top_request.c traces.c) \
	tests/unit/recorder.c
# fuzz-portable links what another machine may lack into the targets; of cJSON Debian has no archive,
# so its library lies beside them.
FUZZ_LIBS = $(TOOL_LIBS)
FUZZ_FLAGS = $(LANGUAGE) $(CPPFLAGS) $(OPTIONAL_FLAGS) -Itests -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all
fuzz_cc_replay = $(CC) $(FUZZ_FLAGS) -fsanitize=address,undefined
fuzz_cc_libfuzzer = clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,address,undefined
fuzz_cc_afl = AFL_QUIET=1 afl-clang-fast $(FUZZ_FLAGS) -fsanitize=address
fuzz_link_libfuzzer := -fsanitize=fuzzer
fuzz_link_afl := -fsanitize=fuzzer
fuzz_o = $(patsubst %.c,$(FUZZ)/$(1)/%.o,$(FUZZ_SOURCES))

define fuzz_kind
$(FUZZ)/$(1)/%.o: %.c $(BUILD)/flags | $(BUILD)/ready
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(fuzz_cc_$(1)) -MMD -MP -c -o $$@ $$<

$(FUZZ)/$(1)/target.a: $(call fuzz_o,$(1))
	$$(call say,AR,$$@) rm -f $$@ && $$(AR) rcs $$@ $$^

$(addprefix $(FUZZ)/$(1)/,$(FUZZ_TARGETS)): $(FUZZ)/$(1)/%: $(FUZZ)/$(1)/tests/fuzz/%.o \
		$(if $(filter replay,$(1)),$(FUZZ)/$(1)/tests/fuzz/replay.o) $(FUZZ)/$(1)/target.a
	$$(call say,LINK,$$@) $$(fuzz_cc_$(1)) $$(fuzz_link_$(1)) -o $$@ $$^ $$(FUZZ_LIBS)

.PHONY: fuzz-$(1)
fuzz-$(1): $(addprefix $(FUZZ)/$(1)/,$(FUZZ_TARGETS))
endef
$(foreach kind,replay libfuzzer afl,$(eval $(call fuzz_kind,$(kind))))

.PHONY: fuzz fuzz-portable
fuzz-portable: ## the targets for scripts/fuzz-long.sh into build-fuzz, to be run on another machine, too
	@$(MAKE) --no-print-directory BUILD=build-fuzz OPTIONAL=zstd SETUP=no fuzz-libfuzzer \
		FUZZ_LIBS='-static-libstdc++ -static-libgcc -Wl,-Bstatic -lzstd -lz -Wl,-Bdynamic $(CJSON_LIBS) -Wl,-rpath,\$$$$ORIGIN -ldl -lpthread -lm'
	@[ -e build-fuzz/fuzz/libfuzzer/libcjson.so.1 ] || cp "$$(ldd build-fuzz/fuzz/libfuzzer/fuzz_files | sed -n 's/.*libcjson.*=> \([^ ]*\) .*/\1/p')" build-fuzz/fuzz/libfuzzer/

fuzz: ## fuzzes the readers with libFuzzer and AFL++, SECONDS_EACH=60
	$(Q)MAKE='$(MAKE)' BUILD='$(BUILD)' sh scripts/fuzz.sh

check-all: $(if $(filter no,$(SETUP)),,$(BUILD)/setup-check-all) ## check and the long ones, hours; SHORT=1: without check, 4 minutes
	@MAKE='$(MAKE)' BUILD='$(BUILD)' CC='$(CC)' SHORT='$(SHORT)' sh scripts/check-all.sh $(STEPS)

bench: test-programs ## what being traced costs (scripts/bench.sh)
	$(Q)BUILD='$(abspath $(BUILD))' sh scripts/bench.sh

bench-scale: test-programs ## what it costs as everything becomes much (scripts/bench-scale.sh)
	$(Q)BUILD='$(abspath $(BUILD))' sh scripts/bench-scale.sh

# --- static checks ---------------------------------------------------------------------------------

.PHONY: check-layers check-names check-schema check-headers check-symbols check-guest check-abi check-calls check-shell check-instructions
check-layers: ## who includes whom
	$(Q)sh scripts/check-layers.sh

check-names: ## one name, one thing; no folder above 40 files
	$(Q)sh scripts/check-names.sh

check-schema: ## the schema of traces has the members that are read and written
	$(Q)python3 scripts/schema.py --check

.PHONY: schema
schema: ## makes include/memtrace/trace.schema.json agree with the rows of src/facts/trace.def
	$(Q)python3 scripts/schema.py

check-headers: | $(BUILD)/ready ## every header compiles alone
	$(Q)CC='$(CC)' FLAGS='$(LANGUAGE) $(CPPFLAGS) $(CJSON_CFLAGS) $(WARNINGS)' sh scripts/check-headers.sh

check-symbols: all ## the library exports what `memtrace hooks` lists, and costs little where nobody uses it
	$(Q)BUILD='$(BUILD)' sh scripts/check-symbols.sh
	$(Q)BUILD='$(BUILD)' sh scripts/check-start.sh

check-guest: $(BUILD)/libmemtrace.so ## the library never ends, blocks or speaks for its host
	$(Q)BUILD='$(BUILD)' sh scripts/check-guest.sh

CUDA_HEADERS := $(firstword $(foreach folder,$(CUDA) $(CUDA_HOME) $(CUDA_PATH) /usr/local/cuda /usr,\
	$(patsubst %/cuda.h,%,$(wildcard $(folder)/include/cuda.h))))
check-abi: ## the rows of hooks.def against the toolkit's headers, where there are any
ifeq ($(wildcard tests/abi/abi_check.c),)
	@echo 'skip check-abi: there is no tests/abi/abi_check.c'
else ifeq ($(CUDA_HEADERS),)
	@echo 'skip check-abi: no cuda.h here (CUDA=/path/to/toolkit)'
else
	$(Q)$(CC) $(LANGUAGE) $(CPPFLAGS) $(WARNINGS) -Werror -isystem $(CUDA_HEADERS) -fsyntax-only \
		tests/abi/abi_check.c
endif

check-calls: $(BUILD)/memtrace ## each call of CUDA's that names memory is hooked, or tests/abi/unhooked.txt says why not
	$(Q)BUILD='$(BUILD)' sh scripts/check-calls.sh '$(CUDA_HEADERS)'

check-instructions: test-programs ## an event costs no more instructions than the committed baseline
	$(Q)BUILD='$(abspath $(BUILD))' CC='$(CC)' sh scripts/check-instructions.sh

check-shell: ## the scripts under shellcheck
	$(Q)command -v shellcheck >/dev/null || { echo 'skip check-shell: shellcheck is missing'; exit 0; }; \
		shellcheck -x -P SCRIPTDIR scripts/*.sh scripts/ci/*.sh scripts/containers/*.sh $(wildcard tests/e2e/*.sh tests/e2e/*/*.sh tests/guest/*.sh tests/gpu/*.sh tests/glibc/*.sh .ci/run)

# --- format and lint -------------------------------------------------------------------------------

# Other versions lay out and complain differently: they are not asked unless named here.
FORMATTER ?= $(call in_path,clang-format-14)
TIDY ?= $(call in_path,clang-tidy-14)
FORMATTED := $(wildcard $(addsuffix /*.[ch],src/* src/*/* include/memtrace samples tests tests/unit tests/unit/* tests/fake \
	tests/e2e/* tests/guest tests/abi tests/fuzz tests/tsan tests/debug))

.PHONY: format lint check-format check-tidy
format: ## lay out the C files as .clang-format says
	$(Q)$(if $(FORMATTER),$(FORMATTER) -i $(FORMATTED),echo 'clang-format 14 is missing: run scripts/setup.sh check'; exit 1)

lint: check-format check-tidy check-shell check-layers check-names check-schema check-headers ## everything that reads the sources only

check-format: ## the C files are laid out so
	$(Q)$(if $(FORMATTER),$(FORMATTER) --dry-run -Werror $(FORMATTED),echo 'skip check-format: clang-format 14 is missing')

# Paths that clang's analyzer follows in one function, at most. Its own 225000 cost many times as much;
# `make check-all` affords them.
TIDY_PATHS ?= 15000
tidy_budget = $(addprefix --extra-arg=,-Xclang -analyzer-config -Xclang max-nodes=$(TIDY_PATHS))

# A stamp a file, so that only what changed is looked at again.
TIDY_STAMPS := $(patsubst src/%,$(BUILD)/tidy/%.ok,$(sort $(filter %.c,$(LIB_SOURCES)) $(CLI_SOURCES)))
check-tidy: $(if $(TIDY),$(TIDY_STAMPS)) ## clang-tidy has nothing to say
	$(if $(TIDY),@:,@echo 'skip check-tidy: clang-tidy 14 is missing')

tidy_flags = $(LANGUAGE) $(CPPFLAGS) $(OPTIONAL_FLAGS) $(CJSON_CFLAGS) $(if $(filter src/capture/%,$<),-DMEMTRACE_LIBRARY=1)
$(BUILD)/tidy/%.ok: src/% .clang-tidy $(TREE_HEADERS)
	@mkdir -p $(@D)
	$(call say,TIDY,$<) $(TIDY) --quiet $(tidy_budget) $< -- $(tidy_flags) >$@.log 2>$@.err || \
		{ cat $@.log; grep -v 'warnings* generated\|^Suppressed\|^Use -header' $@.err; exit 1; }
	@touch $@

# --- the rest --------------------------------------------------------------------------------------

# The manual's pages come from the tool's --help and from the public header, completion from the tool.
$(BUILD)/share/done: $(BUILD)/memtrace $(wildcard include/memtrace/*.h) $(wildcard scripts/manual* scripts/*.in)
	@rm -rf $(@D) && mkdir -p $(@D)
	$(call say,MANUAL,$(@D)) python3 scripts/manual.py $(BUILD)/memtrace $(VERSION) $(@D) && \
		sh scripts/manual-api.sh include/memtrace/memtrace.h $(VERSION) >$(@D)/libmemtrace.3 && \
		$(BUILD)/memtrace help --completion bash >$(@D)/memtrace.bash && \
		$(BUILD)/memtrace help --completion zsh >$(@D)/memtrace.zsh
	@touch $@

INSTALLING = BUILD='$(BUILD)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' \
	VERSION='$(VERSION)' sh scripts/install.sh

# For another root than this one: the same two, which look for libraries beside themselves first. The tool's is an
# rpath, not a runpath: it holds for the libraries of its libraries, too.
$(BUILD)/container/libmemtrace.so: $(LIB_OBJECTS) src/libmemtrace.ld
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(LIB_FLAGS) $(LDFLAGS) $(LIB_LINK) -Wl,-rpath,'$$ORIGIN' -o $@ $(LIB_OBJECTS)

$(BUILD)/container/memtrace: $(CLI_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(CLI_FLAGS) $(LDFLAGS) -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib/tool' -o $@ $(CLI_OBJECTS) $(TOOL_LIBS)

.PHONY: container manual install uninstall deb clean help
container: $(BUILD)/container/libmemtrace.so $(BUILD)/container/memtrace ## into PREFIX: the two and what they need, for images (scripts/containers)
	$(Q)sh scripts/containers/collect.sh '$(BUILD)' '$(DESTDIR)$(PREFIX)'

manual: $(BUILD)/share/done ## the manual's pages and completion, under build/share/

install: all manual ## into PREFIX (/usr/local) and LIBDIR (PREFIX/lib), below DESTDIR
	@$(INSTALLING) install

uninstall: ## takes away what install put there
	@$(INSTALLING) uninstall

deb: all manual ## build/memtrace_VERSION_ARCH.deb
	$(Q)BUILD='$(BUILD)' VERSION='$(VERSION)' sh scripts/deb.sh

# The tool of an older system runs on newer ones. SUITE= builds it on this one, whose glibc is then wanted.
SUITE ?= bullseye
WHEEL_BUILD = SETUP=no BUILD='$(BUILD)/wheel' STATIC=1 PAGE='$(PAGE)' all
wheel: all manual $(if $(PAGE),page) ## build/memtrace-VERSION-py3-none-manylinux_2_X_ARCH.whl, its programs built in Debian 11 (SUITE=bullseye, root)
	$(Q)$(if $(SUITE),BUILD='$(BUILD)' sh scripts/chroot.sh $(SUITE) make,$(MAKE) --no-print-directory) $(WHEEL_BUILD)
	$(if $(SUITE),$(Q)BUILD='$(BUILD)' sh scripts/chroot.sh $(SUITE) sh scripts/licences.sh '$(BUILD)/wheel/licences')
	$(Q)python3 scripts/wheel.py '$(BUILD)/wheel' '$(BUILD)' '$(VERSION)' '$(BUILD)'

clean: ## removes BUILD, if it is one of ours
	$(Q)if [ -e '$(BUILD)/flags' ]; then rm -rf -- '$(BUILD)'; fi

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo 'Knobs: CC= CFLAGS= BUILD=build OPT=-O2 V=1 WERROR=1 SAN=address,undefined SETUP=no CUDA= PREFIX= LIBDIR= DESTDIR='

-include $(patsubst %.o,%.d,$(LIB_OBJECTS) $(CLI_OBJECTS) $(GENERATOR_OBJECTS)) \
	$(wildcard $(FAKE)/*/*.d $(BUILD)/samples/*.d $(BUILD)/gpu-samples/*.d $(TESTS)/*.d $(TESTS)/*/*.d $(TESTS)/*/*/*.d $(FUZZ)/*/*/*.d $(FUZZ)/*/*/*/*.d $(FUZZ)/*/*/*/*/*.d)
