#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

static volatile int interrupted;

static void interrupt(int signal_number)
{
	interrupted = signal_number;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

const volatile int *interrupt_begin(void)
{
	const struct sigaction action = {.sa_handler = interrupt};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	return &interrupted;
}

void interrupt_forget(void)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
}

void interrupt_end(void)
{
	interrupt_forget();
	if (!interrupted)
		return;
	fflush(stdout);
	raise(interrupted);
}
