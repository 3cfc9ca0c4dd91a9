// The calls and watches that a client has open, so that another thread can end all of them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "errors.hpp"

namespace aeond {

// Thread-safe. A client and its watches share it, because a watch may outlive its client.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  // The context of a new call, which close() cancels for as long as anything refers to it. Throws Error (CLIENT_CLOSED).
  std::shared_ptr<grpc::ClientContext> begin();
  // Returns after this time, or as soon as the client is closed. The channel reconnects meanwhile.
  void pause(grpc::Channel& channel, milliseconds length);
  // The error of an attempt that failed; CLIENT_CLOSED if that is why.
  Error cause_of(Error error);
  void close();

 private:
  std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  bool closed_ = false;
  std::set<grpc::ClientContext*> contexts_;
};

}  // namespace aeond
