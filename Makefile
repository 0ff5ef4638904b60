# Lockstep: one Makefile, objects in build/<variant>/. `make help` lists the
# targets. Nothing here calls a compiler or pkg-config before a recipe needs
# it, so that `make demo` and `make test` can install both first.

VERSION := 0.1.0
SONAME := liblockstep.so.0
ENGINE := liblockstep-sim.so.0
PMI := liblockstep-pmi.so.0

# Numbers have points, in scripts too.
export LC_ALL := C.UTF-8

PREFIX ?= /usr/local
CC := gcc
CXX := g++

comma := ,
dash = $(subst $(comma),-,$(strip $1))
variant = $(subst $() ,-,$(strip $(or $(call dash,$1),default) \
	$(if $(filter 1,$(DEVELOPER)),developer)))
BUILD := build/$(call variant,$(SANITIZE))

# ---- flags -------------------------------------------------------------

PACKAGES := simgrid jansson yaml-0.1 zlib nettle libdw expat
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wpointer-arith -Wwrite-strings \
	-Wvla -Wundef -Wformat=2 $(if $(filter 1,$(DEVELOPER)),-Werror)
WARN_C := -Wstrict-prototypes -Wmissing-prototypes
CPPFLAGS := -I. -Iinclude -D_POSIX_C_SOURCE=200809L -DLOCKSTEP_VERSION='"$(VERSION)"'
# Unwind tables: the simulation engine ends a killed rank by unwinding its
# stack, through frames of ours. Its headers use fences, which the thread
# sanitizer does not follow: simulated ranks share one thread anyway.
COMMON := $(if $(SANITIZE),-O1 -g1,-O2 -g) -fPIC -fno-semantic-interposition -fno-common \
	-funwind-tables -pthread \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(SANITIZE)),-fno-sanitize-recover=undefined) \
	$(if $(findstring thread,$(SANITIZE)),-Wno-tsan))
CFLAGS := -std=c17 $(COMMON) $(WARN) $(WARN_C)
CXXFLAGS := -std=c++17 $(COMMON) $(WARN)
LDFLAGS := -Wl,--as-needed $(COMMON)
# A call of a microsecond goes through short functions of many files: the
# library is optimized as a whole in the command and where it is shared. Tests
# and programs take its objects as they are, which clang has not beside.
LTO := $(if $(SANITIZE)$(filter 1,$(DEVELOPER))$(findstring clang,$(CC)),,-flto=auto)
LINK_LTO := $(if $(LTO),-fno-lto)

# Tests run in the source tree, where the doubles of NCCL and CUDA are built.
DOUBLE_PLACE = -DDOUBLES='"$(BUILD)/doubles/"'

# Asked once, when the first recipe needs it. Headers of others count as
# system headers: their warnings are not ours.
ask = $(if $(shell pkg-config --exists $2 2>/dev/null && echo yes),\
	$(shell pkg-config $1 $2),$(error $2 not found: try "make deps"))
system = $(patsubst -I%,-isystem %,$1)
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(call system,$$(call ask,--cflags,$(PACKAGES))))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call ask,--libs,$(PACKAGES)))$(PKG_LIBS)
# What a program needs that has the static library in it.
STATIC_LIBS = $(if $(LATE),$(call ask,--libs,$(filter-out simgrid,$(PACKAGES))),$(PKG_LIBS) -lstdc++)
TEST_CFLAGS = $(eval TEST_CFLAGS := $$(call system,$$(call ask,--cflags,criterion)))$(TEST_CFLAGS)
TEST_LIBS = $(eval TEST_LIBS := $$(call ask,--libs,criterion))$(TEST_LIBS)
# What Criterion calls libgit2, if it needs it.
GIT2 = $(eval GIT2 := $$(shell objdump -p $$$$($(CC) -print-file-name=libcriterion.so) | \
	sed -n 's/.*NEEDED *\(libgit2.*\)/\1/p'))$(GIT2)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $1 $(or $2,$@))

# ---- what there is -----------------------------------------------------

LIB_DIRS := base core core/rpc check check/recorder check/watch coll model/library sim sim/engine sim/platform sim/explore sim/seat realbackend/wire realbackend/store realbackend/launch realbackend/agree realbackend/nccl realbackend/mpi realbackend/seat trace worlds ddp
LATE_SRC := sim/engine/late.c
LIB_SRC := $(filter-out $(LATE_SRC),$(wildcard $(addsuffix /*.c,$(LIB_DIRS))))
SHIM_SRC := $(wildcard sim/engine/*.cpp)
PMI_SRC := $(wildcard realbackend/mpi/pmi/*.c)
# The conformance table, which the command walks too.
CASES := tests/conformance/cases
SCENARIO_DIRS := scenarios scenarios/tutorial
CLI_DIRS := cli cli/sweep model/training model/measured model/cluster model/loopback model/llm model/validation
CLI_SRC := $(filter-out cli/lockstep.c,$(wildcard \
	$(addsuffix /*.c,$(CLI_DIRS) $(SCENARIO_DIRS) $(CASES))))
SUPPORT_SRC := $(wildcard tests/support/*.c)
DOUBLE_SRC := $(wildcard tests/support/nccl_double/*.c)
GIT2_SRC := $(wildcard tests/support/git2_double/*.c)
TSAN_SRC := $(wildcard tests/tsan/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
PROGRAM_SRC := $(wildcard tests/cli/*.c)
LABELLED_SRC := $(wildcard tests/programs/*.c)
SOAK_SRC := $(wildcard tests/soak/*.c)
BENCH_SRC := $(wildcard bench/*.c)
# Those that need the headers of another library.
PEER_SRC := bench/peers/mpi.c bench/peers/smpi.c bench/peers/ucc.c bench/peers/gloo.cpp
KINDS := $(filter-out support tsan fuzz cli programs soak,$(sort \
	$(patsubst tests/%/,%,$(dir $(wildcard tests/*/*.c)))))
TEST_SRC := $(foreach kind,$(KINDS),$(wildcard tests/$(kind)/*.c))
ALL_SRC := $(LIB_SRC) $(LATE_SRC) $(PMI_SRC) cli/lockstep.c $(CLI_SRC) $(SUPPORT_SRC) $(TSAN_SRC) $(FUZZ_SRC) \
	$(TEST_SRC) $(PROGRAM_SRC) $(LABELLED_SRC) $(SOAK_SRC) $(BENCH_SRC) $(addprefix bench/peers/,measure.c congestion.c) \
	$(DOUBLE_SRC) $(GIT2_SRC)
HEADERS := $(wildcard include/lockstep/*.h $(addsuffix /*.h,$(LIB_DIRS)) \
	$(addsuffix /*.h,$(SCENARIO_DIRS) $(CLI_DIRS)) tests/*/*.h \
	tests/*/*/*.h bench/*.h bench/peers/*.h)
PYTHON_SRC := $(wildcard $(addprefix python/,*.py */*.py */*/*.py) tests/torch/*.py)
SCRIPTS := .ci/run $(wildcard tools/*.sh tools/*.bash tests/cli/*.sh tests/fuzz/*.sh bench/*.sh plots/*.sh)

obj = $(patsubst %.cpp,$(BUILD)/%.o,$(patsubst %.c,$(BUILD)/%.o,$1))
SHIM_OBJ := $(call obj,$(SHIM_SRC))
# The thread sanitizer loses threads whose libraries came late: there SimGrid is
# linked.
LATE := $(if $(findstring thread,$(SANITIZE)),,$(call obj,$(LATE_SRC)))
LIB_OBJ := $(call obj,$(LIB_SRC)) $(or $(LATE),$(SHIM_OBJ))
LIB := $(BUILD)/liblockstep.a
LIB_SHARED := $(BUILD)/$(SONAME)
LIB_ENGINE := $(BUILD)/$(ENGINE)
LIB_PMI := $(BUILD)/$(PMI)
COMMAND_LIB := $(BUILD)/libcommand.a
SUPPORT_LIB := $(BUILD)/libsupport.a
COMMAND := $(BUILD)/lockstep
TESTS := $(KINDS:%=$(BUILD)/tests/%.test)
DOUBLES := $(addprefix $(BUILD)/doubles/,libcudart.so.13 libnccl.so.2 libnccl_old.so)
TSAN_TESTS := $(TSAN_SRC:%.c=$(BUILD)/%)
FUZZER := $(BUILD)/tests/fuzz/fuzz
LABELLED := $(BUILD)/tests/programs/programs
SOAK := $(BUILD)/tests/soak/soak
STARTED := $(PROGRAM_SRC:%.c=$(BUILD)/%) $(LABELLED) $(SOAK)
BENCHES := $(BENCH_SRC:bench/%.c=$(BUILD)/bench/%)
PEER_DIR := $(BUILD)/bench/peers
UCC_HOME ?= /usr
PEERS := $(if $(wildcard /usr/bin/mpicc.openmpi),$(PEER_DIR)/openmpi \
	$(if $(wildcard $(UCC_HOME)/include/ucc/api/ucc.h),$(PEER_DIR)/ucc)) \
	$(if $(wildcard /usr/bin/mpicc.mpich),$(PEER_DIR)/mpich) \
	$(if $(wildcard /usr/include/gloo/context.h),$(PEER_DIR)/gloo)

.DELETE_ON_ERROR:
# Not all files: a header that is gone would not be missed.
.SECONDARY: $(call obj,$(ALL_SRC) $(SHIM_SRC))
.SUFFIXES:
.DEFAULT_GOAL := all

# ---- building ----------------------------------------------------------

.PHONY: all
all: $(COMMAND) $(LIB) $(LIB_SHARED) $(LIB_ENGINE) $(LIB_PMI)

# Rewritten when the flags change, so that a change rebuilds.
FLAGS := $(filter-out ccache,$(CC) $(CXX)) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(LTO)
.PHONY: FORCE
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || \
	 printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@

# pthread_exit() passes through them.
$(BUILD)/sim/watch.o $(BUILD)/core/rpc/serve.o: CFLAGS += -fexceptions
$(BUILD)/core/reduce.o: CFLAGS += -O3 -fno-trapping-math
$(filter-out $(LATE),$(LIB_OBJ)): CFLAGS += $(LTO:%=% -ffat-lto-objects)
# GCC copies and clears a struct of some hundred bytes by an instruction that
# takes longer to begin than moves of 16 bytes take for all of it: what a short
# call goes through does without.
BLOCKS := vector_loop:2048:noalign,libcall:-1:noalign
STRUCTS := $(shell echo 'int a;' | $(CC) -xc -S -o /dev/null -mmemset-strategy=$(BLOCKS) - \
	2>/dev/null && echo -mmemset-strategy=$(BLOCKS) -mmemcpy-strategy=$(BLOCKS))
$(filter $(addprefix $(BUILD)/,core/% coll/% check/% realbackend/wire/%),$(LIB_OBJ)): \
	CFLAGS += $(STRUCTS)
$(COMMAND) $(LIB_SHARED): LINK_LTO := $(LTO)

# NCCL and CUDA are loaded at run time. Where their headers are installed, what
# we declare of them is compiled against them.
CUDA_HOME ?= /usr/local/cuda
CUDA_CFLAGS := $(if $(wildcard $(CUDA_HOME)/include/nccl.h),-isystem $(CUDA_HOME)/include)

# So with MPICH's, where Debian has it. Open MPI's constants are symbols.
MPICH_INCLUDE := $(firstword $(wildcard /usr/include/$(shell uname -m)-linux-gnu/mpich /usr/lib/$(shell uname -m)-linux-gnu/mpich/include))
MPICH_CFLAGS := $(if $(MPICH_INCLUDE),-isystem $(MPICH_INCLUDE))

# What sim/ calls of SimGrid and of the shim, and does not have itself.
$(BUILD)/sim/engine/names.h: $(filter $(BUILD)/sim/%,$(call obj,$(LIB_SRC)))
	@mkdir -p $(@D)
	$(Q)nm $^ | awk 'NF == 3 || $$2 == "dist__engine_open" { own[$$NF] } \
		$$1 == "U" && $$2 ~ /^(sg_|simgrid_|dist__engine_)/ { needs[$$2] } \
		END { for (name in needs) if (!(name in own)) \
			print "NAME(" name ")" }' | sort >$@

$(call obj,$(LATE_SRC)): $(BUILD)/sim/engine/names.h

# What only some sources need: Criterion, where the doubles of NCCL and CUDA
# are, the headers of these.
own_cflags = $(if $(filter tests/%,$(filter-out $(CASES)/%,$<)),$(TEST_CFLAGS) $(DOUBLE_PLACE)) \
	$(if $(filter %/nccl/header_check.c,$<),$(CUDA_CFLAGS)) \
	$(if $(filter %/mpi/header_check.c,$<),$(MPICH_CFLAGS)) \
	$(if $(filter $(LATE_SRC),$<),-I$(BUILD) -DENGINE='"$(ENGINE)"') \
	$(if $(filter $(GIT2_SRC),$<),-DGIT2='"$(shell $(CC) -print-file-name=$(or $(GIT2),libgit2.so))"') \
	$(if $(filter realbackend/mpi/begin.c,$<),-DPMI_LIBRARY='"$(PMI)"')
compile = $(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(own_cflags) $(CFLAGS) \
	-MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(compile)

$(BUILD)/%.o: %.cpp $(BUILD)/flags
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(PKG_CFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<

archive = rm -f $@ && ar qcs $@ $(filter %.o,$^)

$(LIB): $(LIB_OBJ)
	$(call say,AR)
	$(Q)$(archive)

$(COMMAND_LIB): $(call obj,$(CLI_SRC))
	$(call say,AR)
	$(Q)$(archive)

$(SUPPORT_LIB): $(call obj,$(SUPPORT_SRC))
	$(call say,AR)
	$(Q)$(archive)

# The C++ driver links, for the part of sim/ that is C++: the engine, with the
# thread sanitizer everything.
link = $(CXX) $(LDFLAGS) $(LINK_LTO) -o $@ $(filter %.o,$^) $(filter %.a,$^) $1 $(PKG_LIBS) -lm
share = $(CXX) $(LDFLAGS) $(LINK_LTO) -shared -Wl,-soname,$(@F) \
	$(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) -o $@ $(filter %.o,$^) $(PKG_LIBS) -lm

# What the others open when they simulate.
$(LIB_ENGINE): $(SHIM_OBJ)
	$(call say,LD)
	$(Q)$(share)

# What Open MPI loads where our launcher started the ranks.
$(call obj,$(PMI_SRC)): CFLAGS += -fvisibility=hidden -Wno-missing-prototypes
$(LIB_PMI): $(call obj,$(PMI_SRC))
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) $(LINK_LTO) -shared -Wl,-soname,$(@F) -o $@ $^

# A shared library shows the public functions only.
$(BUILD)/exports.map: $(BUILD)/flags
	@printf 'LOCKSTEP_0 {\n\tglobal: dist_[a-z]*;\n\tlocal: *;\n};\n' >$@

$(LIB_SHARED): LDFLAGS += -Wl,--version-script,$(BUILD)/exports.map
$(LIB_SHARED): $(LIB_OBJ) | $(BUILD)/exports.map
	$(call say,LD)
	$(Q)$(share)
	@ln -sf $(SONAME) $(BUILD)/liblockstep.so

$(COMMAND): $(BUILD)/cli/lockstep.o $(COMMAND_LIB) $(LIB) | $(LIB_ENGINE)
	$(call say,LD)
	$(Q)$(link)

# Criterion takes this for libgit2, for the test has it first by the same name.
LIGHT_GIT2 := $(BUILD)/doubles/libgit2.so
$(call obj,$(GIT2_SRC)): CFLAGS += -fvisibility=hidden -Wno-missing-prototypes
$(LIGHT_GIT2): $(call obj,$(GIT2_SRC))
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $(LINK_LTO) -shared -Wl,-soname,$(or $(GIT2),$(@F)) -o $@ $^ -ldl
	$(if $(GIT2),@ln -sf $(@F) $(@D)/$(GIT2))

$(TESTS): private LDFLAGS += -Wl,--no-as-needed $(LIGHT_GIT2) -Wl,--as-needed -Wl,-rpath,'$$ORIGIN/../doubles'

# One Criterion binary for each kind of test.
define test_binary
$(BUILD)/tests/$1.test: $(call obj,$(wildcard tests/$1/*.c)) $(SUPPORT_LIB) $(COMMAND_LIB) $(LIB) $(LIGHT_GIT2)
	$$(call say,LD)
	$$(Q)$$(call link,$$(TEST_LIBS))
endef
$(foreach kind,$(KINDS),$(eval $(call test_binary,$(kind))))

# Criterion does not survive the thread sanitizer; these, and those that run for
# as long as they are told, have their own main.
$(BUILD)/tests/tsan/rpc: $(call obj,$(filter-out %/run.c,$(wildcard tests/rpc/*.c)))
$(TSAN_TESTS): %: %.o $(SUPPORT_LIB) $(COMMAND_LIB) $(LIB)
	$(call say,LD)
	$(Q)$(call link,$(TEST_LIBS))

$(FUZZER): $(call obj,$(FUZZ_SRC)) $(SUPPORT_LIB) $(COMMAND_LIB) $(LIB)
	$(call say,LD)
	$(Q)$(call link,$(TEST_LIBS))

# Rank programs that the tests of the command start.
$(BUILD)/tests/cli/%: $(BUILD)/tests/cli/%.o $(LIB)
	$(call say,LD)
	$(Q)$(link)

# The switch of a test bed, and the arithmetic of its links.
$(BUILD)/tests/cli/switch: $(call obj,tests/cli/switch.c tests/support/switch_links.c) $(LIB)
	$(call say,LD)
	$(Q)$(link)

# One whose ranks other tests start without it.
$(BUILD)/tests/cli/misbehave: $(call obj,tests/cli/misbehave.c tests/support/misbehave.c) $(LIB)
	$(call say,LD)
	$(Q)$(link)

$(LABELLED): $(call obj,$(LABELLED_SRC)) $(LIB)
	$(call say,LD)
	$(Q)$(link)

# All-reduces under faults; no test framework, for the thread sanitizer's sake.
$(SOAK): $(call obj,$(SOAK_SRC)) $(SUPPORT_LIB) $(COMMAND_LIB) $(LIB)
	$(call say,LD)
	$(Q)$(call link,$(TEST_LIBS))

# What stands in for NCCL and the CUDA runtime where there is no GPU. The first
# finds the second where it lies itself.
double = $(CC) $(LDFLAGS) $(LINK_LTO) -shared -Wl,-soname,$(@F) -o $@ $(filter %.o,$^) \
	$(filter %.so.13,$^) -lm -Wl,-rpath,'$$ORIGIN'
double_obj = $(patsubst %,$(BUILD)/tests/support/nccl_double/%.o,$1)
$(call obj,$(DOUBLE_SRC)): CFLAGS += -fvisibility=hidden -Wno-missing-prototypes
$(BUILD)/doubles/libcudart.so.13: $(call double_obj,cudart)
$(BUILD)/doubles/libnccl_old.so: $(call double_obj,old)
$(BUILD)/doubles/libnccl.so.2: $(call double_obj,nccl exchange) \
	$(call obj,core/reduce.c base/dtype.c scenarios/element.c) $(BUILD)/doubles/libcudart.so.13
$(DOUBLES):
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(double)

# Who writes records can be left out there, call by call.
$(BUILD)/bench/records: LDFLAGS += $(addprefix -Wl$(comma)--wrap=,dist__fingerprint \
	dist__report_begin dist__report_again dist__report_end check_wait check_resume check_seen)

$(BUILD)/bench/%: $(BUILD)/bench/%.o $(COMMAND_LIB) $(LIB)
	$(call say,LD)
	$(Q)$(link)

# The peers that lockstep bench is held against, each by the compiler of its own
# library, as fast as that makes it: Gloo's reductions are templates.
peer_flags = $(CPPFLAGS) $(filter-out -O%,$1) -O3 -march=native
$(PEERS): bench/peers/peer.h
$(PEER_DIR)/openmpi $(PEER_DIR)/mpich: $(PEER_DIR)/%: bench/peers/mpi.c $(PEER_DIR)/measure.o
	$(call say,CC)
	$(Q)mpicc.$* $(call peer_flags,$(CFLAGS)) -o $@ $(filter-out %.h,$^)

# Open MPI starts its ranks.
$(PEER_DIR)/ucc: bench/peers/ucc.c $(PEER_DIR)/measure.o
	$(call say,CC)
	$(Q)mpicc.openmpi -isystem $(UCC_HOME)/include $(call peer_flags,$(CFLAGS)) -o $@ \
	 $(filter-out %.h,$^) -L$(UCC_HOME)/lib -lucc -Wl,-rpath,$(UCC_HOME)/lib

$(PEER_DIR)/congestion.so: $(PEER_DIR)/congestion.o
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) $(LINK_LTO) -shared -o $@ $<

$(PEER_DIR)/gloo: bench/peers/gloo.cpp $(PEER_DIR)/measure.o
	$(call say,CXX)
	$(Q)$(CXX) $(call peer_flags,$(CXXFLAGS)) -o $@ $(filter-out %.h,$^) -lgloo

.PHONY: tests-built tsan-built fuzzers-built
tests-built: $(TESTS) $(STARTED) $(COMMAND) $(DOUBLES) $(LIB_PMI)
tsan-built: $(TSAN_TESTS) $(SOAK) $(DOUBLES)
fuzzers-built: $(FUZZER) $(COMMAND)

-include $(patsubst %.o,%.d,$(call obj,$(ALL_SRC) $(SHIM_SRC)))

# ---- using -------------------------------------------------------------

# A second make with the same build, or with the one of another sanitizer.
parallel = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
again = $(MAKE) --no-print-directory $(parallel)
build_of = $(if $(filter command,$(firstword $(origin BUILD))),\
	$(BUILD)-$(call dash,$1),build/$(call variant,$1))
sanitized = $(again) SANITIZE=$1 BUILD=$(strip $(call build_of,$1))

.PHONY: deps deps-torch demo test test-sanitized demo-here test-here test-sanitized-here
deps:
	@tools/install-deps.sh build

# Only tests take it from there: LOCKSTEP_PYTHON=... names another.
deps-torch:
	@tools/deps-torch.sh build/torch

demo:
	@tools/install-deps.sh build
	+@$(again) demo-here

demo-here: all
	@tools/demo.sh $(COMMAND)

test:
	@tools/install-deps.sh build test
	+@$(again) test-here

test-sanitized:
	@tools/install-deps.sh build test
	+@$(again) test-sanitized-here

# Long ones start first, so that none is left over at the end; before all others
# those that have processors busy longest. What measures time is last, alone.
SHELL_TESTS := $(patsubst tests/cli/%.sh,%,$(sort $(wildcard tests/cli/*.sh)))
ALONE := calibrate validate_local
LONG := torch_group torch_roofline_sim programs peers torch_seat refuse sweep killed testbed bench \
	torch_model mpi_as_tcp torch_checks torch_examples mpi torch_launch \
	torch_roofline torch_rpc tutorial diagnose
BUSY := conformance unit mpi nccl
REST := $(filter-out $(ALONE) $(LONG) install,$(SHELL_TESTS))
scripts = $(1:%=shell:tests/cli/%.sh)
busy = $(BUSY:%=criterion:$1/tests/%.test)
kinds = $(patsubst %,criterion:$1/tests/%.test,$(filter-out $(BUSY),$(KINDS)))
test-here: all tests-built
	@tools/run-tests.sh $(COMMAND) \
	  $(call busy,$(BUILD)) $(call scripts,install $(LONG)) \
	  $(call kinds,$(BUILD)) $(call scripts,$(REST)) alone $(call scripts,$(ALONE))

# Not the installation, nor the scripts that measure by commands which have
# tests of their own; nor those whose many processes go the ways of others here:
# help, list and locale those of refuse.
PLAIN_ONLY := install calibrate peers validate_local help list locale mpi_as_tcp
kept = $(call scripts,$(filter-out $(PLAIN_ONLY),$1))
ASAN := address$(comma)undefined
ASAN_BUILD = $(strip $(call build_of,$(ASAN)))
TSAN_BUILD = $(strip $(call build_of,thread))
test-sanitized-here:
	+@$(call sanitized,$(ASAN)) tests-built fuzzers-built
	+@$(call sanitized,thread) tsan-built
	@SANITIZED=yes tools/run-tests.sh $(ASAN_BUILD)/lockstep \
	  $(call busy,$(ASAN_BUILD)) $(call kept,$(LONG)) \
	  shell:tests/fuzz/ci.sh $(TSAN_SRC:tests/tsan/%.c=thread:$(TSAN_BUILD)/tests/tsan/%) \
	  thread:$(TSAN_BUILD)/tests/soak/soak \
	  $(call kinds,$(ASAN_BUILD)) $(call kept,$(REST)) alone $(call kept,$(ALONE))

.PHONY: golden bench gpu bench-peers bench-peers-here kills programs soak plots docs validate validate-local fuzz fuzz-ci format
golden: tests-built
	@LOCKSTEP_GOLDEN=write $(BUILD)/tests/golden.test
	@git diff --stat -- tests/golden 2>/dev/null || true

bench: all $(BENCHES)
	@for b in $(BENCHES) $(wildcard bench/*.sh); do \
		echo "== $$b" && LOCKSTEP=$(COMMAND) $$b || \
		[ $$? -eq 77 ] || exit; done

# On this machine's GPUs: the tests that need one, and what NCCL takes.
gpu: all tests-built
	@$(BUILD)/tests/nccl.test --filter 'nccl_gpu/*'
	@LOCKSTEP=$(COMMAND) tests/cli/torch_gpu.sh || [ $$? -eq 77 ]
	@LOCKSTEP=$(COMMAND) bench/nccl.sh || [ $$? -eq 77 ]

# Ours and the peers' in turns; without one of them, the others.
bench-peers:
	@tools/install-deps.sh build
	@tools/install-deps.sh peers || echo "without the peers that are missing"
	+@$(again) bench-peers-here

bench-peers-here: all $(PEERS) $(PEER_DIR)/congestion.so
	@tools/peers.sh $(COMMAND) $(PEER_DIR) build/bench-peers

# The test of killed ranks, at greater length.
KILLS ?= 200
kills: all $(STARTED)
	@KILLS=$(KILLS) LOCKSTEP=$(COMMAND) bash tests/cli/killed.sh

# The test of programs drawn by lot, with more of them.
PROGRAMS ?= 1000
programs: tests-built
	@PROGRAMS=$(PROGRAMS) $(BUILD)/tests/property.test

# All-reduces under faults: at length, and a tenth of that under each sanitizer.
RUNS ?= 10000
FEWER_RUNS = $(shell expr $(RUNS) / 10 + 1)
soak: $(SOAK)
	+@$(call sanitized,$(ASAN)) $(ASAN_BUILD)/tests/soak/soak
	+@$(call sanitized,thread) $(TSAN_BUILD)/tests/soak/soak
	@RUNS=$(RUNS) SEED=$(SEED) $(SOAK)
	@RUNS=$(FEWER_RUNS) SEED=$(SEED) $(ASAN_BUILD)/tests/soak/soak
	@RUNS=$(FEWER_RUNS) SEED=$(SEED) $(TSAN_BUILD)/tests/soak/soak

plots: all
	@tools/plots.sh $(COMMAND) build/demo

# Predictions against what others measured; rewrites docs/validation.md and the
# table of accuracy.
validate: all
	@tools/validate.sh $(COMMAND) build/validation

# What commands print, and the pictures, in README and docs.
docs: all
	@tools/run-docs.sh $(COMMAND) --write README.md docs/*.md
	@tools/draw-docs.sh $(COMMAND)

# Predictions against what is measured here.
validate-local: all $(BUILD)/tests/cli/switch
	@tools/validate-local.sh $(COMMAND) build/validation-local

# The parsers, built with sanitizers.
fuzz:
	+@$(call sanitized,$(ASAN)) fuzzers-built
	@$(ASAN_BUILD)/tests/fuzz/fuzz all --seconds $${FUZZ_SECONDS:-60} \
	  --seed $${FUZZ_SEED:-$$$$}
	@tools/fuzz.sh $(ASAN_BUILD)/lockstep

# The same for ten seconds each, as test-sanitized does.
fuzz-ci:
	+@$(call sanitized,$(ASAN)) fuzzers-built
	@LOCKSTEP=$(ASAN_BUILD)/lockstep tests/fuzz/ci.sh

format:
	$(Q)clang-format -i $(ALL_SRC) $(SHIM_SRC) $(PEER_SRC) $(HEADERS)

# ---- checking ----------------------------------------------------------

CHECKS := format layers headers docs symbols size shell python tidy
.PHONY: check $(CHECKS:%=check-%)
check:
	@tools/install-deps.sh build check
	+@tools/check-all.sh "$(again)" $(CHECKS)

check-format:
	@clang-format --dry-run -Werror $(ALL_SRC) $(SHIM_SRC) $(PEER_SRC) $(HEADERS)
	@echo "check-format: every source is as clang-format leaves it"

LAYERED := $(LIB_OBJ) $(SHIM_OBJ) $(call obj,$(CLI_SRC) cli/lockstep.c)
check-layers: $(LAYERED)
	@tools/check-layers.sh $(BUILD) $(LAYERED)

check-headers:
	@tools/check-headers.sh "$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(TEST_CFLAGS)" \
	 "$(CFLAGS)" "$(CXX) $(CPPFLAGS)" $(HEADERS)

# LOCKSTEP names another command to check with.
check-docs: $(if $(LOCKSTEP),,all)
	@tools/check-docs.sh $(or $(LOCKSTEP),$(COMMAND))

# What thousands of simulated ranks share.
SHARED_SRC := $(wildcard $(addsuffix /*.c,base core coll model/library check trace ddp \
	$(SCENARIO_DIRS) $(CASES) $(filter-out cli,$(CLI_DIRS))))
check-symbols: $(LIB) $(call obj,$(SHARED_SRC))
	@tools/check-symbols.sh $(LIB) "$(call obj,$(SHARED_SRC))"

check-size:
	@tools/check-size.sh $(ALL_SRC) $(SHIM_SRC) $(PEER_SRC) $(HEADERS) $(PYTHON_SRC)

check-shell:
	@shellcheck -x $(SCRIPTS)
	@echo "check-shell: shellcheck has nothing to say"

check-python:
	@tools/check-python.sh $(VERSION)

# Sources that differ from BASE, and one that includes each header that does.
TIDY_SRC = $(filter $(if $(filter 1,$(ALL)),%,$(shell tools/changed.sh "$(BASE)")),$(ALL_SRC))
check-tidy: $(if $(filter check-tidy,$(MAKECMDGOALS)),$(patsubst %.c,$(BUILD)/tidy/%.ok,$(TIDY_SRC)))
	@echo "check-tidy: clang-tidy has nothing to say of $(words $(TIDY_SRC)) sources"

# After the object, which knows the headers: a change there looks again.
$(BUILD)/tidy/%.ok: %.c .clang-tidy tests/.clang-tidy $(BUILD)/%.o
	@mkdir -p $(@D)
	@tools/check-tidy.sh $< -std=c17 $(CPPFLAGS) $(PKG_CFLAGS) $(own_cflags)
	@touch $@

# ---- installing --------------------------------------------------------

D = $(DESTDIR)$(PREFIX)
# Where the system does not look for libraries, programs are told.
RPATH = $(if $(filter /usr /usr/local,$(PREFIX)),,-Wl$(comma)-rpath$(comma)$${libdir})

DATA_KINDS := models platforms profiles machines studies \
	$(addprefix measured/,collectives collectives-unseen steps parts hardware llm llm-recipes)

COMPLETIONS := bash-completion/completions zsh/site-functions fish/vendor_completions.d

# What is optimized as a whole is for this compiler alone; others get objects,
# in which our jumps to SimGrid are not called as its functions, that a program
# may call itself.
.PHONY: install uninstall
install: all
	install -d $(D)/bin $(D)/lib/pkgconfig $(D)/include/lockstep \
	 $(D)/share/man/man1 $(COMPLETIONS:%=$(D)/share/%) \
	 $(D)/share/lockstep/plots
	install -m 755 $(COMMAND) $(D)/bin/lockstep
	$(if $(LATE),sed -n 's/^NAME(\(s.*\))$$/\1 dist__late_\1/p' \
	 $(BUILD)/sim/engine/names.h,:) >$(BUILD)/renames
	objcopy --wildcard --remove-section='.gnu.*lto_*' \
	 --redefine-syms=$(BUILD)/renames $(LIB) $(D)/lib/liblockstep.a
	chmod 644 $(D)/lib/liblockstep.a
	install -m 755 $(LIB_SHARED) $(LIB_ENGINE) $(LIB_PMI) $(D)/lib/
	ln -sf $(SONAME) $(D)/lib/liblockstep.so
	install -m 644 $(wildcard include/lockstep/*.h) $(D)/include/lockstep/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	 -e 's|@RPATH@|$(RPATH)|' -e 's|@PRIVATE@|$(STATIC_LIBS)|' \
	 tools/lockstep.pc.in >$(D)/lib/pkgconfig/lockstep.pc
	tools/manual.sh $(COMMAND) $(VERSION) $(D)/share/man/man1
	install -m 644 tools/completion/lockstep.bash \
	 $(D)/share/bash-completion/completions/lockstep
	install -m 644 tools/completion/_lockstep $(D)/share/zsh/site-functions/
	install -m 644 tools/completion/lockstep.fish \
	 $(D)/share/fish/vendor_completions.d/
	$(foreach kind,$(DATA_KINDS),install -d \
	 $(D)/share/lockstep/$(kind) && install -m 644 \
	 scenarios/$(kind)/* $(D)/share/lockstep/$(kind)/ &&) true
	install -m 644 $(wildcard plots/*) $(D)/share/lockstep/plots/
	cd python && find sitecustomize.py lockstep -name '*.py' -o -name '*.tsv' | \
	 while read -r file; do install -D -m 644 "$$file" \
	 "$(if $(filter /%,$D),,$(CURDIR)/)$(D)/share/lockstep/python/$$file" || exit; done
	@test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true

uninstall:
	rm -f $(D)/bin/lockstep $(D)/lib/liblockstep.a $(D)/lib/$(SONAME) $(D)/lib/$(ENGINE) $(D)/lib/$(PMI) \
	 $(D)/lib/liblockstep.so $(D)/lib/pkgconfig/lockstep.pc \
	 $(D)/share/man/man1/lockstep*.1 \
	 $(COMPLETIONS:%=$(D)/share/%/*lockstep*)
	rm -rf $(D)/include/lockstep $(D)/share/lockstep

# In a copy of the tree, below build/.
.PHONY: deb
deb:
	@tools/install-deps.sh build deb
	@tools/deb.sh $(VERSION) build/deb

.PHONY: clean help
clean:
	rm -rf build

help:
	@sed -n 's/^#? \{0,1\}//p' Makefile

#? make [TARGET] [KNOB=...]
#?
#?   all        the library and the lockstep command (the default)
#?   demo       install what is missing, build, show the main job done
#?   test       install what is missing, build, run every test; SUITE=unit,
#?              unit/verdict, cli, launch, ... one kind, suite or script;
#?              LANES=4 so many side by side
#?   test-sanitized  the same under the sanitizers of addresses and undefined
#?              behaviour, and the programs of the thread sanitizer
#?   check      format, layers, headers, docs, symbols, size, shell, python, tidy;
#?              each alone as check-format, check-layers, ...; tidy looks
#?              at what changed since BASE=COMMIT (where the branch left main,
#?              else the commit before), at everything with ALL=1
#?   golden     rewrite the golden predictions; review the diff
#?   bench      speed and memory figures
#?   bench-peers  Gloo, Open MPI, MPICH, UCC and ours in turns; UCC_HOME=/usr,
#?              PEERS_CONGESTION=ours|system (what peers have over TCP),
#?              PEERS_WORLDS="2 4", PEERS_SIZES=..., PEERS_ROUNDS=5,
#?              PEERS_COLLECTIVES=all_reduce, PEERS_TRANSPORTS="tcp shm",
#?              PEERS_SECONDS=4 (for a peer's iterations), PEERS_LIMIT=30
#?              (seconds a run); table, TSV and figures to build/bench-peers
#?   kills      kill a rank at a random moment, KILLS=200 times
#?   programs   draw PROGRAMS=1000 programs, right and wrong, hold the verdicts
#?              on them against what must come of them
#?   soak       RUNS=10000 worlds make all-reduces while faults are done to a
#?              rank; RUNS=1 SEED=N runs case N again
#?   plots      draw the plots of the last demo again
#?   docs       rewrite what README and docs show of commands, and their
#?              pictures; review the diff
#?   validate   compare predictions with published measurements; rewrites
#?              docs/validation.md and the table of accuracy in README, draws
#?              to build/validation
#?   validate-local  predict what this machine's loopback and a test bed do
#?              (root), measure it, tell the errors; to build/validation-local
#?   fuzz       feed the parsers with mutated input for a while
#?   fuzz-ci    the same for 10 s each, as CI does
#?   format     rewrite the sources by clang-format
#?   deps       install the Debian packages that are missing
#?   deps-torch PyTorch into build/torch by pip, for the tests that need it;
#?              PYTHON=python3.12 by another interpreter
#?   install    command, library, headers, data into DESTDIR/PREFIX
#?   uninstall  remove what install put there
#?   deb        a package for the Debian or Ubuntu that this is, in build/deb
#?   clean      remove build/
#?
#?   DEVELOPER=1                  warnings are errors
#?   SANITIZE=address,undefined   or SANITIZE=thread
#?   CUDA_HOME=/usr/local/cuda    headers to hold our declarations against
#?   V=1                          show the commands
#?   PREFIX=/usr/local DESTDIR=   where install puts things
#?   BUILD=build/<variant>        where objects go
