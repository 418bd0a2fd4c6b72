#include "study/ranks.h"

#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "base/size.h"

enum {
	SECRET_BYTES = 32,
	HOST_BYTES = 256,
	ADDRESSES_MAX = 16,
	PATIENCE_MS = 60 * 1000, /* for rank 0 to appear */
	CONNECT_MS = 3000,
	HELLO_MS = 5000,
	POLL_MS = 100,
};

#define CELL_NONE         UINT64_MAX
#define OUTCOME_BYTES_MAX (UINT64_C(1) << 32)

static const char magic[16] = "refault sweep 1";

/* What a rank says first. */
struct hello {
	char magic[16];
	char secret[SECRET_BYTES];
	uint64_t question; /* little-endian, like all numbers here */
	uint64_t rank;
};

struct address {
	struct sockaddr_storage at;
	socklen_t bytes;
};

struct ranks {
	struct launcher launcher;
	char path[4096]; /* of the file that tells where rank 0 is */
	uint64_t question;
	char secret[SECRET_BYTES];
	int listening; /* rank 0 */
	bool *seen;    /* by rank */
	uint32_t seen_count;
	bool was_there; /* the others: rank 0 has let this one in once */
	bool was_met;   /* it was there, at least */
};

/* ---- the launcher ---- */

/* A number that the environment has under this name. */
static bool variable(uint32_t *value, const char *name)
{
	const char *text = getenv(name);
	struct error error;
	uint64_t number;

	if (!text || !number_parse(&number, text, name, &error) || number > UINT32_MAX)
		return false;
	*value = (uint32_t)number;
	return true;
}

static void job_add(struct launcher *launcher, const char *name)
{
	const char *text = getenv(name);
	size_t used = strlen(launcher->job);

	snprintf(launcher->job + used, sizeof(launcher->job) - used, "%s.", text ? text : "");
}

bool launcher_find(struct launcher *launcher)
{
	uint32_t nodes;

	*launcher = (struct launcher){0};
	if (variable(&launcher->size, "OMPI_COMM_WORLD_SIZE") &&
	    variable(&launcher->rank, "OMPI_COMM_WORLD_RANK")) {
		launcher->name = "mpirun";
		if (!variable(&launcher->local_size, "OMPI_COMM_WORLD_LOCAL_SIZE"))
			launcher->local_size = 0;
		job_add(launcher, "OMPI_MCA_ess_base_jobid");
		job_add(launcher, "PMIX_NAMESPACE");
	} else if (variable(&launcher->size, "PMI_SIZE") && variable(&launcher->rank, "PMI_RANK")) {
		launcher->name = "mpiexec";
		if (!variable(&launcher->local_size, "MPI_LOCALNRANKS"))
			launcher->local_size = 0;
		job_add(launcher, "PMI_JOBID");
	} else if (variable(&launcher->size, "SLURM_STEP_NUM_TASKS") &&
		   variable(&launcher->rank, "SLURM_PROCID")) {
		launcher->name = "srun";
		launcher->local_size =
			variable(&nodes, "SLURM_STEP_NUM_NODES") && nodes == 1 ? launcher->size : 0;
		job_add(launcher, "SLURM_JOB_ID");
		job_add(launcher, "SLURM_STEP_ID");
	} else {
		return false;
	}
	return launcher->size > 1 && launcher->rank < launcher->size;
}

/* ---- sockets ---- */

static void socket_prepare(int fd)
{
	/* A machine that went away without a word is noticed after two minutes. */
	const int on = 1, idle_s = 60, interval_s = 15, count = 4;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static bool send_all(int fd, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count > 0) {
		ssize_t sent = send(fd, at, count, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		count -= (size_t)sent;
	}
	return true;
}

/* limit_ms < 0: as long as it takes, unless interrupted. */
static bool receive_all(int fd, void *bytes, size_t count, int limit_ms,
			const volatile int *interrupted)
{
	char *at = bytes;

	while (count > 0) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int ready = poll(&wait, 1, POLL_MS);
		ssize_t got;

		if (interrupted && *interrupted)
			return false;
		if (ready == 0 && limit_ms >= 0 && (limit_ms -= POLL_MS) <= 0)
			return false;
		if (ready <= 0)
			continue;
		got = recv(fd, at, count, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		count -= (size_t)got;
	}
	return true;
}

static bool send_number(int fd, uint64_t number)
{
	number = htole64(number);
	return send_all(fd, &number, sizeof(number));
}

static bool receive_number(int fd, uint64_t *number, const volatile int *interrupted)
{
	if (!receive_all(fd, number, sizeof(*number), -1, interrupted))
		return false;
	*number = le64toh(*number);
	return true;
}

/* ---- rank 0: where it is ---- */

static bool listen_on(struct ranks *ranks, bool is_local, uint16_t *port, struct error *error)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
	struct sockaddr_in plain = {.sin_family = AF_INET,
				    .sin_addr.s_addr =
					    htonl(is_local ? INADDR_LOOPBACK : INADDR_ANY)};
	struct sockaddr_storage bound;
	socklen_t bytes = sizeof(bound);
	const int off = 0;
	int fd = is_local ? -1 : socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) != 0 ||
			bind(fd, (struct sockaddr *)&any, sizeof(any)) != 0)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || bind(fd, (struct sockaddr *)&plain, sizeof(plain)) != 0) {
			error_system(error, "cannot listen for the other ranks");
			if (fd >= 0)
				close(fd);
			return false;
		}
	}
	ranks->listening = fd;
	if (listen(fd, SOMAXCONN) != 0 || getsockname(fd, (struct sockaddr *)&bound, &bytes) != 0)
		return error_system(error, "cannot listen for the other ranks");
	*port = ntohs(bound.ss_family == AF_INET6
			      ? ((const struct sockaddr_in6 *)(const void *)&bound)->sin6_port
			      : ((const struct sockaddr_in *)(const void *)&bound)->sin_port);
	return true;
}

/* A line for each address of this machine that others may reach. */
static void addresses_print(FILE *file, bool is_local)
{
	struct ifaddrs *all = NULL;
	char text[INET6_ADDRSTRLEN];

	if (is_local || getifaddrs(&all) != 0)
		all = NULL;
	for (const struct ifaddrs *it = all; it; it = it->ifa_next) {
		const void *at = NULL;

		if (!it->ifa_addr || !(it->ifa_flags & IFF_UP) || (it->ifa_flags & IFF_LOOPBACK))
			continue;
		if (it->ifa_addr->sa_family == AF_INET)
			at = &((const struct sockaddr_in *)(const void *)it->ifa_addr)->sin_addr;
		if (it->ifa_addr->sa_family == AF_INET6)
			at = &((const struct sockaddr_in6 *)(const void *)it->ifa_addr)->sin6_addr;
		if (!at || (it->ifa_addr->sa_family == AF_INET6 &&
			    IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)at)))
			continue;
		if (inet_ntop(it->ifa_addr->sa_family, at, text, sizeof(text)))
			fprintf(file, "%s\n", text);
	}
	if (all)
		freeifaddrs(all);
}

static bool secret_draw(char secret[SECRET_BYTES], struct error *error)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char random[SECRET_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_system(error, "cannot draw a secret");
	for (size_t i = 0; i < SECRET_BYTES; i++)
		secret[i] = digits[random[i] % 16];
	return true;
}

/* Never half-written: others are looking for it. */
static bool place_tell(const struct ranks *ranks, uint16_t port, bool is_local, struct error *error)
{
	char name[sizeof(ranks->path) + 16], host[HOST_BYTES] = "";
	bool done;
	FILE *file;
	int fd;

	snprintf(name, sizeof(name), "%s.new", ranks->path);
	unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return error_system(error, "cannot write %.200s, where the ranks meet", name);
	}
	gethostname(host, sizeof(host) - 1);
	fprintf(file, "%.*s\n%u\n%s\n", SECRET_BYTES, ranks->secret, (unsigned int)port,
		*host ? host : "?");
	addresses_print(file, is_local);
	fputs("end\n", file);
	done = !ferror(file);
	done = fclose(file) == 0 && done && rename(name, ranks->path) == 0;
	return done ||
	       error_system(error, "cannot write %.200s, where the ranks meet", ranks->path);
}

struct ranks *ranks_open(const struct launcher *launcher, const char *folder, uint64_t question,
			 struct error *error)
{
	struct ranks *ranks = memory_alloc(1, sizeof(*ranks));
	bool is_local = launcher->local_size == launcher->size;
	uint16_t port = 0;

	ranks->launcher = *launcher;
	ranks->question = question;
	ranks->listening = -1;
	ranks->seen = memory_alloc(launcher->size, sizeof(*ranks->seen));
	snprintf(ranks->path, sizeof(ranks->path), "%.4000s/ranks-%016" PRIx64, folder,
		 (uint64_t)XXH64(launcher->job, strlen(launcher->job), launcher->size));
	if (launcher->rank > 0)
		return ranks;
	if (secret_draw(ranks->secret, error) && listen_on(ranks, is_local, &port, error) &&
	    place_tell(ranks, port, is_local, error))
		return ranks;
	ranks_close(ranks);
	return NULL;
}

void ranks_close(struct ranks *ranks)
{
	if (!ranks)
		return;
	if (ranks->listening >= 0) {
		close(ranks->listening);
		unlink(ranks->path);
	}
	memory_free(ranks->seen);
	memory_free(ranks);
}

uint32_t ranks_rank(const struct ranks *ranks)
{
	return ranks->launcher.rank;
}

uint32_t ranks_size(const struct ranks *ranks)
{
	return ranks->launcher.size;
}

uint32_t ranks_seen(const struct ranks *ranks)
{
	return ranks->seen_count;
}

/* ---- rank 0: the others ---- */

bool ranks_accept(struct ranks *ranks, struct rank_peer *peer, int wait_ms, unsigned int *strangers)
{
	struct pollfd wait = {.fd = ranks->listening, .events = POLLIN};
	struct hello hello;
	bool agrees;
	int fd;

	if (poll(&wait, 1, wait_ms) <= 0)
		return false;
	fd = accept4(ranks->listening, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return false;
	if (!receive_all(fd, &hello, sizeof(hello), HELLO_MS, NULL) ||
	    memcmp(hello.magic, magic, sizeof(magic)) != 0 ||
	    memcmp(hello.secret, ranks->secret, SECRET_BYTES) != 0 ||
	    le64toh(hello.rank) >= ranks->launcher.size)
		goto close;
	peer->fd = fd;
	peer->rank = (uint32_t)le64toh(hello.rank);
	if (!ranks->seen[peer->rank]) {
		ranks->seen[peer->rank] = true;
		ranks->seen_count++;
	}
	agrees = le64toh(hello.question) == ranks->question;
	if (!agrees)
		++*strangers;
	if (!send_all(fd, agrees ? "Y" : "N", 1) || !agrees)
		goto close;
	socket_prepare(fd);
	return true;
close:
	close(fd);
	return false;
}

bool rank_peer_run(const struct rank_peer *peer, uint64_t cell, char **outcome,
		   const volatile int *interrupted)
{
	uint64_t bytes;
	char *text;

	if (!send_number(peer->fd, cell) || !receive_number(peer->fd, &bytes, interrupted) ||
	    bytes > OUTCOME_BYTES_MAX)
		return false;
	text = malloc((size_t)bytes + 1);
	if (!text)
		return false;
	text[bytes] = '\0';
	if (receive_all(peer->fd, text, (size_t)bytes, -1, interrupted)) {
		*outcome = text;
		return true;
	}
	free(text);
	return false;
}

void rank_peer_dismiss(struct rank_peer *peer)
{
	(void)send_number(peer->fd, CELL_NONE);
	close(peer->fd);
	peer->fd = -1;
}

/* ---- the others ---- */

/* What rank 0 has written. */
struct place {
	char secret[SECRET_BYTES + 1];
	uint16_t port;
	struct address addresses[ADDRESSES_MAX];
	size_t count;
};

static void address_add(struct place *place, const char *text)
{
	struct address *address = &place->addresses[place->count];
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&address->at;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&address->at;

	if (place->count == ADDRESSES_MAX)
		return;
	*address = (struct address){0};
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(place->port);
		address->bytes = sizeof(*v4);
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(place->port);
		address->bytes = sizeof(*v6);
	} else {
		return;
	}
	place->count++;
}

static bool line_read(FILE *file, char line[HOST_BYTES])
{
	if (!fgets(line, HOST_BYTES, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static bool place_read(struct place *place, const struct ranks *ranks)
{
	char line[HOST_BYTES], host[HOST_BYTES] = "";
	FILE *file = fopen(ranks->path, "re");
	bool whole = false;
	unsigned long port;

	*place = (struct place){0};
	if (!file)
		return false;
	gethostname(host, sizeof(host) - 1);
	if (!line_read(file, line) || strlen(line) != SECRET_BYTES)
		goto out;
	memcpy(place->secret, line, SECRET_BYTES);
	if (!line_read(file, line) || (port = strtoul(line, NULL, 10)) == 0 || port > UINT16_MAX)
		goto out;
	place->port = (uint16_t)port;
	if (!line_read(file, line))
		goto out;
	if (strcmp(line, host) == 0 || ranks->launcher.local_size == ranks->launcher.size)
		address_add(place, "127.0.0.1");
	while (!whole && line_read(file, line)) {
		whole = strcmp(line, "end") == 0;
		if (!whole)
			address_add(place, line);
	}
out:
	fclose(file);
	return whole && place->count > 0;
}

/* -1: not there. */
static int address_connect(const struct address *address)
{
	int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	int failure = 0;
	socklen_t bytes = sizeof(failure);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address->at, address->bytes) != 0 &&
	    (errno != EINPROGRESS || poll(&wait, 1, CONNECT_MS) <= 0 ||
	     getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &bytes) != 0 || failure != 0)) {
		close(fd);
		return -1;
	}
	(void)fcntl(fd, F_SETFL, 0);
	socket_prepare(fd);
	return fd;
}

enum answer { ANSWER_NONE, ANSWER_YES, ANSWER_NO };

static enum answer hello_say(const struct ranks *ranks, const struct place *place, int fd)
{
	struct hello hello = {.question = htole64(ranks->question),
			      .rank = htole64(ranks->launcher.rank)};
	char answer;

	memcpy(hello.magic, magic, sizeof(magic));
	memcpy(hello.secret, place->secret, SECRET_BYTES);
	if (!send_all(fd, &hello, sizeof(hello)) || !receive_all(fd, &answer, 1, HELLO_MS, NULL))
		return ANSWER_NONE;
	return answer == 'Y' ? ANSWER_YES : ANSWER_NO;
}

/* Its file may be of a job that is gone: then nobody answers, and there will be another. */
static int connect_once(struct ranks *ranks, enum answer *answer)
{
	struct place place;

	*answer = ANSWER_NONE;
	if (!place_read(&place, ranks))
		return -1;
	for (size_t i = 0; i < place.count && *answer == ANSWER_NONE; i++) {
		int fd = address_connect(&place.addresses[i]);

		if (fd < 0)
			continue;
		ranks->was_met = true;
		*answer = hello_say(ranks, &place, fd);
		if (*answer == ANSWER_YES)
			return fd;
		close(fd);
	}
	return -1;
}

int ranks_connect(struct ranks *ranks, const volatile int *interrupted, struct error *error)
{
	const struct timespec pause = {.tv_nsec = 20 * (long)NS_PER_MS};
	struct timespec now;
	time_t until;

	clock_gettime(CLOCK_MONOTONIC, &now);
	until = now.tv_sec + PATIENCE_MS / 1000;
	for (;;) {
		enum answer answer;
		int fd = connect_once(ranks, &answer);

		if (fd >= 0) {
			ranks->was_there = true;
			return fd;
		}
		if (answer == ANSWER_NO) {
			error_input(error,
				    "rank %u was asked something else than rank 0: is it the same "
				    "trace, "
				    "the same command and the same refault?",
				    (unsigned int)ranks->launcher.rank);
			return -1;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (ranks->was_there || (ranks->was_met && access(ranks->path, F_OK) != 0) ||
		    (interrupted && *interrupted) || now.tv_sec >= until)
			break;
		nanosleep(&pause, NULL);
	}
	error_failed(error,
		     "rank %u did not find rank 0 by %.200s within %d s: do the ranks share that "
		     "folder? (-o FILE names a file in another)",
		     (unsigned int)ranks->launcher.rank, ranks->path, PATIENCE_MS / 1000);
	return -1;
}

bool rank_next_cell(int fd, uint64_t *cell, bool *lost, const volatile int *interrupted)
{
	*lost = !receive_number(fd, cell, interrupted);
	return !*lost && *cell != CELL_NONE;
}

bool rank_send_outcome(int fd, const char *outcome)
{
	size_t bytes = strlen(outcome);

	return send_number(fd, bytes) && send_all(fd, outcome, bytes);
}
