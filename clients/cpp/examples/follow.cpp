// Follows a run from an event on, and answers its questions, or cancels it: follow RUN_ID AFTER_SEQ [ANSWER]
#include <aeond/client.hpp>
#include <iostream>

int main(int count, char** words) {
  aeond::Client client;
  auto watch = client.watch(words[1], std::stoll(words[2]));
  while (auto event = watch.next()) {
    if (event->seq()) std::cout << event->seq() << std::endl;  // keep it: a later watch resumes from it
    if (event->has_input_requested() && count > 3) client.answer(words[1], aeond::json_string(words[3]));
    else if (event->has_input_requested()) client.cancel(words[1], "no answer");
  }
}
