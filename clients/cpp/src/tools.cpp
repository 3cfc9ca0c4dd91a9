#include "aeond/tools.hpp"

#include <algorithm>
#include <thread>

#include "errors.hpp"

namespace aeond {
namespace {

using api::v1::ServeToolsRequest;
using api::v1::ServeToolsResponse;
using api::v1::ToolResult;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr std::chrono::seconds goodbye_time{5};  // that the daemon has to end the stream
constexpr std::size_t kept_results = 64;         // for a daemon that may lack them
constexpr std::size_t max_error_bytes = 2'000;
constexpr std::size_t max_data_bytes = 1 << 20;  // that the daemon accepts; far more would end the stream

ToolResult failed(const std::string& reason, std::string error) {
  if (error.size() > max_error_bytes) {
    auto end = max_error_bytes;
    while (end > 0 && (error[end] & 0xC0) == 0x80) --end;  // not within a character of UTF-8
    error.resize(end);
  }
  ToolResult result;
  result.set_reason(reason);
  result.set_error(error);
  return result;
}

}  // namespace

struct ToolCall::State {
  std::mutex mutex;
  bool cancelled = false;
  std::vector<std::function<void()>> calls;
};

ToolCall::ToolCall() : state_(std::make_shared<State>()) {}

bool ToolCall::cancelled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->cancelled;
}

void ToolCall::on_cancel(std::function<void()> call) const {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->cancelled) {
      state_->calls.push_back(std::move(call));
      return;
    }
  }
  call();
}

void ToolCall::cancel() const {
  std::vector<std::function<void()>> calls;
  {
    const std::lock_guard lock(state_->mutex);
    state_->cancelled = true;
    calls.swap(state_->calls);
  }
  for (const auto& call : calls) call();
}

ToolFailure::ToolFailure(const std::string& message, std::string reason)
    : std::runtime_error(message), reason(std::move(reason)) {}

ToolServer::ToolServer(Client& client, std::vector<Tool> tools, ServeOptions options)
    : channel_(client.streams_.channel),
      stub_(api::v1::ToolService::NewStub(channel_)),
      patience_(client.options_.patience),
      options_(std::move(options)),
      free_(options_.max_calls) {
  auto& offer = *offer_.mutable_offer();
  offer.set_source(options_.source);
  for (auto& tool : tools) {
    auto& spec = *offer.add_tools();
    spec = tool.spec;
    if (spec.input_schema_json().empty())
      spec.set_input_schema_json(R"({"type": "object", "properties": {}, "additionalProperties": false})");
    if (spec.output_schema_json().empty()) spec.set_output_schema_json("{}");
    tools_.emplace(spec.name(), std::move(tool));
  }
}

void ToolServer::serve() {
  try {
    serve_streams();
  } catch (...) {
    end_calls();
    throw;
  }
  end_calls();
}

void ToolServer::serve_streams() {
  for (int tries = 1;; ++tries) {
    const auto error = exchange();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    // Until the daemon notices that the stream was lost, its tools are taken.
    if (!accepted_ || !(may_follow_on(error) || error.reason == "TOOL_EXISTS")) throw error;
    const auto now = steady_clock::now();
    if (!lost_at_) {
      lost_at_ = now;
      tries = 1;
    }
    if (now - *lost_at_ >= patience_) throw error;
    const auto end = system_clock::now() + delay(tries, milliseconds(50), milliseconds(1'000), error.retry_after);
    lock.unlock();
    channel_->WaitForConnected(end);  // gRPC makes progress in threads that wait for it
    lock.lock();
    if (changed_.wait_until(lock, end, [this] { return stopping_; })) return;
  }
}

// Serves one stream until it ends.
Error ToolServer::exchange() {
  grpc::ClientContext context;
  const auto stream = stub_->ServeTools(&context);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      context.TryCancel();
    } else {
      stream_ = stream.get();
      context_ = &context;
      stream->Write(offer_);  // a failure ends reading, too
    }
  }
  ServeToolsResponse response;
  while (stream->Read(&response)) obey(response);
  {
    const std::lock_guard lock(mutex_);
    stream_ = nullptr;
    context_ = nullptr;
    changed_.notify_all();
  }
  const auto status = stream->Finish();
  if (status.ok()) return Error("The daemon ended the stream.", grpc::StatusCode::UNAVAILABLE, "STREAM_ENDED");
  return error_of(status, context);
}

void ToolServer::stop() {
  std::unique_lock lock(mutex_);
  if (stopping_) return;
  stopping_ = true;
  changed_.notify_all();
  if (!stream_) return;
  ServeToolsRequest goodbye;
  goodbye.mutable_offer();  // an empty offer: the daemon need not wait for this client
  stream_->Write(goodbye);
  stream_->WritesDone();
  if (!changed_.wait_for(lock, goodbye_time, [this] { return !stream_; })) context_->TryCancel();
}

void ToolServer::obey(const ServeToolsResponse& response) {
  if (response.has_accepted()) {
    {
      const std::lock_guard lock(mutex_);
      lost_at_.reset();
      accepted_ = true;
      for (const auto& result : results_) stream_->Write(result);  // the daemon ignores those that it has
    }
    const auto& names = response.accepted().names();
    if (options_.accepted && !names.empty()) options_.accepted({names.begin(), names.end()});
  } else if (response.has_started()) {
    const auto& started = response.started();
    ToolCall call;
    call.arguments_json = started.call().arguments_json();
    call.call_id = started.call().call_id();
    call.run_id = started.run_id();
    call.step_id = started.step_id();
    call.timeout = milliseconds(static_cast<milliseconds::rep>(started.timeout_seconds() * 1'000));
    const std::lock_guard lock(mutex_);
    if (!running_.emplace(call.call_id, call).second) return;  // a repeat of a call whose result will come
    ++threads_;
    std::thread(&ToolServer::carry_out, this, call, started.call().tool()).detach();  // end_calls waits for it
  } else if (response.has_cancelled()) {
    std::optional<ToolCall> call;
    {
      const std::lock_guard lock(mutex_);
      const auto found = running_.find(response.cancelled().call_id());
      if (found == running_.end()) return;
      call = found->second;
      running_.erase(found);  // a repeat with the same id is another call
    }
    call->cancel();
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
}

void ToolServer::carry_out(ToolCall call, std::string tool) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return free_ > 0 || call.cancelled(); });
  if (!call.cancelled()) {
    --free_;
    lock.unlock();
    auto result = result_of(call, tool);
    // The daemon cannot read a message with other bytes, and would end the stream.
    if (!ToolResult().ParseFromString(result.SerializeAsString()))
      result = failed("OUTPUT_INVALID", "the result is not UTF-8");
    lock.lock();
    ++free_;
    const auto found = running_.find(call.call_id);
    if (found != running_.end() && found->second.state_ == call.state_) {
      running_.erase(found);
      ServeToolsRequest message;
      message.mutable_ended()->set_call_id(call.call_id);
      *message.mutable_ended()->mutable_result() = result;
      results_.push_back(message);
      if (results_.size() > kept_results) results_.pop_front();
      if (stream_) stream_->Write(message);  // after a failure it is sent over the next stream
    }
  }
  --threads_;
  changed_.notify_all();
}

ToolResult ToolServer::result_of(const ToolCall& call, const std::string& tool) const {
  try {
    const auto found = tools_.find(tool);
    if (found == tools_.end()) return failed("TOOL_NOT_FOUND", "this program has no such tool");
    ToolResult result;
    result.set_data_json(found->second.execute(call));
    result.set_success(true);
    if (result.data_json().size() > max_data_bytes)
      return failed("OUTPUT_TOO_LARGE", "the result has more than " + std::to_string(max_data_bytes) + " bytes of JSON");
    return result;
  } catch (const ToolFailure& failure) {
    return failed(failure.reason, failure.what());
  } catch (const std::exception& error) {
    return failed("TOOL_RAISED", error.what());
  } catch (...) {
    return failed("TOOL_RAISED", "the tool threw something that is no exception");
  }
}

void ToolServer::end_calls() {
  std::unique_lock lock(mutex_);
  auto left = std::move(running_);
  running_.clear();
  lock.unlock();
  for (const auto& [id, call] : left) call.cancel();
  lock.lock();
  changed_.notify_all();
  changed_.wait(lock, [this] { return threads_ == 0; });
}

}  // namespace aeond
