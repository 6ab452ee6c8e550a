#include <nlohmann/json.hpp>
#include <string>

#include "apps/trace/trace_replay.h"
#include "common/check.h"
#include "common/result.h"
#include "tests/fuzz/env/targets.h"
#include "tests/support/source_path.h"

namespace pacml::fuzz {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 17;
// Clusters of more servers are slow to build; beyond the second bound they must be refused.
constexpr double kSlowServers = 64;
constexpr double kMostServers = 4096;
constexpr double kManySeconds = 1e6;

// Where the small graphs lie.
std::string profiles() { return testing::source_path("tests/golden/env/graphs").string(); }

json parse(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return json::parse(text, text + bytes.size(), nullptr, false);
}

bool is_slow(const json& document) {
  const auto topology = json::json_pointer("/config/topology");
  if (!document.is_object() || !document.contains(topology)) return false;
  double servers = 1;
  for (const json& side : document[topology]) {
    if (side.is_number()) servers *= side.get<double>();
  }
  return servers > kSlowServers && servers <= kMostServers;
}

// Schedules that are decided in rounds go on for as many as fit into their time.
bool has_many_rounds(const json& document) {
  const json::json_pointer config("/config");
  if (!document.is_object() || !document.contains(config) || !document.contains("jobs")) {
    return false;
  }
  const json& settings = document[config];
  if (!settings.contains("round") && !settings.contains("lockstep")) return false;
  for (const json& job : document["jobs"]) {
    for (const char* key : {"submit", "steps"}) {
      const bool is_there = job.is_object() && job.contains(key) && job[key].is_number();
      if (is_there && job[key].get<double>() > kManySeconds) return true;
    }
  }
  return false;
}

}  // namespace

bool trace(std::span<const std::byte> bytes) {
  if (bytes.size() > kMostBytes) return false;
  const json document = parse(bytes);
  if (document.is_discarded() || is_slow(document) || has_many_rounds(document)) {
    return false;
  }
  try {
    const json replayed = apps::replay_trace(document, profiles());
    PACML_CHECK(apps::replay_trace(replayed, profiles()) == replayed,
                "what is replayed must replay to itself");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
