// Serves tools of a program to the runs of its user.
//
//     aeond::ToolServer server(client, {greet});
//     server.serve();  // until another thread calls server.stop()
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aeond/api/v1/tools.grpc.pb.h"
#include "aeond/client.hpp"

namespace aeond {

using api::v1::ToolSpec;

// The call that a tool executes. Copies share its cancellation.
class ToolCall {
 public:
  std::string arguments_json;  // an object that fits the schema
  std::string call_id;         // the same if the daemon repeats the call
  std::string run_id;          // empty: called directly
  std::string step_id;
  milliseconds timeout{0};  // the time that the daemon waits for the result

  // Whether the result is no longer needed.
  bool cancelled() const;
  // Calls this once when the call is cancelled, in another thread; at once if it is already.
  void on_cancel(std::function<void()> call) const;

 private:
  friend class ToolServer;
  struct State;
  ToolCall();
  void cancel() const;

  std::shared_ptr<State> state_;
};

// A function that models, plans and clients may call. Of `spec`, name and description are required; without a schema it
// takes no arguments, without an effect a call counts as one with the most severe effect. `execute` returns JSON text; it
// is called in a thread of its own. What it throws is a failed call.
struct Tool {
  ToolSpec spec;
  std::function<std::string(const ToolCall&)> execute;
};

// Thrown by a tool: a failed call with a reason of its own, a stable UPPER_SNAKE word.
struct ToolFailure : std::runtime_error {
  ToolFailure(const std::string& message, std::string reason);

  std::string reason;
};

struct ServeOptions {
  // The name of the program for people. Empty: its process name.
  std::string source;
  // Calls at a time; more wait for one that ends. The daemon sends at most 32.
  int max_calls = 32;
  // Called with the names of the tools whenever the daemon has registered them: at first, and after an outage.
  std::function<void(const std::vector<std::string>&)> accepted;
};

// Offers tools to the runs of this user. The client must live as long.
class ToolServer {
 public:
  ToolServer(Client& client, std::vector<Tool> tools, ServeOptions options = {});
  ToolServer(const ToolServer&) = delete;

  // Serves until stop(), then returns once every call has ended. A daemon that went away is waited for, for
  // Options::patience: the tools are offered again, calls in progress go on under their id, and their results are delivered.
  // Throws the Error of a rejected offer, which has the reason TOOL_EXISTS or names the invalid field.
  void serve();
  // Withdraws the tools and cancels the calls in progress. Thread-safe.
  void stop();

 private:
  using Stream = grpc::ClientReaderWriter<api::v1::ServeToolsRequest, api::v1::ServeToolsResponse>;

  void serve_streams();
  Error exchange();
  void obey(const api::v1::ServeToolsResponse& response);
  void carry_out(ToolCall call, std::string tool);
  api::v1::ToolResult result_of(const ToolCall& call, const std::string& tool) const;
  void end_calls();

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<api::v1::ToolService::Stub> stub_;
  milliseconds patience_;
  ServeOptions options_;
  std::map<std::string, Tool> tools_;
  api::v1::ServeToolsRequest offer_;

  std::mutex mutex_;  // of all that follows, and of writing
  std::condition_variable changed_;
  bool stopping_ = false;
  bool accepted_ = false;
  int free_;
  int threads_ = 0;
  Stream* stream_ = nullptr;
  grpc::ClientContext* context_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> lost_at_;
  std::map<std::string, ToolCall> running_;
  std::deque<api::v1::ServeToolsRequest> results_;
};

}  // namespace aeond
