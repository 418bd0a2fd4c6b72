#include "record/half.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

/* libbpf's first warning is why. */
static _Thread_local char why[256];
static libbpf_print_fn_t before;

__attribute__((format(printf, 2, 0))) static int keep_warning(enum libbpf_print_level level,
							      const char *format, va_list arguments)
{
	char line[1024];

	if (level != LIBBPF_WARN || why[0])
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	snprintf(why, sizeof(why), "%.250s", strncmp(line, "libbpf: ", 8) == 0 ? line + 8 : line);
	return 0;
}

bool half_possible(const char *what, struct error *error)
{
	if (geteuid() != 0)
		return error_failed(error, "%s needs root", what);
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return error_failed(error, "this kernel does not describe its types (no BTF: "
					   "/sys/kernel/btf/vmlinux)");
	return true;
}

void half_listen(void)
{
	why[0] = '\0';
	before = libbpf_set_print(keep_warning);
}

void half_listen_no_more(void)
{
	libbpf_set_print(before);
}

const char *half_why(void)
{
	return why;
}

const char *half_tracepoint(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);

	assert(strncmp(section, "tp_btf/", 7) == 0);
	return section + 7;
}

int half_arguments(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *type;
	char name[96];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id <= 0)
		return -1;
	type = btf__type_by_id(btf, (uint32_t)id);
	type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_ptr(type))
		return -1;
	type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) ? btf_vlen(type) - 1 : -1;
}

uint64_t half_skipped(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0)
		return 0;
	return info.recursion_misses;
}
