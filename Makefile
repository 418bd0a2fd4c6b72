# refault: build, check, install (GNU make)
#
#   make                 build/refault, build/refault-static, build/librefault.a, build/librefault.so, man pages, bash completion
#   make check           every test; the last line is the sum: "N passed, N failed"
#   make CHECK=1 check   the same under ASan and UBSan, with the invariant walks (clang, unless CC says another; build/check)
#   make TSAN=1 check    the same under the thread sanitizer (build/tsan)
#   make fuzz            each fuzz target for FUZZ_SECONDS (clang; build/fuzz)
#   make tidy            the code held to the drawing: floors, shelves, the core's imports, headers, format
#   make format          let clang-format settle it
#   make bench           build and run everything in bench/
#   make install         PREFIX=/usr/local DESTDIR=      (and make uninstall)
#
# Sources are found by wildcard: a new file costs no line here. Objects, tests and everything else built live under build/.

VERSION := 0.1.0
SONAME  := librefault.so.0

PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 20
# How many tests or fuzz targets run side by side.
JOBS         ?= 2

ifeq ($(origin CC),default)
CC := $(if $(CHECK)$(FUZZ),clang,gcc)
endif
OBJCOPY    ?= objcopy
PKG_CONFIG ?= pkg-config

# Which flavour: each has its own folder, so that they never mix. Fuzzing asks for counters, which slow threads down fivefold.
CHECKS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DREFAULT_CHECK=1
ifdef CHECK
BUILD ?= build/check
FLAVOUR := -O1 $(CHECKS)
else ifdef FUZZ
BUILD ?= build/fuzz
FLAVOUR := -O1 -fsanitize=fuzzer-no-link $(CHECKS)
else ifdef TSAN
BUILD ?= build/tsan
FLAVOUR := -O1 -fsanitize=thread -fno-omit-frame-pointer
else
BUILD ?= build
FLAVOUR := -O2
endif

# For what draws on a terminal: the program alone.
TERMINAL := ncursesw
PACKAGES := libzstd zlib liblzma libxxhash jansson libfyaml libbpf libelf sqlite3
ifneq ($(filter-out clean format uninstall,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell $(PKG_CONFIG) --exists $(PACKAGES) $(TERMINAL) 2>/dev/null && echo yes),yes)
$(error A library or pkg-config is missing ($(PACKAGES) $(TERMINAL)): script/bootstrap installs them)
endif
endif
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
# bzip2 tells pkg-config nothing on Debian.
PACKAGE_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lbz2 -lm
STATIC_LIBS    := $(shell $(PKG_CONFIG) --static --libs $(PACKAGES) 2>/dev/null) -lbz2 -lm
TERMINAL_LIBS        := $(shell $(PKG_CONFIG) --libs $(TERMINAL) 2>/dev/null)
TERMINAL_STATIC_LIBS := $(shell $(PKG_CONFIG) --static --libs $(TERMINAL) 2>/dev/null)

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 \
	    -Wimplicit-fallthrough
# WERROR=1: what script/test asks for.
ifdef WERROR
WARNINGS += -Werror
endif

REFAULT_CFLAGS := -std=gnu17 -g $(FLAVOUR) $(WARNINGS) -fno-common -ffp-contract=off -fvisibility=hidden -fPIC -pthread \
		  -D_GNU_SOURCE -Isrc -Iinclude $(PACKAGE_CFLAGS)
ALL_CFLAGS  = $(REFAULT_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(FLAVOUR) -pthread $(LDFLAGS)
# Tests, benches and fuzz targets compare and convert all day; what matters there is that they read well.
TEST_CFLAGS = $(ALL_CFLAGS) -Wno-conversion -Wno-sign-conversion -Wno-missing-prototypes -Itest

# V=1 shows the commands themselves.
ifdef V
say :=
else
.SILENT:
say = @printf '  %-5s %s\n' $(1) $(2)
endif

OBJ := $(BUILD)/obj

SOURCES := $(shell find src -name '*.c' ! -name '*.bpf.c' | LC_ALL=C sort)
OBJECTS := $(SOURCES:%.c=$(OBJ)/%.o)
MAIN    := $(OBJ)/src/cli/main.o

# librefault is the core: what is in these rooms, and nothing that needs another library.
LIBRARY_ROOMS   := base cache library
LIBRARY_OBJECTS := $(filter $(LIBRARY_ROOMS:%=$(OBJ)/src/%/%),$(OBJECTS))

PROGRAM := $(BUILD)/refault
ROOMS   := $(OBJ)/rooms.a

# What runs inside a guest (--guest), where there are no libraries. Sanitizers cannot be linked in that way: no such flavour.
PROGRAM_STATIC := $(if $(CHECK)$(TSAN)$(FUZZ),,$(BUILD)/refault-static)

all: $(PROGRAM) $(PROGRAM_STATIC) $(BUILD)/librefault.a $(BUILD)/librefault.so $(BUILD)/man/refault.1 $(BUILD)/completion/refault

# Rebuilt when the compiler or a flag changes.
FLAGS_NOW := $(CC) | $(ALL_CFLAGS) | $(LDFLAGS) | $(VERSION)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS_NOW)' | cmp -s - $@ || printf '%s\n' '$(FLAGS_NOW)' > $@

$(OBJ)/src/cli/%.o: src/cli/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(ALL_CFLAGS) -DREFAULT_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

# Where installed scenarios, devices and their manuals are looked for: only this file is compiled anew for another PREFIX.
$(BUILD)/prefix: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(PREFIX)' | cmp -s - $@ || printf '%s\n' '$(PREFIX)' > $@

$(OBJ)/src/source/shipped.o: src/source/shipped.c $(BUILD)/flags $(BUILD)/prefix
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(ALL_CFLAGS) -DREFAULT_SHAREDIR='"$(PREFIX)/share"' -MMD -MP -c -o $@ $<

$(OBJ)/src/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# What runs in the kernel: clang's, whatever CC is, and never with a sanitizer. The user half takes the object in.
BPF_CLANG  ?= clang
BPF_CFLAGS := -target bpf -mcpu=v3 -ffreestanding -O2 -g -Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) -Isrc \
	      -idirafter /usr/include/$(shell uname -m)-linux-gnu

$(OBJ)/src/%.bpf.o: src/%.bpf.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(BPF_CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

# NAME.bpf.c is taken in by the NAME.c beside it.
BPF_SOURCES := $(shell find src -name '*.bpf.c' | LC_ALL=C sort)

$(BPF_SOURCES:%.bpf.c=$(OBJ)/%.o): $(OBJ)/%.o: %.c $(OBJ)/%.bpf.o $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(ALL_CFLAGS) -DBPF_OBJECT='"$(@:.o=.bpf.o)"' -MMD -MP -c -o $@ $<

# The script that it takes in as it is.
$(OBJ)/src/machine/kernel/guest_init.o: src/machine/kernel/guest_init.sh
# What every report holds.
$(OBJ)/src/report/asset.o: $(wildcard src/report/asset/*)

# The list of members: when a file goes, its object must leave the archive.
$(OBJ)/members: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(OBJECTS) | cmp -s - $@ || printf '%s\n' $(OBJECTS) > $@

# All rooms but main(): what the program, tests, benches and fuzz targets link.
$(ROOMS): $(filter-out $(MAIN),$(OBJECTS)) $(OBJ)/members
	$(call say,AR,$@)
	@rm -f $@
	ar crs $@ $(filter %.o,$^)

$(PROGRAM): $(MAIN) $(ROOMS)
	$(call say,LINK,$@)
	$(CC) $(ALL_LDFLAGS) -o $@ $(MAIN) $(ROOMS) $(TERMINAL_LIBS) $(PACKAGE_LIBS)
ifeq ($(filter $(CURDIR)/%,$(abspath $(BUILD))),)
	@ln -sfn $(CURDIR)/scenarios $(BUILD)/scenarios     # a build elsewhere finds them beside itself
	@ln -sfn $(CURDIR)/devices $(BUILD)/devices
	@ln -sfn $(CURDIR)/docs $(BUILD)/docs
endif

# SQLite could load extensions, which it only does when it is told to: without it the linker has no warning about dlopen().
$(BUILD)/refault-static: $(MAIN) $(ROOMS)
	$(call say,LINK,$@)
	$(CC) $(ALL_LDFLAGS) -static -Wl,--wrap=dlopen,--defsym=__wrap_dlopen=0 -o $@ $(MAIN) $(ROOMS) $(TERMINAL_STATIC_LIBS) $(STATIC_LIBS)

# One object in which only refault_* is to be seen from outside, so that a static link cannot clash either.
$(BUILD)/librefault.a: $(LIBRARY_OBJECTS) $(OBJ)/members
	$(call say,AR,$@)
	@rm -f $@
	$(CC) -r -nostdlib -o $(OBJ)/librefault.o $(LIBRARY_OBJECTS)
	$(OBJCOPY) --localize-hidden $(OBJ)/librefault.o
	ar crs $@ $(OBJ)/librefault.o

$(BUILD)/librefault.so: $(LIBRARY_OBJECTS) $(OBJ)/members
	@printf '%s\n' '{ global: refault_*; local: *; };' > $(OBJ)/librefault.map
	$(call say,LINK,$@)
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,$(OBJ)/librefault.map -o $@ $(LIBRARY_OBJECTS)
	@ln -sf librefault.so $(BUILD)/$(SONAME)

# Man pages and the completion come out of the program's own tables of options: one source for all that is said about them.
$(BUILD)/man/refault.1: $(PROGRAM)
	$(call say,MAN,$(@D))
	@rm -rf $(@D) && mkdir -p $(@D)
	@for command in $$($(PROGRAM) help --commands); do \
		$(PROGRAM) help --man $$command > $(@D)/refault-$$command.1 || exit 1; done
	@$(PROGRAM) help --man > $@.new && mv $@.new $@

$(BUILD)/completion/refault: $(PROGRAM)
	@mkdir -p $(@D)
	@$(PROGRAM) help --bash > $@.new && mv $@.new $@

# ---- tests: test/ROOM/test_*.c is a binary each, the other files of its folder (not fuzz_*.c) are linked into each of them ----

TEST_SOURCES  := $(sort $(wildcard test/*/test_*.c))
TEST_PROGRAMS := $(TEST_SOURCES:%.c=$(BUILD)/%)
TEST_SHELL    := $(sort $(wildcard test/*.sh test/*/*.sh test/*/*/*.sh))
TEST_OBJECTS  := $(patsubst %.c,$(OBJ)/%.o,$(wildcard test/*/*.c))
test_helpers   = $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(dir $(1))test_% $(dir $(1))fuzz_%,$(wildcard $(dir $(1))*.c)))

$(OBJ)/test/%.o: test/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

.SECONDEXPANSION:
$(TEST_PROGRAMS): $(BUILD)/test/%: $(OBJ)/test/%.o $$(call test_helpers,test/%.c) $(ROOMS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(ROOMS) $(PACKAGE_LIBS) -lcmocka

tests: $(TEST_PROGRAMS)

check: all $(TEST_PROGRAMS) $(BUILD)/bench/accuracy
	@REFAULT=$(abspath $(PROGRAM)) REFAULT_BUILD=$(abspath $(BUILD)) REFAULT_CC='$(CC)' JOBS=$(JOBS) \
		REFAULT_FLAVOUR=$(if $(CHECK),check,$(if $(TSAN),tsan,plain)) \
		script/check $(BUILD)/log $(TEST_SHELL) $(TEST_PROGRAMS)     # those that take long first

# ---- fuzzing: test/fuzz/fuzz_NAME.c, corpus in test/fuzz/corpus/NAME/ ----

FUZZ_SOURCES := $(sort $(wildcard test/fuzz/fuzz_*.c))

# What reads bytes of others, and what tells of them: no more is built.
FUZZ_OBJECTS := $(filter $(foreach room,base op cache source measure state report,$(OBJ)/src/$(room)/%),$(OBJECTS))

ifdef FUZZ
FUZZ_PROGRAMS := $(FUZZ_SOURCES:%.c=$(BUILD)/%)
$(FUZZ_PROGRAMS): $(BUILD)/test/%: $(OBJ)/test/%.o $(FUZZ_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(PACKAGE_LIBS)

fuzz-build: $(FUZZ_PROGRAMS)

fuzz: $(FUZZ_PROGRAMS)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) script/fuzz $(BUILD)/log $(FUZZ_PROGRAMS)
else
fuzz fuzz-build:
	@$(MAKE) --no-print-directory FUZZ=1 $@
endif

# ---- tidy, format, bench ----

C_FILES := $(shell find src include test bench examples -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)

tidy: $(OBJECTS)
	@CC='$(CC)' CFLAGS_ALONE='$(ALL_CFLAGS)' OBJ=$(OBJ) script/tidy $(C_FILES)

format:
	clang-format -i $(C_FILES)

BENCH_SOURCES  := $(sort $(wildcard bench/*.c))
BENCH_PROGRAMS := $(BENCH_SOURCES:%.c=$(BUILD)/%)

$(OBJ)/bench/%.o: bench/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(CC) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(BENCH_PROGRAMS): $(BUILD)/%: $(OBJ)/%.o $(ROOMS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(CC) $(ALL_LDFLAGS) -o $@ $< $(ROOMS) $(PACKAGE_LIBS)

benches: $(BENCH_PROGRAMS)

bench: $(PROGRAM) $(BENCH_PROGRAMS)
	@for bench in $(BENCH_PROGRAMS); do echo "== $$bench"; $$bench || exit 1; done

# ---- install ----

bindir  := $(DESTDIR)$(PREFIX)/bin
libdir  := $(DESTDIR)$(PREFIX)/lib
incdir  := $(DESTDIR)$(PREFIX)/include
datadir := $(DESTDIR)$(PREFIX)/share/refault
docdir  := $(DESTDIR)$(PREFIX)/share/doc/refault
mandir  := $(DESTDIR)$(PREFIX)/share/man/man1
bashdir := $(DESTDIR)$(PREFIX)/share/bash-completion/completions

# As root, on the machine itself: then the loader must hear of the library (and of its going).
tell_loader = if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

install: all
	$(call say,INST,$(DESTDIR)$(PREFIX))
	install -d $(bindir) $(libdir)/pkgconfig $(incdir) $(mandir) $(bashdir)
	install -m 755 $(PROGRAM) $(bindir)/refault
	$(if $(PROGRAM_STATIC),install -d $(libdir)/refault && install -m 755 $(PROGRAM_STATIC) $(libdir)/refault/refault-static)
	install -m 644 $(BUILD)/librefault.a $(libdir)/librefault.a
	install -m 755 $(BUILD)/librefault.so $(libdir)/librefault.so.$(VERSION)
	ln -sf librefault.so.$(VERSION) $(libdir)/$(SONAME)
	ln -sf $(SONAME) $(libdir)/librefault.so
	for header in $(wildcard include/*.h); do install -m 644 $$header $(incdir)/ || exit 1; done
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' refault.pc.in > $(libdir)/pkgconfig/refault.pc
	install -d $(datadir)/scenarios $(dir $(addprefix $(datadir)/,$(wildcard scenarios/*/*.yaml)))
	for scenario in $(wildcard scenarios/*.yaml scenarios/*/*.yaml); do \
		install -m 644 $$scenario $(datadir)/$$scenario || exit 1; done
	install -d $(datadir)/devices
	for device in $(wildcard devices/*.yaml); do install -m 644 $$device $(datadir)/$$device || exit 1; done
	install -d $(docdir)
	install -m 644 $(wildcard docs/*.md) $(docdir)/
	install -m 644 $(BUILD)/man/*.1 $(mandir)/
	install -m 644 $(BUILD)/completion/refault $(bashdir)/refault
	@$(tell_loader)

uninstall:
	$(call say,UNINST,$(DESTDIR)$(PREFIX))
	rm -f $(bindir)/refault $(libdir)/librefault.a $(libdir)/librefault.so* $(libdir)/pkgconfig/refault.pc
	rm -f $(addprefix $(incdir)/,$(notdir $(wildcard include/*.h)))
	rm -rf $(datadir) $(docdir) $(libdir)/refault
	rm -f $(mandir)/refault.1 $(mandir)/refault-*.1 $(bashdir)/refault
	@$(tell_loader)

clean:
	rm -rf build

FORCE:

.PHONY: all tests check fuzz fuzz-build tidy format benches bench install uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

-include $(OBJECTS:.o=.d) $(BPF_SOURCES:%.c=$(OBJ)/%.d) $(TEST_OBJECTS:.o=.d) $(BENCH_SOURCES:%.c=$(OBJ)/%.d)
