#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/roles/composition.h"
#include "apps/roles/learner_role.h"
#include "apps/roles/learning_status.h"
#include "apps/roles/metrics_log.h"
#include "apps/roles/policy_scores.h"
#include "apps/roles/replay_source.h"
#include "apps/run/run_directory.h"
#include "apps/run/train_config.h"
#include "apps/tensorboard/tensorboard_log.h"
#include "common/clock.h"
#include "learner/checkpoint_writer.h"
#include "learner/learner_loop.h"
#include "learner/replicas/replicas.h"
#include "learner/sample_source.h"
#include "model/trainable_network.h"

namespace pacml::apps {

// Learning, and the housekeeping around it: limits, metrics, checkpoints, evaluation. One thread.
class TrainingSession {
 public:
  // `replicas`: the group that this learner is one of, borrowed; nullptr: it is the only one.
  // Borrows the clock. UserError: the checkpoint to resume from is missing, broken or of another
  // network.
  TrainingSession(const TrainConfig& config, const LearnerRoleOptions& options,
                  const RunDirectory& run, const NetworkFactory& make_network,
                  const ExperienceSource& source, learner::ParametersSink& sink,
                  ServiceFigures figures, learner::Replicas* replicas = nullptr,
                  const Clock& clock = steady());
  ~TrainingSession();

  // Learns until a limit or `stop`; leaves a last checkpoint, an evaluation and a line of metrics.
  // UserError, or TryAgainError where that may pass: the first or the last checkpoint cannot be
  // written; the latter is thrown when all else is done. Others that cannot are counted and logged.
  void run(const std::stop_token& stop);

  // The parts of run(), for callers with a loop of their own. step: one update with whatever
  // housekeeping is due; false when a limit is reached or `stop` requested.
  void begin();
  bool step(const std::stop_token& stop);
  // A last evaluation that is under way, or still to come, when `stop` is requested has a quarter
  // of supervision.stop_seconds from then on: the rest is for what must be written.
  void finish(const std::stop_token& stop = {});

  // Asks for a checkpoint at the next opportunity. Thread-safe.
  void request_checkpoint() { checkpoint_requested_ = true; }
  // What the disk has refused since this process began, for metrics and status. Thread-safe.
  [[nodiscard]] nlohmann::json faults() const;
  // Why nothing more was learned at the end, where learning diverged: for the user, who has to
  // change something. After run(). What `stop` ended is not judged by its last few updates.
  [[nodiscard]] std::optional<std::string> divergence() const;
  // Whether the run has ended: not so where one of several learners leaves, which is not the
  // leader. After run().
  [[nodiscard]] bool run_is_over() const { return leads() || membership_.dismissed; }
  // What was learned, a JSON object as in metrics.jsonl. Thread-safe.
  [[nodiscard]] nlohmann::json status() const;

 private:
  [[nodiscard]] bool leads() const {
    return membership_.replicas == nullptr || membership_.replicas->leads();
  }
  // Enters the next group, and goes on from its leader's state. False: asked to stop.
  bool regroup(const std::stop_token& stop, const Error& why);
  // False: the group is no more.
  bool share_state();
  [[nodiscard]] bool limit_reached() const;
  // Seconds of this process.
  [[nodiscard]] double elapsed() const;
  // How much of what this process has to do is done, in [0, 1]; nullopt: it has no end.
  [[nodiscard]] std::optional<double> share_done() const;
  // Tells the algorithm, whose schedules follow it.
  void follow_run() const;
  enum class News {
    kLearning,
    kEvaluating,  // meanwhile nobody learns
    kLast,        // of the run
  };
  void write_metrics(News news = News::kLearning);
  // Of a policy that is not scored to the end, nothing is known.
  void evaluate(const std::function<bool()>& goes_on);
  [[nodiscard]] learner::Checkpoint make_checkpoint() const;
  // Hands the state to the writer, unless learning is stuck: what was asked for then waits.
  void checkpoint();
  [[nodiscard]] Result<void> written_checkpoint();
  void restore(const learner::CheckpointFolder& folder);

  // One of several learners.
  struct Membership {
    learner::Replicas* replicas = nullptr;  // none: it is the only one
    std::int64_t groups = 0;                // that it has been in
    std::int64_t divergences = 0;           // of their weights
    bool dismissed = false;                 // by the leader, which has ended the run
  };
  // When what is due again and again is due next.
  struct Housekeeping {
    TimePoint checkpoint;
    TimePoint evaluation;
  };

  const TrainConfig config_;
  const LearnerRoleOptions options_;
  const RunDirectory run_;
  ReplaySource* const drawn_;  // none: nothing is replayed from elsewhere
  const Clock* const clock_;
  const TimePoint started_;
  double seconds_before_ = 0;             // of training, in earlier processes of this run
  std::int64_t received_before_ = 0;      // decisions, before this process went on
  std::vector<std::string> passed_over_;  // sentences: of damaged checkpoints, when the run went on

  // What learns.
  std::unique_ptr<model::TrainableNetwork> network_;
  Learning learning_;
  std::unique_ptr<learner::LearnerLoop> loop_;
  Membership membership_;

  // What is kept of it.
  std::optional<PolicyScores> scores_;
  std::unique_ptr<learner::CheckpointWriter> checkpoints_;
  MetricsLog metrics_;
  std::optional<TensorboardLog> tensorboard_;  // of the leader, where it is asked for
  LearningStatus status_;
  Housekeeping next_;
  bool ended_at_limit_ = false;
  std::atomic<bool> checkpoint_requested_{false};
  bool withheld_ = false;  // a checkpoint was due, and nothing worth one was there
};

}  // namespace pacml::apps
