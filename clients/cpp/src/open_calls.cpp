#include "open_calls.hpp"

#include <algorithm>

namespace aeond {
namespace {

using std::chrono::system_clock;

// gRPC cannot be woken while it waits for a connection: a closed client notices within this time.
constexpr milliseconds longest_wait_for_connection{50};

Error client_closed() {
  return Error("The client was closed.", grpc::StatusCode::CANCELLED, "CLIENT_CLOSED");
}

}  // namespace

std::shared_ptr<grpc::ClientContext> OpenCalls::begin() {
  std::shared_ptr<grpc::ClientContext> made(new grpc::ClientContext, [self = shared_from_this()](auto* ended) {
    {
      const std::lock_guard lock(self->mutex_);
      self->contexts_.erase(ended);
    }
    delete ended;
  });
  const std::lock_guard lock(mutex_);
  if (closed_) throw client_closed();
  contexts_.insert(made.get());
  return made;
}

void OpenCalls::pause(grpc::Channel& channel, milliseconds length) {
  const auto end = system_clock::now() + length;
  std::unique_lock lock(mutex_);
  // gRPC makes progress in threads that wait for it, and every five seconds.
  for (bool connected = false; !closed_ && !connected && system_clock::now() < end;) {
    lock.unlock();
    connected = channel.WaitForConnected(std::min(end, system_clock::now() + longest_wait_for_connection));
    lock.lock();
  }
  changed_.wait_until(lock, end, [this] { return closed_; });
}

Error OpenCalls::cause_of(Error error) {
  const std::lock_guard lock(mutex_);
  return closed_ && error.reason == "CONNECTION_LOST" ? client_closed() : error;
}

void OpenCalls::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  // Under the lock, so that none of them is deleted meanwhile; a context that has not begun its call cancels it then.
  for (auto* context : contexts_) context->TryCancel();
  changed_.notify_all();
}

}  // namespace aeond
