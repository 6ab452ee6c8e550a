#include "tests/fault/chaos/script.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/rng.h"

namespace pacml::testing {
namespace {

using std::chrono::milliseconds;

// Log-uniform in [least, most].
double between(Rng& rng, double least, double most) {
  return least * std::pow(most / least, rng.uniform());
}

milliseconds time_between(Rng& rng, milliseconds least, milliseconds most) {
  return milliseconds(static_cast<std::int64_t>(
      between(rng, static_cast<double>(least.count()), static_cast<double>(most.count()))));
}

}  // namespace

std::string name_of(Mishap kind) {
  static const std::array<std::string, 5> names = {"kill", "suspend", "partition", "cut", "slow"};
  return names.at(static_cast<std::size_t>(kind));
}

std::vector<ScriptedMishap> make_script(Seed seed, std::size_t roles, std::size_t links,
                                        milliseconds end, const Pace& pace) {
  Rng rng(seed);
  std::vector<ScriptedMishap> script;
  // When each is free for the next one.
  std::vector<milliseconds> role_free(roles);
  std::vector<milliseconds> link_free(links);
  for (milliseconds at{0}; at < end;) {
    ScriptedMishap mishap;
    mishap.at = at;
    mishap.kind = static_cast<Mishap>(rng.below(5));
    const bool of_role = mishap.kind == Mishap::kKill || mishap.kind == Mishap::kSuspend;
    mishap.victim = rng.below(of_role ? roles : links);
    mishap.lasts = time_between(rng, pace.shortest, pace.longest);
    mishap.latency = time_between(rng, milliseconds(5), milliseconds(200));
    mishap.bytes_per_second = static_cast<std::int64_t>(between(rng, 2e4, 2e6));
    milliseconds& free = (of_role ? role_free : link_free)[mishap.victim];
    if (free <= at && at + mishap.lasts <= end) {
      free = at + mishap.lasts;
      script.push_back(mishap);
    }
    const double pause =
        -std::log(1 - rng.uniform()) * static_cast<double>(pace.mean_pause.count());
    at += milliseconds(1 + static_cast<std::int64_t>(pause));
  }
  return script;
}

}  // namespace pacml::testing
