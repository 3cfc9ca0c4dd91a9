// The program that the conformance suite runs; docs/clients.md has its results.
//
//     driver ask REQUEST_JSON | watch RUN_ID AFTER_SEQ | answer RUN_ID ANSWER_JSON | cancel RUN_ID REASON
//     driver close RUN_ID | closed RUN_ID | serve [SECONDS]
//
// Prints each event, or the error, as a line of JSON.
#include <aeond/client.hpp>
#include <google/protobuf/util/json_util.h>
#include <future>
#include <iostream>
#include <vector>

#include "tools.hpp"

namespace json = google::protobuf::util;

// A given client is closed while the watch waits for the answer to a question.
void print_all(aeond::Watch watch, aeond::Client* closing = nullptr) {
  std::future<void> closed;
  while (auto event = watch.next()) {
    std::string line;
    if (!json::MessageToJsonString(*event, &line).ok()) throw std::runtime_error("an event is not valid UTF-8");
    std::cout << line << std::endl;
    if (closing && event->has_input_requested())
      closed = std::async(std::launch::async, [closing] { closing->close(); });
  }
}

int main(int count, char** given) {
  const std::vector<std::string> words(given + 1, given + count);
  block_interrupts();
  try {
    aeond::Client client;
    if (words.at(0) == "ask") {
      aeond::CreateRunRequest request;
      if (!json::JsonStringToMessage(words.at(1), &request).ok()) throw std::runtime_error("not a request");
      print_all(client.ask(request));
    } else if (words.at(0) == "watch") {
      print_all(client.watch(words.at(1), std::stoll(words.at(2))));
    } else if (words.at(0) == "close") {
      print_all(client.watch(words.at(1)), &client);
    } else if (words.at(0) == "closed") {
      client.close();
      client.cancel(words.at(1));
    } else if (words.at(0) == "answer") {
      client.answer(words.at(1), words.at(2));
    } else if (words.at(0) == "cancel") {
      client.cancel(words.at(1), words.at(2));
    } else if (words.at(0) == "serve") {
      serve(client, words.size() > 1 ? std::stod(words.at(1)) : 0);
    }
  } catch (const aeond::Error& error) {
    // Reasons and fields are words without characters that JSON escapes.
    std::cout << R"({"error":{"reason":")" << error.reason << R"(","field":")" << error.field << "\"}}" << std::endl;
    return 1;
  }
}
