#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/ids.h"

// What goes wrong when, decided in advance by a seed.

namespace pacml::testing {

enum class Mishap {
  kKill,       // -9; started again when it is over, as a supervisor would
  kSuspend,    // SIGSTOP, then SIGCONT
  kPartition,  // of a link: nothing comes through, nobody is told
  kCut,        // of a link: connections end, new ones are refused
  kSlow,       // of a link: latency and a low rate
};
[[nodiscard]] std::string name_of(Mishap kind);

struct ScriptedMishap {
  std::chrono::milliseconds at{0};  // since the beginning
  std::chrono::milliseconds lasts{0};
  Mishap kind = Mishap::kKill;
  std::size_t victim = 0;                // a role (kill, suspend) or a link
  std::chrono::milliseconds latency{0};  // kSlow
  std::int64_t bytes_per_second = 0;     // kSlow
};

struct Pace {
  std::chrono::milliseconds shortest{100}, longest{1'000};  // mishaps, log-uniformly
  std::chrono::milliseconds mean_pause{300};                // between the beginnings of two
};

// A pure function of its arguments. All are over by `end`; no victim has two mishaps of its
// processes, or two of its links, at once.
[[nodiscard]] std::vector<ScriptedMishap> make_script(Seed seed, std::size_t roles,
                                                      std::size_t links,
                                                      std::chrono::milliseconds end,
                                                      const Pace& pace);

}  // namespace pacml::testing
