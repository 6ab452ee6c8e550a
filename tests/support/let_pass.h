#pragma once

#include "common/clock.h"
#include "common/serving/status_board.h"
#include "tests/support/soon.h"

namespace pacml::testing {

// Until a server on that clock has looked for silent peers, which its board shows. Pre: at least
// the second between two looks.
inline void let_pass(Duration time, ManualClock& clock, const serving::StatusBoard& board) {
  clock.advance(time);
  wait_until("the server has looked for silent peers", [&] {
    const auto newest = board.newest();
    return newest != nullptr && newest->taken == clock.now();
  });
}

}  // namespace pacml::testing
