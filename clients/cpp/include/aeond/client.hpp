// The C++ client of aeond: creates runs, follows their events, answers their questions and cancels them.
//
//     aeond::Client client;
//     auto watch = client.ask("What is 17.5% of 2400?");
//     while (auto event = watch.next())
//       if (event->has_answer_composed()) std::cout << event->answer_composed().answer().text() << '\n';
//
// Every wait has a deadline and every retry a limit. Failed calls throw Error.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "aeond/api/v1/runs.grpc.pb.h"

namespace aeond {

using api::v1::CreateRunRequest;
using api::v1::Event;
using api::v1::Run;
using std::chrono::milliseconds;

// The text as JSON, for Client::answer: in quotes, with those inside of it escaped.
std::string json_string(const std::string& text);

// A failed call. `reason` is a stable UPPER_SNAKE word for programs; docs/api.md lists them. what() is for people.
struct Error : std::runtime_error {
  Error(const std::string& message, grpc::StatusCode code, std::string reason);

  grpc::StatusCode code;
  std::string reason;
  std::string field;            // the invalid part of the request; empty: none
  std::string error_id;         // an id to search for in the daemon's log; empty: none
  milliseconds retry_after{0};  // the delay that the daemon asks for; 0: none
};

struct Options {
  // Path of the socket. Empty: $AEOND_SOCKET, else the socket of the user's daemon, else that of the system's.
  std::string socket;
  // Deadline of each attempt of a call.
  milliseconds call_deadline{30'000};
  // Attempts of a call that is safe to repeat.
  int attempts = 6;
  // How long a watch waits for a daemon that has gone away before next() throws the error.
  milliseconds patience{60'000};
  // A stream is renewed after this time, so that a daemon that hangs is noticed.
  milliseconds stream_deadline{600'000};
};

class OpenCalls;

// A channel and the calls that use it.
struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  std::shared_ptr<api::v1::RunService::Stub> stub;
  std::shared_ptr<OpenCalls> open;
};

// The events of a run in order, without gaps or duplicates, across lost connections and restarts of the daemon.
// Not thread-safe; from another thread, Client::close() ends it. Its destructor ends the stream; the run continues.
class Watch {
 public:
  // The next event; nullopt after the last one. Waits for it. Events with seq 0 are live updates, which are not
  // repeated. An event of a kind that this client does not have has no kind set: ignore it.
  // Throws Error if the daemon rejects the watch or stays away for longer than `patience`, or the client was closed.
  std::optional<Event> next();

  // The position from which another watch can resume, also in another process.
  std::int64_t last_seq() const { return last_seq_; }
  const std::string& run_id() const { return run_id_; }

  Watch(Watch&&) = default;
  ~Watch();

 private:
  friend class Client;
  Watch(Connection connection, std::string run_id, std::int64_t after_seq, Options options);
  void open();
  void close();
  bool accept(const Event& event);
  void wait_or_throw(Error error);

  Connection connection_;
  std::string run_id_;
  Options options_;
  std::int64_t first_seq_;
  std::int64_t last_seq_;
  bool ended_ = false;
  int tries_ = 0;
  std::chrono::steady_clock::time_point opened_at_;
  std::optional<std::chrono::steady_clock::time_point> lost_at_;
  std::shared_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReader<api::v1::WatchRunResponse>> reader_;
  api::v1::WatchRunResponse page_;
  int position_ = 0;
};

// A connection to the daemon. Thread-safe. Throws Error (NO_DAEMON) if no daemon is listening.
class Client {
 public:
  explicit Client(Options options = {});

  // Ends every watch and call, from any thread, with the reason CLIENT_CLOSED, which later ones have, too; runs continue.
  // Copies of a client are closed with it. A ToolServer has its own stop().
  void close();

  // Creates a run and follows it from its first event.
  Watch ask(const std::string& text);
  Watch ask(const CreateRunRequest& request);
  // Follows a run after an event; 0: from the first one.
  Watch watch(const std::string& run_id, std::int64_t after_seq = 0);

  // Returns once the run is on disk. Without a request_id it gets a random one, so that a repeat is safe.
  Run create(CreateRunRequest request);
  Run get(const std::string& run_id);
  // Answers a question with JSON text, such as json_string("blue"). An empty question_id means the only open question.
  Run answer(const std::string& run_id, const std::string& answer_json, const std::string& question_id = "");
  // Requests the cancellation of a run; a run that has ended stays unchanged.
  Run cancel(const std::string& run_id, const std::string& reason = "");

 private:
  friend class ToolServer;
  Options options_;
  // A stream that is not read must not delay a call, so the two have connections of their own.
  Connection calls_;
  Connection streams_;
};

}  // namespace aeond
