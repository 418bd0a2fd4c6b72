/*
 * peer: this program beside libCacheSim's `cachesim`, on the same trace, in turns
 *
 *     build/bench/peer CACHESIM [--requests N] [--pairs N] [--policies A,B,...]
 *     build/bench/peer CACHESIM --trace FILE --objects N [...]       a trace of one's own (oracleGeneral)
 *     build/bench/peer --make FILE [--requests N]                    just the trace
 *
 * The trace is Zipf(0.9) over 4 M objects, 50 M requests unless told otherwise; the caches hold
 * 400,000. Both programs read it from the page cache and do it all: reading, looking up, evicting.
 * A pair is one run of each, one right after the other, and its ratio that of the processor time
 * (user and system) each took: what others do on the machine meanwhile is not in it, but for the
 * caches they share. The median of the pairs counts. Bytes an object: by how much the largest
 * resident set of a run grows from a cache of a hundredth of the objects to the whole, an object
 * more. Both are told to take each object for one unit.
 */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"

enum { OBJECTS = 4000000, CACHED = 400000, PAIRS_MAX = 99, RECORD_BYTES = 24, GUIDES = 1 << 20 };

static const double exponent = 0.9;

/* Our name of a policy, and theirs; the ratio it is to have. */
static const struct {
	const char *ours, *theirs;
	double wanted;
} policies[] = {
	{"lru", "lru", 6},     {"fifo", "fifo", 6}, {"clock", "clock", 6},
	{"sieve", "sieve", 6}, {"arc", "arc", 6},   {"s3fifo", "s3fifo", 8},
	{"2q", "twoq", 8},     {"lirs", "lirs", 8}, {"w-tinylfu", "wtinylfu", 8},
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- the trace ---- */

/*
 * Ranks by inversion of the exact distribution: sums of weights, and where in them each 2^20th part
 * begins.
 */
struct zipf {
	double *sums;
	uint32_t *guides;
};

static void zipf_init(struct zipf *zipf)
{
	double sum = 0, all;
	uint32_t rank = 0;

	zipf->sums = memory_alloc(OBJECTS, sizeof(*zipf->sums));
	zipf->guides = memory_alloc(GUIDES, sizeof(*zipf->guides));
	for (uint32_t i = 0; i < OBJECTS; i++)
		zipf->sums[i] = sum += pow(i + 1.0, -exponent);
	all = sum;
	for (uint32_t i = 0; i < OBJECTS; i++)
		zipf->sums[i] /= all;
	for (uint32_t i = 0; i < GUIDES; i++) {
		while (zipf->sums[rank] < (double)i / GUIDES)
			rank++;
		zipf->guides[i] = rank;
	}
}

static uint32_t zipf_next(const struct zipf *zipf, struct random *random)
{
	uint64_t bits = random_next(random);
	double u = (double)(bits >> 11) * 0x1p-53;
	uint32_t rank = zipf->guides[bits >> 44];

	while (zipf->sums[rank] < u && rank + 1 < OBJECTS)
		rank++;
	return rank;
}

static void record_put(unsigned char *at, uint32_t time_s, uint64_t id)
{
	static const uint32_t size = 4096;
	static const int64_t next = -1;

	memcpy(at, &time_s, 4);
	memcpy(at + 4, &id, 8);
	memcpy(at + 12, &size, 4);
	memcpy(at + 16, &next, 8);
}

static void trace_make(const char *path, uint64_t requests)
{
	FILE *file = fopen(path, "wb");
	struct zipf zipf;
	struct random random;
	unsigned char record[RECORD_BYTES];

	if (!file)
		die(path);
	zipf_init(&zipf);
	random_init(&random, 1, 0);
	for (uint64_t i = 0; i < requests; i++) {
		/* Neighbours in heat are none by number: 2654435761 and 4 M have no common divisor. */
		uint64_t id = (uint64_t)zipf_next(&zipf, &random) * 2654435761u % OBJECTS;

		record_put(record, (uint32_t)(i / 100000), id + 1);
		if (fwrite(record, sizeof(record), 1, file) != 1)
			die(path);
	}
	if (fclose(file) != 0)
		die(path);
	memory_free(zipf.sums);
	memory_free(zipf.guides);
}

/* ---- running ---- */

struct cost {
	double seconds;
	double resident_bytes; /* at most */
};

static struct cost run(char *const *arguments)
{
	struct rusage usage;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		/* cachesim leaves files where it runs. */
		if (null < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || chdir("/tmp") != 0)
			_exit(127);
		execv(arguments[0], arguments);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		die("wait4");
	if (status != 0) {
		fprintf(stderr, "peer: %s failed\n", arguments[0]);
		exit(1);
	}
	return (struct cost){
		.seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		.resident_bytes = (double)usage.ru_maxrss * 1024,
	};
}

struct peers {
	char *cachesim, *refault, *trace;
	uint64_t requests, objects;
};

static struct cost run_theirs(const struct peers *peers, size_t policy, uint64_t objects)
{
	char count[32], name[32];
	char *arguments[] = {peers->cachesim,
			     peers->trace,
			     "oracleGeneral",
			     name,
			     count,
			     "--ignore-obj-size",
			     "1",
			     NULL};

	snprintf(count, sizeof(count), "%llu", (unsigned long long)objects);
	snprintf(name, sizeof(name), "%s", policies[policy].theirs);
	return run(arguments);
}

static struct cost run_ours(const struct peers *peers, size_t policy, uint64_t objects)
{
	char count[32], name[32];
	char *arguments[] = {peers->refault,  "replay", peers->trace, "--format",
			     "oraclegeneral", "--bare", "--pages",    count,
			     "--policy",      name,     "--no-store", NULL};

	snprintf(count, sizeof(count), "%llu", (unsigned long long)objects);
	snprintf(name, sizeof(name), "%s", policies[policy].ours);
	return run(arguments);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void row(const struct peers *peers, size_t policy, uint32_t pairs)
{
	double ratios[PAIRS_MAX], theirs = 0, ours = 0, bytes_theirs, bytes_ours;
	double more = (double)(peers->objects - peers->objects / 100);
	struct cost small_theirs = run_theirs(peers, policy, peers->objects / 100);
	struct cost small_ours = run_ours(peers, policy, peers->objects / 100);
	struct cost cost_theirs, cost_ours;

	for (uint32_t i = 0; i < pairs; i++) {
		cost_theirs = run_theirs(peers, policy, peers->objects);
		cost_ours = run_ours(peers, policy, peers->objects);
		ratios[i] = cost_theirs.seconds / cost_ours.seconds;
		theirs += cost_theirs.seconds;
		ours += cost_ours.seconds;
	}
	qsort(ratios, pairs, sizeof(ratios[0]), compare_doubles);
	bytes_theirs = (cost_theirs.resident_bytes - small_theirs.resident_bytes) / more;
	bytes_ours = (cost_ours.resident_bytes - small_ours.resident_bytes) / more;
	printf("%-10s %8.2f %8.2f %7.2f %7.2f..%-7.2f %6.0f %9.0f %9.0f\n", policies[policy].ours,
	       (double)peers->requests * pairs / theirs / 1e6,
	       (double)peers->requests * pairs / ours / 1e6, ratios[pairs / 2], ratios[0],
	       ratios[pairs - 1], policies[policy].wanted, bytes_theirs, bytes_ours);
	fflush(stdout);
}

/* Is `name` in "a,b,c"? */
static bool is_in(const char *list, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, name, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0'))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct peers peers = {.objects = CACHED, .refault = realpath("build/refault", NULL)};
	const char *make = NULL, *wanted = NULL;
	char made[] = "/tmp/peer-XXXXXX";
	uint32_t pairs = 5;

	peers.requests = 50000000;
	for (int i = 1; i < argc; i++) {
		char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strncmp(argv[i], "--", 2) != 0) {
			peers.cachesim = realpath(argv[i], NULL);
			if (!peers.cachesim)
				die(argv[i]);
			continue;
		}
		if (!value) {
			fprintf(stderr, "peer: %s needs a value\n", argv[i]);
			return 2;
		}
		i++;
		if (strcmp(argv[i - 1], "--requests") == 0)
			peers.requests = strtoull(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--pairs") == 0)
			pairs = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--policies") == 0)
			wanted = value;
		else if (strcmp(argv[i - 1], "--trace") == 0)
			peers.trace = realpath(value, NULL);
		else if (strcmp(argv[i - 1], "--objects") == 0)
			peers.objects = strtoull(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--make") == 0)
			make = value;
		else
			return fprintf(stderr, "peer: what is %s?\n", argv[i - 1]), 2;
	}
	if (make) {
		trace_make(make, peers.requests);
		return 0;
	}
	if (!peers.cachesim) {
		printf("not measured: give the path of a cachesim binary\n");
		return 0;
	}
	if (!peers.refault || pairs < 1 || pairs > PAIRS_MAX || peers.objects < 100)
		return fprintf(stderr, "peer: needs build/refault, 1 to 99 pairs, 100 objects\n"),
		       2;
	if (peers.trace) {
		FILE *file = fopen(peers.trace, "rb");

		if (!file || fseek(file, 0, SEEK_END) != 0)
			die(peers.trace);
		peers.requests = (uint64_t)ftell(file) / RECORD_BYTES;
		fclose(file);
	} else {
		int file = mkstemp(made);

		if (file < 0)
			die(made);
		close(file);
		trace_make(made, peers.requests);
		peers.trace = made;
	}
	printf("%s %s oracleGeneral POLICY %llu --ignore-obj-size 1\n", peers.cachesim, peers.trace,
	       (unsigned long long)peers.objects);
	printf("%s replay %s --format oraclegeneral --bare --pages %llu --policy POLICY "
	       "--no-store\n",
	       peers.refault, peers.trace, (unsigned long long)peers.objects);
	printf("%llu requests, %u pairs; M/s of processor time\n\n",
	       (unsigned long long)peers.requests, pairs);
	printf("%-10s %8s %8s %7s %16s %6s %9s %9s\n", "", "cachesim", "refault", "ratio",
	       "least..most", "wanted", "bytes", "bytes");
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (!wanted || is_in(wanted, policies[i].ours))
			row(&peers, i, pairs);
	if (peers.trace == made)
		unlink(made);
	free(peers.cachesim);
	free(peers.refault);
	return 0;
}
