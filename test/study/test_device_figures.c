/*
 * If this fails, a device that ships does not do what its maker, a review or a measurement says of it, or docs/devices.md shows other figures
 * than the model has. To write its table anew: REFAULT_PRINT_FIGURES=1 build/test/study/test_device_figures
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/size.h"
#include "machine/model/device.h"
#include "study/device_trial.h"

/*
 * What section E of the design notes says, as ranges: times in ns. 0 and 0: nothing is said. Reads and writes "many" are requests a second,
 * streams MB/s.
 */
struct published {
	const char *name;
	uint64_t read[2], read_8k[2], read_p99[2], reads[2], writes[2], stream_read[2],
		stream_write[2], stream_write_long[2], sync[2];
};

#define US(x) ((uint64_t)((x)*1000))
#define MS(x) ((uint64_t)((x)*1000000))

static const struct published all[] = {
	{"optane-900p",
	 {US(8.8), US(9.0)},
	 {US(10.9), US(11.1)},
	 {US(9.5), US(10.5)},
	 {540000, 560000},
	 {424000, 500000},
	 {2480, 2520},
	 {1980, 2020},
	 {1980, 2020},
	 {US(10),
	  US(30)}}, /* fdatasync in 30 us: the system call and the kernel's part are not the device's */
	{"nvme-p3700",
	 {US(77), US(79)},
	 {US(84), US(86)},
	 {US(95), US(97)},
	 {165000, 169000},
	 {170000, 180000},
	 {2780, 2820},
	 {1880, 1920},
	 {1880, 1920},
	 {US(18), US(27)}},
	{"sata-ssd",
	 {US(99), US(101)},
	 {US(114), US(116)},
	 {0, 0},
	 {97000, 99000},
	 {88000, 90000},
	 {535, 545},
	 {515, 525},
	 {295, 305},
	 {US(600), US(700)}},
	{"nvme-tlc-consumer",
	 {US(45), US(55)},
	 {US(50), US(60)},
	 {0, 0},
	 {1000000, 1400000},
	 {1000000, 1500000},
	 {6900, 7100},
	 {5000, 6900},
	 {0, 0},
	 {US(1500), US(1700)}},
	{"nvme-tlc",
	 {US(75), US(90)},
	 {US(85), US(100)},
	 {0, 0},
	 {980000, 1020000},
	 {175000, 185000},
	 {6700, 6900},
	 {3900, 4100},
	 {3900, 4100},
	 {US(11.9), US(58)}},
	{"hdd-7200",
	 {MS(12.0), MS(14)},
	 {MS(12.0), MS(14)},
	 {0, 0},
	 {140, 200}, /* "NCQ 140 - 180" */
	 {0, 0},
	 {204, 212},
	 {204, 225}, /* the first of it go into the cache */
	 {204, 212},
	 {MS(8), MS(12)}},
	{"hdd-5400",
	 {MS(17.2), MS(17.8)},
	 {MS(17.2), MS(17.8)},
	 {0, 0},
	 {78, 95}, /* "NCQ about 90" */
	 {0, 0},
	 {143, 149},
	 {143, 150},
	 {143, 149},
	 {MS(11), MS(18)}},
	{"raid0-3x7200",
	 {MS(12.0), MS(14)},
	 {MS(12.0), MS(14)},
	 {0, 0},
	 {420, 480},
	 {0, 0},
	 {590, 640},
	 {590, 800}, /* three caches */
	 {590, 640},
	 {MS(8), MS(12)}},
	{"gp3",
	 {US(690), US(715)},
	 {US(690), US(715)},
	 {US(1200), US(2000)},
	 {2990, 3010},
	 {2990, 3010},
	 {130, 132},
	 {130, 132},
	 {130, 132},
	 {US(790), US(815)}},
};

enum { COUNT = sizeof(all) / sizeof(all[0]) };

static struct device_figures figures[COUNT];

static int measure_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		struct error error;
		struct device_profile *profile = device_profile_load(all[i].name, &error);

		if (!profile) {
			fprintf(stderr, "%s: %s\n", all[i].name, error.message);
			return 1;
		}
		device_figures(&figures[i], profile);
		device_profile_free(profile);
	}
	return 0;
}

static void within(const char *name, const char *what, uint64_t value, const uint64_t range[2])
{
	if (range[1] && (value < range[0] || value > range[1]))
		fail_msg("%s, %s: %" PRIu64 " is not within %" PRIu64 " .. %" PRIu64, name, what,
			 value, range[0], range[1]);
}

static void devices_do_what_is_published_of_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		const struct device_figures *f = &figures[i];
		const struct published *p = &all[i];

		within(p->name, "random read of 4 KiB", f->read.mean_ns, p->read);
		within(p->name, "random read of 8 KiB", f->read_8k.mean_ns, p->read_8k);
		within(p->name, "99 % of them", f->read.p99_ns, p->read_p99);
		within(p->name, "many reads", f->reads.per_s, p->reads);
		within(p->name, "many writes", f->writes.per_s, p->writes);
		within(p->name, "reads in a row", f->stream_read.bytes_per_s / 1000000,
		       p->stream_read);
		within(p->name, "writes in a row", f->stream_write.bytes_per_s / 1000000,
		       p->stream_write);
		within(p->name, "after 16 GiB", f->stream_write_long.bytes_per_s / 1000000,
		       p->stream_write_long);
		within(p->name, "fdatasync of 8 KiB", f->sync.mean_ns, p->sync);
	}
}

static const struct device_figures *figures_of(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(all[i].name, name) == 0)
			return &figures[i];
	}
	fail_msg("no figures of %s", name);
	return NULL;
}

/*
 * Freund's SSD: a read that was saved saved 2.4 ms, beside about 100 MB/s of writes; an idle one takes a twentieth of that.
 */
static void reads_of_a_sata_ssd_wait_milliseconds_behind_writes(void **state)
{
	const struct device_figures *f = figures_of("sata-ssd");

	(void)state;
	assert_in_range(f->read_beside.mean_ns, MS(2), MS(3));
	assert_in_range(f->read_alone.mean_ns, US(110), US(120));
	/* Most meet nobody: those that do wait very long. */
	assert_in_range(f->read_beside.median_ns, US(110), US(150));
	assert_true(f->read_beside.p99_ns > MS(10));
}

static void reads_of_the_others_do_not(void **state)
{
	(void)state;
	assert_in_range(figures_of("optane-900p")->read_beside.mean_ns, US(10), US(12));
	assert_in_range(figures_of("nvme-tlc")->read_beside.mean_ns, US(85), US(130));
}

/* One read in 100,000. */
static void tails_are_those_of_the_review(void **state)
{
	(void)state;
	assert_in_range(figures_of("optane-900p")->read.p99999_ns, US(30), US(45));
	assert_in_range(figures_of("nvme-p3700")->read.p99999_ns, MS(2), MS(3.6));
}

/* ---- the documentation ---- */

static void cell_time(char *row, uint64_t ns)
{
	char text[SIZE_TEXT_BYTES];

	sprintf(row + strlen(row), " %s |", time_format(text, ns));
}

static void cell_count(char *row, uint64_t count)
{
	char text[2 * SIZE_TEXT_BYTES];

	sprintf(row + strlen(row), " %s |", count_format(text, count));
}

static void row_format(char row[400], const char *name, const struct device_figures *f)
{
	sprintf(row, "| `%s` |", name);
	cell_time(row, f->read.mean_ns);
	cell_time(row, f->read.p99_ns);
	cell_time(row, f->read_8k.mean_ns);
	cell_count(row, f->reads.per_s);
	cell_count(row, f->writes.per_s);
	cell_count(row, f->stream_read.bytes_per_s / 1000000);
	cell_count(row, f->stream_write.bytes_per_s / 1000000);
	cell_count(row, f->stream_write_long.bytes_per_s / 1000000);
	cell_time(row, f->sync.mean_ns);
	cell_time(row, f->read_alone.mean_ns);
	cell_time(row, f->read_beside.mean_ns);
	strcat(row, "\n");
}

static void the_documentation_shows_what_the_model_does(void **state)
{
	FILE *file = fopen("docs/devices.md", "r");
	char *text = NULL, row[400];
	size_t bytes = 0;

	(void)state;
	if (!file || getdelim(&text, &bytes, '\0', file) < 0)
		fail_msg("cannot read docs/devices.md: the tests run from the project's root");
	fclose(file);
	for (size_t i = 0; i < COUNT; i++) {
		row_format(row, all[i].name, &figures[i]);
		if (getenv("REFAULT_PRINT_FIGURES"))
			printf("%s", row);
		else if (!strstr(text, row))
			fail_msg("docs/devices.md needs the row\n%s", row);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_do_what_is_published_of_them),
		cmocka_unit_test(reads_of_a_sata_ssd_wait_milliseconds_behind_writes),
		cmocka_unit_test(reads_of_the_others_do_not),
		cmocka_unit_test(tails_are_those_of_the_review),
		cmocka_unit_test(the_documentation_shows_what_the_model_does),
	};

	return cmocka_run_group_tests(tests, measure_all, NULL);
}
