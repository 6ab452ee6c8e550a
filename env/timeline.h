#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// What runs where and when, as people look at it: operations on servers, transfers between them.
// Data alone, for whoever draws it.

namespace pacml::env {

// Somewhere that can be busy.
struct TimelineLane {
  std::string group;  // lanes of one group are shown together: "servers"
  std::string name;   // "server 5"
};

struct TimelineSpan {
  std::size_t lane = 0;
  std::string name;  // "forward op 12, piece 3 of 8"
  double begins = 0;
  double ends = 0;
  std::optional<double> bytes;  // of a transfer
  std::string to;               // where it goes; empty: no transfer, or not to one place
};

// Value type.
struct Timeline {
  std::string title;                 // "one training step of resnet18, degree 8"
  std::string unit;                  // of all times, for people
  double microseconds_per_unit = 1;  // as others draw it
  double ends = 0;                   // of the last span
  std::vector<TimelineLane> lanes;   // those of a group next to each other
  std::vector<TimelineSpan> spans;   // those of a lane may overlap
};

// An environment that can say what would run where if an action was taken. Thread-confined, as the
// environment is.
class Timed {
 public:
  virtual ~Timed() = default;
  // Of the current decision; nullopt: nothing would run. Pre: as Environment::step().
  [[nodiscard]] virtual std::optional<Timeline> timeline(int action) const = 0;
};

}  // namespace pacml::env
