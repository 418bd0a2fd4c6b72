/*
 * interrupt: Ctrl-C ends a run, not the program: what there is is cleaned up, and shown
 */
#ifndef REFAULT_CLI_INTERRUPT_H
#define REFAULT_CLI_INTERRUPT_H

/*
 * From now on SIGINT, SIGTERM and SIGHUP only set what is returned (the signal's number; 0 before).
 */
const volatile int *interrupt_begin(void);

/* They do what they did again; one that came does so now. Everything printed is out before. */
void interrupt_end(void);

/* Likewise, but one that came was how this command is ended: it is done with. */
void interrupt_forget(void);

#endif
