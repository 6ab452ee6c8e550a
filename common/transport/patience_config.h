#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "common/config/seconds.h"

namespace pacml::transport {

// How long the ends of a conversation (docs/protocol.md) wait for one another, in seconds; each in
// 0.001..1e6, but where another bound is given.
struct PatienceConfig {
  Seconds hello_seconds = 0.5;      // between Hellos that nobody answers
  Seconds ping_seconds = 1;         // of silence, before a client asks whether its server is there
  Seconds silence_seconds = 5;      // after that, before it says Hello again
  Seconds give_up_seconds = 600;    // without a server, before an actor ends
  Seconds move_on_seconds = 30;     // ... before it tries the next learner, where there are several
  Seconds weights_seconds = 0.002;  // that an actor waits for weights, between two messages; >= 0
  Seconds lost_seconds = 2;         // for an answer with weights, before they are asked for again
  Seconds farewell_seconds = 5;     // at most, that a learner waits for its actors to confirm that
                                    // they have heard of its end; 0: it tells them once
  bool operator==(const PatienceConfig&) const = default;
};

template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, PatienceConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("hello_seconds", c.hello_seconds);
  v("ping_seconds", c.ping_seconds);
  v("silence_seconds", c.silence_seconds);
  v("give_up_seconds", c.give_up_seconds);
  v("move_on_seconds", c.move_on_seconds);
  v("weights_seconds", c.weights_seconds);
  v("lost_seconds", c.lost_seconds);
  v("farewell_seconds", c.farewell_seconds);
}

// Every problem, as a sentence that names the key.
[[nodiscard]] std::vector<std::string> validate(const PatienceConfig& config);

}  // namespace pacml::transport
