#pragma once

#include <optional>

#include "common/clock.h"

namespace pacml::serving {

// Whether it was a server that was away, and not the peers that it has not heard of. A process that
// was suspended finds what they said meanwhile unread, and the last word of everybody as old as its
// own absence: their silence is measured from its return. Thread-confined.
class OwnAbsence {
 public:
  // `every`: about how far apart turns are; three times that, and the server was away. `silence`:
  // after which a peer is forgotten.
  OwnAbsence(Duration every, Duration silence) : longest_gap_(3 * every), silence_(silence) {}

  // A turn of the server. Whether it may forget peers that have been silent for so long: it was
  // there to hear them.
  [[nodiscard]] bool turn(TimePoint now) {
    if (last_turn_ && now - *last_turn_ > longest_gap_) may_forget_from_ = now + silence_;
    last_turn_ = now;
    return now >= may_forget_from_;
  }

 private:
  Duration longest_gap_;
  Duration silence_;
  std::optional<TimePoint> last_turn_;
  TimePoint may_forget_from_ = TimePoint::min();
};

}  // namespace pacml::serving
