#include "aeond/client.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "errors.hpp"
#include "open_calls.hpp"

namespace aeond {
namespace {

using api::v1::RunService;
using std::chrono::steady_clock;
using std::chrono::system_clock;

Connection connect(const std::string& socket, std::shared_ptr<OpenCalls> open) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A local daemon restarts within a second; gRPC would wait up to two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  // A run with all its outputs; an event is far smaller.
  arguments.SetMaxReceiveMessageSize(64 << 20);
  auto channel = grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
  return {channel, RunService::NewStub(channel), std::move(open)};
}

std::string random_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/uuid"), id);
  return id;
}

Error broken(const char* reason, const char* message) {
  return Error(message, grpc::StatusCode::UNAVAILABLE, reason);
}

template <typename Request, typename Response>
Run call(const Connection& connection, const Options& options, const Request& request, bool repeatable,
         grpc::Status (RunService::Stub::*method)(grpc::ClientContext*, const Request&, Response*)) {
  for (int attempt = 1;; ++attempt) {
    const auto context = connection.open->begin();
    context->set_deadline(system_clock::now() + options.call_deadline);
    Response response;
    const auto status = (connection.stub.get()->*method)(context.get(), request, &response);
    if (status.ok()) return response.run();
    const auto error = connection.open->cause_of(error_of(status, *context));
    if (attempt >= options.attempts || !may_repeat(error, repeatable)) throw error;
    connection.open->pause(*connection.channel, delay(attempt, milliseconds(50), milliseconds(2'000), error.retry_after));
  }
}

}  // namespace

std::string json_string(const std::string& text) {
  std::string made = "\"";
  for (const char character : text) {
    char escaped[8];
    if (static_cast<unsigned char>(character) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", character);
      made += escaped;
    } else {
      if (character == '"' || character == '\\') made += '\\';
      made += character;
    }
  }
  return made + '"';
}

Client::Client(Options options) : options_(std::move(options)) {
  const auto socket = find_socket(options_.socket);
  const auto open = std::make_shared<OpenCalls>();
  calls_ = connect(socket, open);
  streams_ = connect(socket, open);
}

void Client::close() { calls_.open->close(); }

Watch Client::ask(const std::string& text) {
  CreateRunRequest request;
  request.mutable_request()->set_text(text);
  return ask(request);
}

Watch Client::ask(const CreateRunRequest& request) { return watch(create(request).run_id()); }

Watch Client::watch(const std::string& run_id, std::int64_t after_seq) {
  return Watch(streams_, run_id, after_seq, options_);
}

Run Client::create(CreateRunRequest request) {
  if (request.request().request_id().empty()) request.mutable_request()->set_request_id(random_id());
  return call(calls_, options_, request, true, &RunService::Stub::CreateRun);
}

Run Client::get(const std::string& run_id) {
  api::v1::GetRunRequest request;
  request.set_run_id(run_id);
  return call(calls_, options_, request, true, &RunService::Stub::GetRun);
}

Run Client::answer(const std::string& run_id, const std::string& answer_json, const std::string& question_id) {
  api::v1::AnswerRunRequest request;
  request.set_run_id(run_id);
  request.set_question_id(question_id);
  request.set_answer_json(answer_json);
  return call(calls_, options_, request, false, &RunService::Stub::AnswerRun);
}

Run Client::cancel(const std::string& run_id, const std::string& reason) {
  api::v1::CancelRunRequest request;
  request.set_run_id(run_id);
  request.set_reason(reason);
  return call(calls_, options_, request, true, &RunService::Stub::CancelRun);
}

Watch::Watch(Connection connection, std::string run_id, std::int64_t after_seq, Options options)
    : connection_(std::move(connection)),
      run_id_(std::move(run_id)),
      options_(std::move(options)),
      first_seq_(after_seq),
      last_seq_(after_seq) {}

Watch::~Watch() { close(); }

std::optional<Event> Watch::next() {
  while (true) {
    while (reader_ && position_ < page_.events_size()) {
      Event& event = *page_.mutable_events(position_++);
      if (event.seq() > last_seq_ + 1) {
        close();
        wait_or_throw(broken("EVENTS_MISSING", "Events are missing in the stream."));
      } else if (accept(event)) {
        return std::move(event);
      }
    }
    if (ended_) return std::nullopt;
    if (!reader_) open();
    position_ = 0;
    if (reader_->Read(&page_)) continue;
    page_.Clear();
    const auto status = reader_->Finish();
    // A watch that starts at the last event of an ended run has nothing to receive.
    ended_ = ended_ || (status.ok() && first_seq_ > 0 && first_seq_ == last_seq_);
    if (!ended_) {
      auto error = status.ok() ? broken("STREAM_ENDED", "The stream ended before the run did.")
                               : connection_.open->cause_of(error_of(status, *context_));
      close();
      wait_or_throw(std::move(error));
    }
  }
}

void Watch::open() {
  api::v1::WatchRunRequest request;
  request.set_run_id(run_id_);
  request.set_after_seq(last_seq_);
  context_ = connection_.open->begin();
  context_->set_deadline(system_clock::now() + options_.stream_deadline);
  reader_ = connection_.stub->WatchRun(context_.get(), request);
  // The daemon sends these when it accepts the watch, before any event.
  reader_->WaitForInitialMetadata();
  opened_at_ = steady_clock::now();
}

void Watch::close() {
  if (context_) context_->TryCancel();
  page_.Clear();
  reader_.reset();
  context_.reset();
}

bool Watch::accept(const Event& event) {
  if (event.seq() == 0) return true;
  if (event.seq() <= last_seq_) return false;
  last_seq_ = event.seq();
  ended_ = event.has_run_ended();
  lost_at_.reset();
  tries_ = 0;
  return true;
}

void Watch::wait_or_throw(Error error) {
  if (error.reason == "CLIENT_CLOSED" || !may_follow_on(error)) throw error;
  const auto now = steady_clock::now();
  // A stream that lived this long worked; its failure is a new outage, or the renewal of an idle stream.
  const bool lasted = now - opened_at_ >= std::chrono::seconds(5);
  if (!lost_at_ || lasted) {
    lost_at_ = now;
    tries_ = 0;
  }
  if (lasted && error.reason == "TIMED_OUT") return;
  const auto left = std::chrono::duration_cast<milliseconds>(*lost_at_ + options_.patience - now);
  if (left.count() <= 0) throw error;
  connection_.open->pause(*connection_.channel,
                          std::min(left, delay(++tries_, milliseconds(20), milliseconds(500), error.retry_after)));
}

}  // namespace aeond
