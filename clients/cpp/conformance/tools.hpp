// The tools that the conformance suite calls.
#pragma once

#include <aeond/client.hpp>

// Keeps SIGINT for the thread that waits for it; before any other thread starts.
void block_interrupts();

// Offers the tools of the suite until SIGINT; each line on standard input ends the calls that are held, and the daemon does so
// after the time limit. 0: its own one.
void serve(aeond::Client& client, double limit_seconds);
