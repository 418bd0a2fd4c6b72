#include "machine/model/device/spread.h"

#include <assert.h>

/* Fixed point: 40 bits behind the point. */
enum { POINT = 40 };
#define ONE       (INT64_C(1) << POINT)
#define LN_2      INT64_C(762123384786) /* 0.693147180559945 */
#define SIGMA_ONE INT64_C(1000000)

static int64_t multiply(int64_t a, int64_t b)
{
	return (int64_t)((__int128)a * b >> POINT);
}

/* e^x by its series, after as many halvings or doublings as bring x between 0 and ln 2. */
static int64_t exponential(int64_t x)
{
	int64_t term = ONE, sum = ONE, doublings = x / LN_2;

	if (x < 0)
		doublings--;
	x -= doublings * LN_2;
	for (int i = 1; i <= 16; i++) {
		term = multiply(term, x) / i;
		sum += term;
	}
	return doublings >= 0 ? sum << doublings : doublings > -POINT ? sum >> -doublings : 0;
}

/*
 * quantiles[i]: where the standard normal distribution has (i + 1/2) / SPREAD_COUNT of itself below.
 * The density is summed up by trapezoids from 0 upwards, to 4.5 deviations; the other half is its
 * mirror.
 */
static void normal_quantiles(int64_t quantiles[SPREAD_COUNT])
{
	enum { STEPS = 256, DEVIATIONS = 9 }; /* steps a half deviation */
	static const int64_t step = ONE / (2 * STEPS);
	int64_t density = ONE, below = 0, total = 0;
	int found = 0;

	for (int pass = 0; pass < 2; pass++) {
		density = ONE;
		below = 0;
		for (int i = 1; i <= STEPS * DEVIATIONS; i++) {
			int64_t at = i * step, next = exponential(-multiply(at, at) / 2);
			int64_t area = (density + next) / 2;

			/* Of the half: (2 * found + 1) / SPREAD_COUNT. */
			while (pass && found < SPREAD_COUNT / 2) {
				int64_t wanted =
					(int64_t)((__int128)total * (2 * found + 1) / SPREAD_COUNT);

				if (below + area < wanted)
					break;
				quantiles[SPREAD_COUNT / 2 + found] =
					at - step +
					(int64_t)((__int128)step * (wanted - below) / area);
				found++;
			}
			below += area;
			density = next;
		}
		total = below;
	}
	assert(found == SPREAD_COUNT / 2);
	for (int i = 0; i < SPREAD_COUNT / 2; i++)
		quantiles[i] = -quantiles[SPREAD_COUNT - 1 - i];
}

void spread_init(struct spread *spread, uint64_t mean_ns, uint64_t sigma_millionths)
{
	int64_t values[SPREAD_COUNT];
	__int128 sum = 0;

	assert(mean_ns <= SPREAD_NS_MAX && sigma_millionths <= SPREAD_SIGMA_MAX);
	normal_quantiles(values);
	for (int i = 0; i < SPREAD_COUNT; i++) {
		values[i] = exponential(
			(int64_t)((__int128)values[i] * (int64_t)sigma_millionths / SIGMA_ONE));
		sum += values[i];
	}
	for (int i = 0; i < SPREAD_COUNT; i++) {
		unsigned __int128 ns =
			((unsigned __int128)mean_ns * (uint64_t)values[i] * SPREAD_COUNT +
			 (unsigned __int128)sum / 2) /
			(unsigned __int128)sum;

		spread->ns[i] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	}
}
