#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/roles/role_threads.h"
#include "apps/run/train_config.h"
#include "common/transport/context.h"
#include "common/transport/dealer.h"
#include "common/transport/endpoint.h"
#include "learner/replicas/board.h"
#include "learner/replicas/gloo_group.h"
#include "learner/replicas/membership.h"
#include "learner/replicas/replicas.h"

namespace pacml::apps {

// Which of several learners this process is, and how it finds the others.
struct ReplicaOptions {
  std::int64_t replica = 0;                   // 0 leads
  std::string leader;                         // address; the leader binds it, the others connect
  std::string all_reduce_host = "127.0.0.1";  // where the others reach this one's all-reduce
  std::uint64_t life = 0;                     // this process, of all that ever were replicas
};

// How replicas are joined: the part that needs LibTorch.
using ReplicaConnector = std::function<Result<std::unique_ptr<learner::ReplicaGroup>>(
    const learner::Team&, learner::Board&, const learner::GlooConfig&)>;

// UserError: options that do not go with the configuration, or an all-reduce that other hosts could
// listen to without learner.allow_insecure_all_reduce.
void check_replica_options(const TrainConfig& config, const ReplicaOptions& options);

// The leader's board, reached when first asked and until disconnect(). Thread-confined.
class LeadersBoard final : public learner::Board {
 public:
  LeadersBoard(transport::Context& context, transport::Endpoint leader,
               const transport::SocketConfig& config)
      : context_(&context), leader_(std::move(leader)), config_(config) {}
  Result<void> put(const std::string& key, const std::string& value) override;
  Result<std::optional<std::string>> get(const std::string& key) override;
  // In the thread that asked.
  void disconnect();

 private:
  learner::RemoteBoard& board();

  transport::Context* context_;
  transport::Endpoint leader_;
  transport::SocketConfig config_;
  std::unique_ptr<transport::Dealer> link_;
  std::optional<learner::RemoteBoard> board_;
};

// What makes a learner one of several.
class ReplicaWiring {
 public:
  // Borrows the context. Pre: check_replica_options held, and learner.replicas > 1.
  // `new_run`: the leader waits longer for everybody.
  ReplicaWiring(const TrainConfig& config, const ReplicaOptions& options,
                const Agreement& agreement, const std::string& run_id, transport::Context& context,
                const ReplicaConnector& connect, bool new_run);

  // Used, and disconnected at its end, by the learner thread.
  [[nodiscard]] learner::Replicas& replicas() { return *replicas_; }
  void disconnect();
  // The leader's: serves its board.
  [[nodiscard]] std::optional<RoleThread> thread();

 private:
  transport::Context* context_;
  transport::Endpoint leader_;
  transport::SocketConfig transport_;
  learner::LocalBoard local_;
  std::optional<LeadersBoard> remote_;
  std::unique_ptr<learner::Membership> membership_;
  std::optional<learner::Replicas> replicas_;
};

}  // namespace pacml::apps
