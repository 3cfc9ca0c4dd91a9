#include "tools.hpp"

#include <aeond/tools.hpp>
#include <condition_variable>
#include <csignal>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

namespace {

std::mutex mutex;
std::condition_variable changed;
std::set<std::string> held;

aeond::Tool tool(const char* name, aeond::api::v1::Effect effect, std::function<std::string(const aeond::ToolCall&)> execute) {
  aeond::Tool made{{}, std::move(execute)};
  made.spec.set_name(name);
  made.spec.set_description("Of the suite.");
  made.spec.set_effect(effect);
  return made;
}

std::string hold(const aeond::ToolCall& call) {
  std::unique_lock lock(mutex);
  held.insert(call.call_id);
  // Ids are words without characters that JSON escapes.
  std::cout << R"({"began":")" << call.call_id << R"(","running":)" << held.size() << "}" << std::endl;
  lock.unlock();
  call.on_cancel([id = call.call_id] {
    const std::lock_guard lock(mutex);
    std::cout << R"({"cancelled":")" << id << "\"}" << std::endl;
    held.erase(id);
    changed.notify_all();
  });
  lock.lock();
  changed.wait(lock, [&] { return held.count(call.call_id) == 0; });
  return R"({"held":")" + call.call_id + "\"}";
}

void release() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::lock_guard lock(mutex);
    held.clear();
    changed.notify_all();
  }
}

}  // namespace

void block_interrupts() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
}

void serve(aeond::Client& client, double limit_seconds) {
  using namespace aeond::api::v1;
  auto echo = tool("suite_echo", EFFECT_READ, [](const aeond::ToolCall& call) { return call.arguments_json; });
  echo.spec.set_input_schema_json(
      R"({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false})");
  auto refuse = tool("suite_refuse", EFFECT_READ, [](const aeond::ToolCall&) -> std::string {
    throw aeond::ToolFailure("no such page", "PAGE_UNKNOWN");
  });
  auto broken = tool("suite_break", EFFECT_READ,
                     [](const aeond::ToolCall&) -> std::string { throw std::runtime_error("broken"); });
  auto flood = tool("suite_flood", EFFECT_READ,
                    [](const aeond::ToolCall&) { return '"' + std::string(20 << 20, 'x') + '"'; });
  auto waiting = tool("suite_hold", EFFECT_WRITE_OUTSIDE, hold);
  waiting.spec.set_timeout_seconds(limit_seconds);
  aeond::ServeOptions options;
  options.source = "suite";
  options.max_calls = 2;
  options.accepted = [first = true](const std::vector<std::string>& names) mutable {
    if (!first) return;
    first = false;
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "\"" : ",\"") + name + "\"";
    std::cout << "{\"serving\":[" << list << "]}" << std::endl;
  };
  aeond::ToolServer server(client, {echo, refuse, broken, flood, waiting}, options);
  std::thread(release).detach();
  std::thread stopping([&server] {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    int signal = 0;
    sigwait(&interrupts, &signal);
    server.stop();
  });
  try {
    server.serve();
  } catch (...) {
    stopping.detach();
    throw;
  }
  stopping.join();
}
