#include "apps/trace/gpu_cluster_json.h"

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/result.h"

namespace pacml::apps {
namespace {

using nlohmann::json;
using namespace pacml::env;  // NOLINT(google-build-using-namespace): this file speaks of little
                             // else

constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();

// A value and where it stands in the recording, for error messages.
class Member {
 public:
  Member(const json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const char* key) const {
    return value_->is_object() && value_->contains(key);
  }
  [[nodiscard]] Member operator[](const std::string& key) const {
    const auto it = value_->is_object() ? value_->find(key) : value_->end();
    if (!value_->is_object() || it == value_->end()) {
      throw UserError(path_ + ": it has no \"" + key + "\"");
    }
    return {*it, path_ + "." + key};
  }
  [[nodiscard]] double number() const {
    if (!value_->is_number()) fail("a number");
    return value_->get<double>();
  }
  [[nodiscard]] std::int64_t whole(std::int64_t least = 0, std::int64_t most = kMostInt) const {
    const double v = value_->is_number() ? value_->get<double>() : std::nan("");
    if (!(v >= static_cast<double>(least) && v <= static_cast<double>(most)) ||
        v != std::floor(v)) {
      fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<std::int64_t>(v);
  }
  [[nodiscard]] int integer(int least = 0) const { return static_cast<int>(whole(least)); }
  // true, false, or a number that is 0 where it is false.
  [[nodiscard]] bool flag() const {
    if (value_->is_boolean()) return value_->get<bool>();
    return number() != 0;
  }
  [[nodiscard]] std::string text() const {
    if (!value_->is_string()) fail("a text");
    return value_->get<std::string>();
  }
  template <NamedEnum Enum>
  [[nodiscard]] Enum name() const {
    const std::string text = this->text();
    std::string names;
    for (const auto& entry : enum_names(Enum{})) {
      if (entry.name == text) return entry.value;
      names += (names.empty() ? "" : ", ") + std::string(entry.name);
    }
    fail("one of " + names);
  }
  template <class F>
  void for_each(F f) const {
    if (!value_->is_array()) fail("a list");
    for (std::size_t i = 0; i < value_->size(); ++i) {
      f(Member((*value_)[i], path_ + "[" + std::to_string(i) + "]"));
    }
  }
  template <class F>
  void for_each_key(F f) const {
    if (!value_->is_object()) fail("an object");
    for (const auto& [key, value] : value_->items()) f(key, Member(value, path_ + "." + key));
  }
  [[nodiscard]] std::size_t size() const {
    if (!value_->is_array()) fail("a list");
    return value_->size();
  }
  [[nodiscard]] Member at(std::size_t i) const {
    if (i >= size()) throw UserError(path_ + ": it has only " + std::to_string(size()) + " parts");
    return {(*value_)[i], path_ + "[" + std::to_string(i) + "]"};
  }
  [[nodiscard]] const json& value() const { return *value_; }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw UserError(path_ + ": expected " + expected + ", found " + value_->dump().substr(0, 60));
  }

  const json* value_;
  std::string path_;
};

GpuTopologyConfig topology_of(const Member& recorded) {
  GpuTopologyConfig c;
  c.gpus_per_group = recorded["gpus_per_group"].integer(1);
  c.groups_per_socket = recorded["groups_per_socket"].integer(1);
  c.sockets = recorded["sockets"].integer(1);
  if (recorded.has("dims") && !recorded["dims"].value().is_null()) {
    recorded["dims"].for_each([&](const Member& side) { c.dims.push_back(side.integer(1)); });
  } else {
    c.servers = recorded["servers"].integer(1);
  }
  if (recorded.has("servers_per_rack")) {
    c.servers_per_rack = recorded["servers_per_rack"].integer(1);
  }
  if (recorded.has("racks_per_pod") && !recorded["racks_per_pod"].value().is_null()) {
    c.racks_per_pod = recorded["racks_per_pod"].integer();
  }
  if (recorded.has("oversub_rack")) c.oversub_rack = recorded["oversub_rack"].number();
  if (recorded.has("oversub_pod")) c.oversub_pod = recorded["oversub_pod"].number();
  c.gpu_types.clear();
  recorded["gpu_types"].for_each([&](const Member& type) {
    c.gpu_types.push_back({type.at(0).text(), type.at(1).integer(1)});
  });
  return c;
}

// The number of GPUs that a key of a table spells.
int size_of(const std::string& key, const Member& of) {
  const bool is_number =
      !key.empty() && key.size() < 9 && key.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) throw UserError(of.path() + ": \"" + key + "\" is no number of GPUs");
  return std::stoi(key);
}

GpuSpeedTables tables_of(const Member& config) {
  GpuSpeedTables tables;
  config["types"].for_each_key([&](const std::string& name, const Member& type) {
    GpuJobType& out = tables.types[name];
    if (type.has("host")) out.host_load = type["host"].number();
    type["thr"].for_each_key([&](const std::string& gpu_type, const Member& sizes) {
      sizes.for_each_key([&](const std::string& size, const Member& speed) {
        out.speeds[gpu_type][size_of(size, sizes)] = {speed.at(0).number(), speed.at(1).number()};
      });
    });
  });
  if (!config.has("pairs")) return tables;
  config["pairs"].for_each_key([&](const std::string& gpu_type, const Member& rows) {
    rows.for_each_key([&](const std::string& a, const Member& row) {
      row.for_each_key([&](const std::string& b, const Member& share) {
        if (!share.value().is_null()) tables.pairs[gpu_type][a][b] = share.number();
      });
    });
  });
  return tables;
}

GpuRulesConfig rules_of(const Member& policy) {
  GpuRulesConfig c;
  if (policy.has("order")) c.order = policy["order"].name<ScheduleOrder>();
  if (policy.has("place")) c.place = policy["place"].name<PlacementRule>();
  if (policy.has("strict")) c.strict = policy["strict"].flag();
  if (policy.has("window") && !policy["window"].value().is_null()) {
    c.window = policy["window"].integer();
  }
  if (policy.has("max_cost")) c.max_cost = policy["max_cost"].number();
  if (policy.has("eps")) c.eps = policy["eps"].number();
  if (policy.has("preempt")) c.preempt = policy["preempt"].flag();
  if (policy.has("seed")) {
    // All 64 bits of a whole number; of a fraction, no.
    const json& seed = policy["seed"].value();
    c.seed = seed.is_number_integer() ? seed.get<std::uint64_t>()
                                      : static_cast<std::uint64_t>(policy["seed"].whole());
  }
  if (policy.has("spread")) c.candidates.spread = policy["spread"].flag();
  if (policy.has("always_spread")) c.candidates.always_spread = policy["always_spread"].flag();
  if (policy.has("share")) c.candidates.share = policy["share"].name<SharingRule>();
  if (policy.has("gain")) c.candidates.gain = policy["gain"].number();
  return c;
}

json figure(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }

}  // namespace

RecordedGpuCluster recorded_gpu_cluster(const json& recorded) {
  const Member config(recorded, "config");
  GpuClusterConfig c;
  c.topology = topology_of(config["topology"]);
  if (config.has("share")) c.share = config["share"].integer(1);
  if (config.has("host_cap")) c.host_cap = config["host_cap"].number();
  if (config.has("kappa")) {
    const Member kappa = config["kappa"];
    if (kappa.size() != c.kappa.size()) {
      throw UserError("config.kappa: expected 6 numbers, one for each level");
    }
    for (std::size_t i = 0; i < c.kappa.size(); ++i) c.kappa[i] = kappa.at(i).number();
  }
  if (config.has("round")) c.round_s = config["round"].number();
  if (config.has("restart_cost")) c.restart_cost_s = config["restart_cost"].number();
  if (config.has("partitions")) c.partitions = config["partitions"].integer(1);
  if (config.has("route")) c.route = config["route"].name<JobRoute>();
  RecordedGpuCluster out;
  if (config.has("policy")) out.rules = rules_of(config["policy"]);
  if (config.has("log_rewards")) out.log_rewards = config["log_rewards"].flag();
  if (config.has("lockstep")) {
    out.lockstep = LockstepConfig{.round_s = config["lockstep"].number()};
    if (config.has("reset")) out.lockstep->reset_s = config["reset"].number();
  }
  try {
    out.model = std::make_shared<const GpuClusterModel>(c, tables_of(config));
  } catch (const UserError& error) {
    const std::string what = error.what();
    throw UserError(what.starts_with("config") ? what : "config: " + what);
  }
  return out;
}

std::vector<GpuJobSpec> recorded_gpu_jobs(const json& recorded) {
  std::vector<GpuJobSpec> jobs;
  Member(recorded, "jobs").for_each([&](const Member& row) {
    GpuJobSpec job;
    job.submit_s = row["submit"].number();
    job.type = row["type"].text();
    job.gpus = row["gpus"].integer();
    job.steps = row["steps"].number();
    if (row.has("user")) job.user = row["user"].text();
    if (row.has("comm")) job.comm = row["comm"].name<GpuComm>();
    jobs.push_back(std::move(job));
  });
  return jobs;
}

std::vector<GpuDecision> recorded_gpu_decisions(const json& recorded) {
  std::vector<GpuDecision> decisions;
  Member(recorded, "decisions").for_each([&](const Member& row) {
    GpuDecision decision{.time_s = row.at(0).number(), .job = row.at(1).integer()};
    const Member what = row.at(2);
    if (what.value() == "preempt") {
      decision.kind = GpuDecision::Kind::kPreempted;
    } else if (what.value() == "act") {
      decision.kind = GpuDecision::Kind::kActed;
      decision.scheduler = row.at(3).integer();
      decision.action = row.at(4).integer();
    } else {
      what.for_each([&](const Member& gpu) { decision.gpus.push_back(gpu.integer()); });
    }
    decisions.push_back(std::move(decision));
  });
  return decisions;
}

json to_json(std::span<const GpuDecision> decisions) {
  json list = json::array();
  for (const GpuDecision& d : decisions) {
    switch (d.kind) {
      case GpuDecision::Kind::kPlaced:
        list.push_back({d.time_s, d.job, d.gpus, d.rates});
        break;
      case GpuDecision::Kind::kActed:
        list.push_back({d.time_s, d.job, "act", d.scheduler, d.action, d.num_actions});
        break;
      case GpuDecision::Kind::kPreempted:
        list.push_back({d.time_s, d.job, "preempt", d.preemptions});
        break;
    }
  }
  return list;
}

json to_json(const GpuClusterMetrics& m) {
  json progress = json::array();
  for (const double p : m.progress) progress.push_back(figure(p));
  return {{"finished", m.finished},
          {"unfinished", m.unfinished},
          {"avg_jct", figure(m.avg_jct)},
          {"p50_jct", figure(m.p50_jct)},
          {"p90_jct", figure(m.p90_jct)},
          {"p99_jct", figure(m.p99_jct)},
          {"avg_queue", figure(m.avg_queue)},
          {"makespan", figure(m.makespan)},
          {"utilisation", figure(m.utilisation)},
          {"active_time", figure(m.active_time)},
          {"mean_slowdown", figure(m.mean_slowdown)},
          {"jain_users", figure(m.jain_users)},
          {"preemptions", m.preemptions},
          {"placements", m.placements},
          {"progress", std::move(progress)}};
}

}  // namespace pacml::apps
