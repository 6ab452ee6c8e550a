#include "apps/roles/metrics_log.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/resident_memory.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

json mean(double sum, std::int64_t count) {
  return count > 0 ? json(sum / static_cast<double>(count)) : json();
}

// Since the run began, and per second of the last `seconds`.
json counted(const learner::LearnerCounters& now, const learner::LearnerCounters& before,
             double seconds) {
  const auto rate = [seconds](std::int64_t total, std::int64_t then) {
    return static_cast<double>(total - then) / seconds;
  };
  json out = {{"decisions_per_second", rate(now.decisions, before.decisions)},
              {"samples_per_second", rate(now.samples, before.samples)},
              {"updates_per_second", rate(now.updates, before.updates)}};
  visit_fields(now, [&](const char* name, std::int64_t count) { out[name] = count; });
  return out;
}

// Of the episodes that ended, by name.
json episodes(const learner::EpisodeSums& sums, const std::vector<env::MetricSpec>& metrics) {
  json out = json::object();
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    out[metrics[m].name] = mean(sums.metric_sum[m], sums.metric_count[m]);
  }
  return out;
}

json learned(const learner::LearnerStatistics& statistics) {
  json out = {{"return", mean(statistics.episodes.return_sum, statistics.episodes.episodes)},
              {"loss", mean(statistics.loss_sum, statistics.updates)}};
  if (statistics.policy_lag.count() > 0) {
    out["policy_lag"] = {{"p50", statistics.policy_lag.quantile(0.5)},
                         {"p99", statistics.policy_lag.quantile(0.99)},
                         {"max", statistics.policy_lag.max()}};
  }
  for (const auto& [name, sum] : statistics.scalar_sums) out[name] = mean(sum, statistics.updates);
  return out;
}

json served(const serving::ServerCounters& server) {
  return {{"actors", server.actors},         {"messages", server.accepted},
          {"duplicates", server.duplicates}, {"gaps", server.gaps},
          {"malformed", server.malformed},   {"refused", server.refused},
          {"denied", server.denied},         {"no_room", server.no_room}};
}

// Who is there, and who waits for whom.
json accounted(const std::string& account) {
  const json all = json::parse(account, nullptr, false);
  json out = json::object();
  for (const char* key : {"learner_waits", "limiter", "peers"}) {
    if (all.is_object() && all.contains(key)) out[key] = all[key];
  }
  return out;
}

json replayed(const replay::ClientStatus& replay) {
  json each = json::array();
  for (const replay::ShardFigures& shard : replay.each) {
    each.push_back({{"joined", shard.joined},
                    {"late", shard.late},
                    {"items", shard.items},
                    {"inserted", shard.inserted},
                    {"owed", shard.owed},
                    {"silent_seconds", shard.silent_seconds}});
  }
  return {{"each", std::move(each)},
          {"shards", replay.shards},
          {"joins", replay.joins},
          {"items", replay.items},
          {"total_priority", replay.total_priority},
          {"batches", replay.batches},
          {"redrawn", replay.redrawn},
          {"malformed", replay.malformed},
          {"episodes_lost", replay.episodes_lost},
          {"updates_lost", replay.updates_lost}};
}

constexpr const char* kEvaluates = "the learner evaluates its policy, and everybody waits for that";

// Who waits for whom where experience comes by way of shards. `at_hand`: batches that are drawn.
json limited(const replay::ClientStatus& replay, double at_hand) {
  const auto waits = [](bool learner, const char* sentence) {
    return json{{"learner_waits", learner}, {"limiter", sentence}};
  };
  if (replay.shards == 0) return waits(true, "no replay shard is there");
  if (at_hand > 0) {
    return waits(false,
                 "the learner draws as fast as it learns: more actors bring newer experience, not "
                 "more updates");
  }
  const bool held_back = std::ranges::any_of(replay.each, &replay::ShardFigures::late);
  return waits(true, held_back || replay.items == 0
                         ? "the learner waits for experience in the replay: more actors would help"
                         : "the learner waits for what the shards draw: more of them would help");
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& file, ServiceFigures figures, Duration every,
                       const Clock& clock)
    : figures_(std::move(figures)),
      every_(every),
      clock_(&clock),
      file_(file),
      last_(clock.now()),
      next_(last_ + every) {}

void MetricsLog::start(const learner::LearnerCounters& counters,
                       std::vector<env::MetricSpec> metrics) {
  metrics_ = std::move(metrics);
  count_from(counters);
}

void MetricsLog::count_from(const learner::LearnerCounters& counters) {
  before_ = counters;
  last_ = clock_->now();
  next_ = last_ + every_;
}

void MetricsLog::write(json& line, const learner::LearnerCounters& counters,
                       const learner::LearnerStatistics& statistics) {
  const std::chrono::duration<double> elapsed = clock_->now() - last_;
  line.update(counted(counters, before_, std::max(1e-9, elapsed.count())));
  line.update(served(figures_.server ? figures_.server() : serving::ServerCounters{}));
  line["resident_bytes"] = resident_bytes();
  if (figures_.account) line.update(accounted(figures_.account()));
  if (const auto replay = figures_.replay ? figures_.replay() : std::nullopt) {
    line["replay"] = replayed(*replay);
    line.update(limited(*replay, line.value("queue_depth", 0.0)));
  }
  if (line.contains("evaluating")) line.update({{"learner_waits", false}, {"limiter", kEvaluates}});
  line.update(learned(statistics));
  line["episode"] = episodes(statistics.episodes, metrics_);
  if (const auto written = file_.write(line)) {
    faults_.succeeded();
  } else {
    faults_.failed(written.error().detail);
  }
  count_from(counters);
}

}  // namespace pacml::apps
