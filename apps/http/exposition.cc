#include "apps/http/exposition.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "common/json_at.h"

namespace pacml::apps {
namespace {

using prometheus::MetricType;

constexpr auto kCounter = MetricType::Counter;
constexpr auto kGauge = MetricType::Gauge;

// A member of a status, and what Prometheus calls it.
struct Figure {
  const char* where;  // JSON pointer
  const char* name;
  MetricType type;
  const char* help;
};

// clang-format off
constexpr Figure kFigures[] = {
    // Of several roles.
    {"/decisions", "pacml_decisions_total", kCounter, "Decisions: taken (actor), received (learner)."},
    {"/policy_version", "pacml_policy_version", kGauge, "Newest weights that are served (learner) or used (actor)."},
    {"/actors", "pacml_actors", kGauge, "Actors that are connected."},
    {"/messages", "pacml_messages_total", kCounter, "Messages of experience that were accepted (learner, replay) or sent (actor)."},
    {"/duplicates", "pacml_duplicates_total", kCounter, "Messages dropped because they had come before."},
    {"/gaps", "pacml_gaps_total", kCounter, "Messages that were sent and never came."},
    {"/malformed", "pacml_malformed_total", kCounter, "Frames that were no message."},
    {"/no_room", "pacml_no_room_total", kCounter, "Messages dropped because too many bytes waited, or they waited when their actor went."},
    {"/refused", "pacml_refused_total", kCounter, "Peers and messages that were turned away."},
    {"/window", "pacml_work_window_decisions", kGauge, "Decisions that may be under way, of all actors together."},
    {"/in_flight", "pacml_work_in_flight_decisions", kGauge, "Decisions that are under way: granted, and not yet consumed."},
    {"/denied", "pacml_denied_total", kCounter, "Connections turned away because of their key."},

    // Learner.
    {"/updates", "pacml_updates_total", kCounter, "Updates of the policy."},
    {"/samples", "pacml_samples_total", kCounter, "Samples learned from."},
    {"/stale", "pacml_stale_total", kCounter, "Decisions left out because their weights were too old."},
    {"/misfits", "pacml_misfits_total", kCounter, "Messages or batches for another network."},
    {"/unfinished", "pacml_unfinished_total", kCounter, "Decisions left out because how their episodes end is not known."},
    {"/skipped", "pacml_updates_skipped_total", kCounter, "Updates that would not have been finite: learning diverges."},
    {"/episodes", "pacml_episodes_total", kCounter, "Episodes that ended."},
    {"/seconds", "pacml_training_seconds", kGauge, "Time spent training, in all processes of the run."},
    {"/policy_lag/p50", "pacml_policy_lag_p50", kGauge, "Versions between acting and learning, median."},
    {"/policy_lag/p99", "pacml_policy_lag_p99", kGauge, "Versions between acting and learning, 99th percentile."},
    {"/policy_lag/max", "pacml_policy_lag_max", kGauge, "Versions between acting and learning, largest."},
    {"/queue_depth", "pacml_queue_depth", kGauge, "Messages or batches that wait to be learned from."},
    {"/actors_enough", "pacml_actors_enough", kGauge, "Actors that would keep the learner as busy as it is."},
    {"/loss", "pacml_loss", kGauge, "Loss, mean of the last interval of metrics."},
    {"/entropy", "pacml_policy_entropy_ratio", kGauge, "Entropy of the policy, of the largest possible."},
    {"/return", "pacml_episode_return", kGauge, "Return of episodes, mean of the last interval."},
    {"/evaluation/score", "pacml_evaluation_score", kGauge, "The objective in the last held-out evaluation."},
    {"/evaluation/best", "pacml_evaluation_best", kGauge, "The objective in the best held-out evaluation."},
    {"/evaluation/baseline/score", "pacml_evaluation_baseline", kGauge, "The objective of the best baseline on the same episodes."},
    {"/weights_sent", "pacml_weights_sent_total", kCounter, "Times that weights were sent to an actor."},
    {"/faults/checkpoint_failures", "pacml_checkpoint_failures_total", kCounter, "Checkpoints that could not be written, or read when the run went on."},
    {"/faults/checkpoint_age_seconds", "pacml_checkpoint_age_seconds", kGauge, "Since a checkpoint was written last."},
    {"/faults/checkpoint_interval_seconds", "pacml_checkpoint_interval_seconds", kGauge, "After which one is written, as learner.checkpoint_seconds has it."},
    {"/disk_free_bytes", "pacml_run_disk_free_bytes", kGauge, "What is free on the disk of the run's folder."},
    {"/faults/metrics_failures", "pacml_metrics_failures_total", kCounter, "Lines of metrics that could not be written."},
    {"/replay/shards", "pacml_replay_shards", kGauge, "Replay shards that are connected."},
    {"/replay/redrawn", "pacml_replay_redrawn_total", kCounter, "Draws that a lost or starving shard owed."},
    {"/replay/episodes_lost", "pacml_replay_episode_reports_lost_total", kCounter, "Reports of episodes that the learner did not take in time."},
    {"/replay/updates_lost", "pacml_replay_updates_lost_total", kCounter, "Priorities for items of a shard that was gone."},
    {"/replicas/together", "pacml_learner_replicas", kGauge, "Learners that take updates together, now."},
    {"/replicas/groups", "pacml_replica_groups_total", kCounter, "Times that learners formed a group."},
    {"/replicas/divergences", "pacml_replica_divergences_total", kCounter, "Times that learners of a group had different weights."},

    // Replay shard.
    {"/items", "pacml_replay_items", kGauge, "Items stored."},
    {"/capacity", "pacml_replay_capacity_items", kGauge, "Items that there is room for."},
    {"/bytes", "pacml_replay_bytes", kGauge, "Bytes of the items stored."},
    {"/total_priority", "pacml_replay_priority", kGauge, "Sum of the weights by which items are drawn."},
    {"/inserted", "pacml_replay_inserts_total", kCounter, "Items ever inserted."},
    {"/sampled", "pacml_replay_samples_total", kCounter, "Items ever drawn."},
    {"/evicted", "pacml_replay_evictions_total", kCounter, "Items that made room for others."},
    {"/used_up", "pacml_replay_used_up_total", kCounter, "Items that had been drawn as often as they may be."},
    {"/inserts_refused", "pacml_replay_inserts_refused_total", kCounter, "Items whose priority was none."},
    {"/updates_applied", "pacml_replay_updates_total", kCounter, "Priorities that were changed."},
    {"/updates_for_evicted_items", "pacml_replay_updates_evicted_total", kCounter, "Priorities for items that had gone."},
    {"/updates_refused", "pacml_replay_updates_refused_total", kCounter, "Priorities that were none."},
    {"/inserts_waiting", "pacml_replay_inserts_waiting", kGauge, "Messages that the rate limiter holds back: actors wait for the learner."},
    {"/samples_waiting", "pacml_replay_samples_waiting", kGauge, "Draws that the rate limiter holds back: the learner waits for actors."},
    {"/learners", "pacml_replay_learners", kGauge, "Learners that are connected."},
    {"/episodes_dropped", "pacml_replay_episodes_dropped_total", kCounter, "Reports of episodes that no learner came for."},
    {"/unanswered", "pacml_replay_unanswered_total", kCounter, "Draws whose learner had gone, or that were too many."},
    {"/snapshots", "pacml_snapshots_total", kCounter, "Snapshots written."},
    {"/snapshot_age_seconds", "pacml_snapshot_age_seconds", kGauge, "Since a snapshot was written last."},
    {"/snapshot_failures", "pacml_snapshot_failures_total", kCounter, "Snapshots that could not be written."},

    // Actor.
    {"/joins", "pacml_joins_total", kCounter, "Times that the actor was welcomed by its learner."},
    {"/shard_joins", "pacml_shard_joins_total", kCounter, "Times that the actor was welcomed by its replay shard."},
    {"/unacknowledged", "pacml_unacknowledged_total", kCounter, "Messages on their way when a connection was lost: perhaps never received."},
    {"/refused_weights", "pacml_refused_weights_total", kCounter, "Weights that the actor did not act with: learning diverges."},
};
// clang-format on

using Labels = std::vector<prometheus::ClientMetric::Label>;

Labels labels_of(const nlohmann::json& status) {
  Labels labels;
  if (const auto role = status.find("role"); role != status.end() && role->is_string()) {
    labels.push_back({"role", role->get<std::string>()});
  }
  if (const auto shard = status.find("shard"); shard != status.end() && shard->is_number()) {
    labels.push_back({"shard", shard->dump()});
  }
  return labels;
}

// Metrics with one value each, all of the same process.
class Families {
 public:
  explicit Families(Labels labels) : labels_(std::move(labels)) {}

  void add(const char* name, MetricType type, const char* help, double value) {
    prometheus::ClientMetric metric;
    metric.label = labels_;
    (type == kCounter ? metric.counter.value : metric.gauge.value) = value;
    families_.push_back({name, help, type, {std::move(metric)}});
  }
  // One gauge with a value for each number of an object, by its key.
  void add_by_name(const char* name, const char* help, const nlohmann::json& values) {
    prometheus::MetricFamily family{name, help, kGauge, {}};
    for (const auto& [key, value] : values.items()) {
      if (!value.is_number()) continue;
      prometheus::ClientMetric metric;
      metric.label = labels_;
      metric.label.push_back({"metric", key});
      metric.gauge.value = value.get<double>();
      family.metric.push_back(std::move(metric));
    }
    if (!family.metric.empty()) families_.push_back(std::move(family));
  }
  void add_count(const char* name, const char* help, std::uint64_t count) {
    add(name, kCounter, help, static_cast<double>(count));
  }
  [[nodiscard]] std::string text() const {
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  Labels labels_;
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace

std::string exposition(const nlohmann::json& status, const ProcessState& process,
                       const HttpCounters& http) {
  Families families(labels_of(status));
  for (const Figure& figure : kFigures) {
    const auto value = number_at(status, figure.where);
    if (value) families.add(figure.name, figure.type, figure.help, *value);
  }
  for (const auto& [where, name, help] :
       {std::tuple("/episode", "pacml_episode_metric",
                   "The task's metrics of episodes, means of the last interval."),
        std::tuple("/evaluation/metrics", "pacml_evaluation_metric",
                   "The task's metrics in the last held-out evaluation.")}) {
    const nlohmann::json::json_pointer pointer(where);
    if (status.contains(pointer)) families.add_by_name(name, help, status[pointer]);
  }
  const auto items = number_at(status, "/items");
  const auto capacity = number_at(status, "/capacity");
  if (items && capacity && *capacity > 0) {
    families.add("pacml_replay_fill_ratio", kGauge, "Items stored, of the room for them.",
                 *items / *capacity);
  }
  families.add("pacml_healthy", kGauge, "1 while the process makes progress.", process.healthy);
  families.add("pacml_ready", kGauge, "1 while the process can do its part in the run.",
               process.ready);
  families.add("pacml_resident_memory_bytes", kGauge, "Resident memory of the process.",
               static_cast<double>(process.resident_bytes));
  families.add_count("pacml_http_requests_total", "HTTP requests that were answered.",
                     http.requests);
  families.add_count("pacml_http_unauthorized_total", "HTTP requests without the token.",
                     http.unauthorized);
  families.add_count("pacml_http_malformed_total", "HTTP requests that were none, or too long.",
                     http.malformed);
  families.add_count("pacml_http_connections_cut_total",
                     "HTTP connections that were too slow, or one too many.", http.connections_cut);
  return families.text();
}

}  // namespace pacml::apps
