#include "errors.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <vector>

namespace aeond {
namespace {

std::string text_of(const grpc::ClientContext& context, const char* key) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string user_socket() {
  auto session = environment("XDG_RUNTIME_DIR");
  if (session.empty()) session = "/run/user/" + std::to_string(getuid());
  struct stat found {};
  if (stat(session.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return session + "/aeond/aeond.sock";
  auto state = environment("XDG_STATE_HOME");
  if (state.empty() || state[0] != '/') state = environment("HOME") + "/.local/state";
  return state + "/aeond/run/aeond.sock";
}

bool is_listening(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const bool connected = connect(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  close(probe);
  return connected;
}

}  // namespace

Error::Error(const std::string& message, grpc::StatusCode code, std::string reason)
    : std::runtime_error(message), code(code), reason(std::move(reason)) {}

Error error_of(const grpc::Status& status, const grpc::ClientContext& context) {
  auto code = status.error_code();
  auto reason = text_of(context, "reason");
  if (reason.empty()) switch (code) {
      case grpc::StatusCode::UNAVAILABLE:
      case grpc::StatusCode::INTERNAL:
      case grpc::StatusCode::UNKNOWN:
        code = grpc::StatusCode::UNAVAILABLE;
        [[fallthrough]];
      case grpc::StatusCode::CANCELLED:
        reason = "CONNECTION_LOST";
        break;
      case grpc::StatusCode::DEADLINE_EXCEEDED:
        reason = "TIMED_OUT";
        break;
      case grpc::StatusCode::RESOURCE_EXHAUSTED:
        code = grpc::StatusCode::INTERNAL;
        reason = "MESSAGE_TOO_LARGE";
        break;
      default:
        reason = "INTERNAL";
    }
  Error error(status.error_message(), code, reason);
  error.field = text_of(context, "field");
  error.error_id = text_of(context, "error-id");
  error.retry_after = milliseconds(std::strtol(text_of(context, "retry-after-ms").c_str(), nullptr, 10));
  return error;
}

bool may_repeat(const Error& error, bool repeatable) {
  const bool lost = error.code == grpc::StatusCode::UNAVAILABLE || error.reason == "CONNECTION_LOST";
  return (repeatable && lost) || error.reason == "STARTING" || error.reason == "DRAINING";
}

bool may_follow_on(const Error& error) {
  return error.code == grpc::StatusCode::UNAVAILABLE || error.code == grpc::StatusCode::CANCELLED ||
         error.code == grpc::StatusCode::DEADLINE_EXCEEDED || error.code == grpc::StatusCode::RESOURCE_EXHAUSTED;
}

milliseconds delay(int attempt, milliseconds first, milliseconds longest, milliseconds asked) {
  thread_local std::minstd_rand chance{std::random_device{}()};
  const auto grown = std::min(first * (1 << std::min(attempt - 1, 20)), longest);
  std::uniform_int_distribution<milliseconds::rep> spread(grown.count() / 2, grown.count());
  return std::max(milliseconds(spread(chance)), std::min(asked, longest));
}

std::string find_socket(const std::string& given) {
  std::vector<std::string> candidates{given.empty() ? environment("AEOND_SOCKET") : given};
  if (candidates[0].empty()) candidates = {user_socket(), "/run/aeond/aeond.sock"};
  std::string tried;
  for (const auto& path : candidates) {
    if (is_listening(path)) return path;
    tried += ' ' + path;
  }
  throw Error("No daemon is listening; start one, or set AEOND_SOCKET. Tried:" + tried, grpc::StatusCode::UNAVAILABLE,
              "NO_DAEMON");
}

}  // namespace aeond
