// How failed calls become errors, and when to try again.
#pragma once

#include "aeond/client.hpp"

namespace aeond {

// The error that the daemon reported, or gRPC in its place (reason CONNECTION_LOST or TIMED_OUT).
Error error_of(const grpc::Status& status, const grpc::ClientContext& context);
// Whether the call can be repeated: the daemon rejected it before it began, or a repeat is harmless.
bool may_repeat(const Error& error, bool repeatable);
// Whether a watch should reconnect, because the run is not at fault.
bool may_follow_on(const Error& error);
// The delay after a failed attempt, counted from 1: grows from `first` to `longest`, with jitter.
milliseconds delay(int attempt, milliseconds first, milliseconds longest, milliseconds asked);
// The path of the first socket on which a daemon is listening.
std::string find_socket(const std::string& given);

}  // namespace aeond
