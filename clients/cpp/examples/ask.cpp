// Sends a request to aeond, prints the steps as they end, and the answer.
#include <aeond/client.hpp>
#include <iostream>

int main(int count, char** words) {
  aeond::Client client;
  auto watch = client.ask(count > 1 ? words[1] : "What is 17.5% of 2400?");
  while (auto event = watch.next()) {
    if (event->has_step_ended()) std::cerr << event->step_ended().step_id() << " has ended\n";
    if (event->has_answer_composed()) std::cout << event->answer_composed().answer().text() << '\n';
  }
}
