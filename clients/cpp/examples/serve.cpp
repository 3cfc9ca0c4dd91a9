// Offers a function to the runs of its user until Ctrl-C: `aeonctl call greet name=Ann`.
#include <aeond/tools.hpp>
#include <csignal>
#include <thread>

int main() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);

  aeond::Client client;
  aeond::Tool greet;
  greet.spec.set_name("greet");
  greet.spec.set_description("Greets a person by name.");
  greet.spec.set_effect(aeond::api::v1::EFFECT_READ);
  greet.spec.set_input_schema_json(R"({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})");
  greet.execute = [](const aeond::ToolCall& call) { return R"({"greeting": "Hello!", "of": )" + call.arguments_json + "}"; };

  aeond::ToolServer server(client, {greet});
  std::thread stopping([&] {
    int signal = 0;
    sigwait(&interrupts, &signal);
    server.stop();
  });
  server.serve();
  stopping.join();
}
