/*
 * What is there before the start: the cluster's files, and how they come into the cache
 *
 * `warm: cached` reads every relation file once, in the order of their names, as `cat` does before
 * a benchmark (the measurements of docs/pgbench.md begin so). cat says that it reads in order
 * (coreutils 9.1, fdadvise()), which doubles the readahead window: from Linux 6.16 on that makes
 * folios of 256 KiB on ext4, each of which becomes active as a whole.
 */
#include "source/workload/pgbench/pgbench.h"

enum {
	SETUP_RELATIONS,
	SETUP_SEGMENTS,
	SETUP_REST,
	SETUP_READ,
	SETUP_END,
	READ_BYTES = 128 * 1024, /* cat's buffer */
};

static bool exists(struct pgbench *pg, struct op *op, enum stream_id stream, uint32_t path,
		   uint64_t bytes)
{
	*op = (struct op){
		.kind = OP_EXISTS,
		.path = path,
		.bytes = bytes,
		.stream = (uint16_t)(pg->place.first_stream + stream),
	};
	return true;
}

static uint64_t file_bytes(const struct relation *relation, uint32_t file)
{
	uint64_t before = (uint64_t)file * RELATION_FILE_BLOCKS, left = relation->count - before;

	return (left < RELATION_FILE_BLOCKS ? left : RELATION_FILE_BLOCKS) * BLOCK_BYTES;
}

/* By name: history's file node is the lowest. */
static struct relation *relation_at(struct pgbench *pg, uint32_t index)
{
	return &pg->relations[index == 0 ? REL_HISTORY : index - 1];
}

static bool relation_exists(struct pgbench *pg, struct op *op)
{
	while (pg->setup_relation < REL_COUNT) {
		struct relation *relation = relation_at(pg, pg->setup_relation);

		if (pg->setup_file < relation->files.count) {
			uint32_t file = pg->setup_file++;

			return exists(pg, op, relation->stream, relation->files.at[file].path,
				      file_bytes(relation, file));
		}
		pg->setup_relation++;
		pg->setup_file = 0;
	}
	return false;
}

static bool segment_is_there(struct pgbench *pg, struct op *op)
{
	uint64_t segment = pg->wal.first_segment + pg->setup_file;

	if (segment == pg->wal.end_segment)
		return false;
	pg->setup_file++;
	return exists(pg, op, STREAM_WAL, segment_path(pg, segment), SEGMENT_BYTES);
}

static bool rest_exists(struct pgbench *pg, struct op *op)
{
	/* A file in each directory that is synced, as there are in a real one, brings it to be. */
	static const struct {
		const char *path;
		uint64_t bytes;
	} rest[] = {
		{"global/pg_control", BLOCK_BYTES},
		{"pg_xact/0000", BLOCK_BYTES},
		{"pg_commit_ts/0000", 0},
		{"pg_multixact/offsets/0000", BLOCK_BYTES},
		{"pg_multixact/members/0000", BLOCK_BYTES},
		{"pg_logical/replorigin_checkpoint", 8},
		{"pg_logical/mappings/map", 0},
	};

	if (pg->setup_file == sizeof(rest) / sizeof(rest[0]))
		return false;
	exists(pg, op, STREAM_OTHER, path_make(pg, "%s", rest[pg->setup_file].path),
	       rest[pg->setup_file].bytes);
	pg->setup_file++;
	return true;
}

/* Advice on a file, its next piece, then its close. */
static bool relation_read(struct pgbench *pg, struct op *op)
{
	for (; pg->setup_relation < REL_COUNT; pg->setup_relation++, pg->setup_file = 0) {
		struct relation *relation = relation_at(pg, pg->setup_relation);

		for (; pg->setup_file < relation->files.count;
		     pg->setup_file++, pg->setup_offset = 0) {
			uint64_t bytes = file_bytes(relation, pg->setup_file);

			if (bytes == 0 || pg->setup_offset > bytes)
				continue;
			exists(pg, op, relation->stream, relation->files.at[pg->setup_file].path,
			       0);
			if (!pg->setup_is_advised) {
				pg->setup_is_advised = true;
				op->kind = OP_FADVISE_SEQUENTIAL;
				return true;
			}
			op->kind = OP_CLOSE;
			if (pg->setup_offset == bytes) {
				pg->setup_offset++;
				pg->setup_is_advised = false;
				return true;
			}
			op->kind = OP_READ;
			op->offset = pg->setup_offset;
			op->bytes =
				bytes - op->offset < READ_BYTES ? bytes - op->offset : READ_BYTES;
			pg->setup_offset += op->bytes;
			return true;
		}
	}
	return false;
}

bool pgbench_setup(struct pgbench *pg, struct op *op)
{
	static bool (*const phases[])(struct pgbench *, struct op *) = {
		[SETUP_RELATIONS] = relation_exists,
		[SETUP_SEGMENTS] = segment_is_there,
		[SETUP_REST] = rest_exists,
		[SETUP_READ] = relation_read,
	};

	for (; pg->setup_phase < SETUP_END; pg->setup_phase++) {
		if (pg->setup_phase == SETUP_READ && pg->options->warm != WARM_CACHED)
			continue;
		if (phases[pg->setup_phase](pg, op))
			return true;
		pg->setup_relation = pg->setup_file = 0;
		pg->setup_offset = 0;
	}
	return false;
}
