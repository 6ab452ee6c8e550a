// Replays recorded schedules and compares every recorded quantity. Two sets: our own, made by an
// independent implementation (make_golden.py), and the reference recordings, three of them
// completion times of Gavel's simulator, where the machine has them.

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/trace/trace_replay.h"
#include "common/result.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/recordings.h"

namespace pacml {
namespace {

using nlohmann::json;
using testing::difference;
using testing::read_json;
using testing::recordings_in;
using testing::spoil;
namespace fs = std::filesystem;

constexpr const char* kOwn = "tests/golden/gpu_cluster";

// Ids are compared with the same measure: they differ by 1 or not at all.
std::string difference(const json& recorded, const json& replayed) {
  const double share = recorded.contains("gavel_jct") ? 0 : 1e-9;
  for (const auto& [key, value] : recorded.items()) {
    if (!replayed.contains(key)) return key + " is absent";
    const bool is_mean = key == "metrics";
    auto found = difference(value, replayed[key], key, {.share = is_mean ? 1e-9 : share});
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<fs::path> reference_recordings() {
  return recordings_in(testing::source_path("").parent_path().parent_path() / "shared" /
                       "golden_cluster");
}

json replay(const json& document, bool take_decisions = false) {
  return apps::replay_trace(document, "", take_decisions);
}

constexpr auto kResults = {"decisions", "finish", "metrics", "rewards", "gavel_jct"};

void check_all(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    INFO(file.filename().string());
    const json recorded = read_json(file);
    CHECK(difference(recorded, replay(recorded)) == "");
    json spoiled = recorded;
    for (const char* key : kResults) {
      if (spoiled.contains(key)) spoil(spoiled[key]);
    }
    CHECK(difference(recorded, replay(spoiled)) == "");
  }
}

// What was decided is taken from the recording, what came of it is computed anew.
void check_decisions_of_all(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    INFO(file.filename().string());
    const json recorded = read_json(file);
    if (recorded.at("config").contains("lockstep")) continue;
    json spoiled = recorded;
    for (const char* key : {"finish", "metrics", "rewards"}) spoil(spoiled[key]);
    for (json& decision : spoiled["decisions"]) {
      if (decision[2].is_array()) spoil(decision[3]);
    }
    // It is not asked for, but for where it offers places to agents.
    if (recorded["config"]["policy"]["order"] != "agent") {
      spoiled["config"]["policy"] = {{"order", "fifo"}, {"place", "random"}};
    }
    const json replayed = replay(spoiled, true);
    for (const char* key : {"decisions", "finish", "metrics", "rewards"}) {
      CHECK(difference(recorded[key], replayed[key], key, {.share = 1e-9}) == "");
    }
  }
}

TEST_CASE("schedules recorded by an independent simulator are reproduced, and put right",
          "[golden][gpu_cluster]") {
  const auto files = recordings_in(testing::source_path(kOwn));
  REQUIRE(files.size() >= 20);
  check_all(files);
}

TEST_CASE("decisions of a recorded schedule are replayed without its policy",
          "[golden][gpu_cluster]") {
  check_decisions_of_all(recordings_in(testing::source_path(kOwn)));
}

TEST_CASE("the reference's schedules are reproduced, Gavel's to the last bit, where present",
          "[golden][gpu_cluster]") {
  const auto files = reference_recordings();
  if (files.empty()) {
    WARN("this test is skipped: this machine has no reference recordings beside the project");
    return;
  }
  CHECK(files.size() >= 29);
  check_all(files);
  check_decisions_of_all(files);
}

TEST_CASE("a comparison of schedules notices a changed figure and a missing one",
          "[golden][gpu_cluster]") {
  const json recorded = {{"finish", {{0, 1.0, 2.0}}}, {"metrics", {{"avg_jct", 1.0}}}};
  CHECK(difference(recorded, recorded) == "");
  json changed = recorded;
  changed["finish"][0][2] = 2.0 + 1e-8;
  CHECK(difference(recorded, changed) != "");
  changed = recorded;
  changed["finish"][0].push_back(1);
  CHECK(difference(recorded, changed) != "");
  changed = recorded;
  changed["metrics"].erase("avg_jct");
  CHECK(difference(recorded, changed) != "");
  json gavel = {{"gavel_jct", {1.0}}};
  changed = gavel;
  changed["gavel_jct"][0] = std::nextafter(1.0, 2.0);
  CHECK(difference(gavel, changed) != "");
}

TEST_CASE("a recording of a schedule that makes no sense is refused in a sentence",
          "[golden][gpu_cluster]") {
  const json good = read_json(testing::source_path(std::string(kOwn) + "/c03_share.json"));
  const auto refusal_of = [](const json& document, bool take_decisions) -> std::string {
    try {
      static_cast<void>(replay(document, take_decisions));
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto refusal = [&](const char* pointer, const json& value, bool take_decisions = false) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    return refusal_of(bad, take_decisions);
  };
  REQUIRE(refusal_of(good, false) == "accepted");
  REQUIRE(refusal_of(good, true) == "accepted");
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(refusal("/config/topology/sockets", 0),
             contains("config.topology.sockets: expected a whole number from 1"));
  CHECK_THAT(refusal("/config/topology/servers", 3), contains("gpu_types"));
  CHECK_THAT(refusal("/config/topology/servers", 1 << 30),
             contains("servers: must be in 1..1048576"));
  CHECK_THAT(refusal("/config/topology/gpu_types/0", "x"), contains("gpu_types[0]"));
  CHECK_THAT(refusal("/config/share", 3), contains("share: must be 1 or 2"));
  CHECK_THAT(refusal("/config/kappa", {1, 2}), contains("config.kappa"));
  CHECK_THAT(refusal("/config/partitions", 100), contains("partitions"));
  CHECK_THAT(refusal("/config/round", -1), contains("round_s"));
  CHECK_THAT(refusal("/config/policy/order", "lifo"), contains("one of fifo, srtf"));
  CHECK_THAT(refusal("/config/policy/window", -2), contains("config.policy.window"));
  CHECK_THAT(refusal("/config/types/vision/thr/fast/1", {-1, 1}), contains("\"vision\""));
  CHECK_THAT(refusal("/config/types/vision/thr/fast/1", {0, 1}),
             contains("\"vision\" has no speed on 1 GPUs"));
  CHECK_THAT(refusal("/config/types/vision/thr/fast", {{"x", {1, 1}}}),
             contains("\"x\" is no number of GPUs"));
  CHECK_THAT(refusal("/config/types/vision/thr", json::object()), contains("has no speed on"));
  CHECK_THAT(refusal("/config/pairs/fast/vision/vision", -1), contains("share must be 0 or in"));
  CHECK_THAT(refusal("/config/lockstep", 0), contains("lockstep"));
  CHECK_THAT(refusal("/jobs", json::array()), contains("there are no jobs"));
  CHECK_THAT(refusal("/jobs/1/submit", -1), contains("job 1: its time of arrival"));
  CHECK_THAT(refusal("/jobs/1/steps", 0), contains("job 1: its steps"));
  CHECK_THAT(refusal("/jobs/1/type", "none"), contains("job 1: there is no job type \"none\""));
  CHECK_THAT(refusal("/jobs/1/gpus", 64), contains("job 1: it wants 64 GPUs, the cluster has 8"));
  CHECK_THAT(refusal("/jobs/1/gpus", 5), contains("has no speed on 5 GPUs"));
  CHECK_THAT(refusal("/jobs/1/comm", "smoke"), contains("one of ring, ps"));
  json agents = read_json(testing::source_path(std::string(kOwn) + "/c17_agents_home.json"));
  auto& speeds = agents["config"]["types"][agents["jobs"][0]["type"].get<std::string>()]["thr"];
  speeds["fast"]["32"] = {1.0, 1.0};
  agents["jobs"][0]["gpus"] = 32;
  CHECK_THAT(refusal_of(agents, false),
             contains("job 0: it wants 32 GPUs, the largest partition has 24"));
  agents["config"]["round"] = 0;
  CHECK(refusal_of(agents, false) == "accepted");  // it waits for ever
  CHECK_THAT(refusal("/decisions/0/1", 99, true), contains("there is no such job"));
  CHECK_THAT(refusal("/decisions/0/0", -1, true), contains("before the first arrival"));
  CHECK_THAT(refusal("/decisions/1/0", 0, true), contains("earlier than the one before"));
  CHECK_THAT(refusal("/decisions/1/1", good["decisions"][0][1], true),
             contains("does not wait then"));
  CHECK_THAT(refusal("/decisions/0/2", {0, 1, 2, 3, 4}, true), contains("GPUs"));
  CHECK_THAT(refusal("/decisions/0/2/0", 99, true), contains("GPU 99 is not there"));
  CHECK_THAT(refusal("/decisions/0/2", "act", true), contains("decisions[0]"));
}

TEST_CASE("a decision at the time of an arrival is taken then, also between rounds",
          "[golden][gpu_cluster]") {
  const json recorded = json::parse(R"({
    "format": "cluster-golden-1",
    "config": {"topology": {"gpus_per_group": 1, "groups_per_socket": 1, "sockets": 1, "servers": 1,
                            "gpu_types": [["g", 1]]},
               "types": {"t": {"thr": {"g": {"1": [1, 1]}}}}, "round": 60, "policy": {}},
    "jobs": [{"submit": 10, "type": "t", "gpus": 1, "steps": 5}],
    "decisions": [[10, 0, [0], []]]})");
  CHECK(replay(recorded, true).at("finish") == json::parse("[[0, 10.0, 15.0]]"));
}

TEST_CASE("a decision when nothing else happens any more is taken", "[golden][gpu_cluster]") {
  const json recorded = json::parse(R"({
    "format": "cluster-golden-1",
    "config": {"topology": {"gpus_per_group": 1, "groups_per_socket": 1, "sockets": 1, "servers": 1,
                            "gpu_types": [["g", 1]]},
               "types": {"t": {"thr": {"g": {"1": [1, 1]}}}}, "policy": {}},
    "jobs": [{"submit": 0, "type": "t", "gpus": 1, "steps": 5}],
    "decisions": [[7, 0, [0], []]]})");
  CHECK(replay(recorded, true).at("finish") == json::parse("[[0, 7.0, 12.0]]"));
}

}  // namespace
}  // namespace pacml
