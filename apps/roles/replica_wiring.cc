#include "apps/roles/replica_wiring.h"

#include <spdlog/spdlog.h>

#include <map>
#include <utility>

#include "apps/run/endpoints.h"
#include "common/config/dump.h"
#include "common/transport/router.h"

namespace pacml::apps {
namespace {

// What replicas must agree on: everything that says what is learned, from what, and how.
struct ReplicaTerms {
  TrainConfig config;
  std::map<std::string, std::string> graphs;
  std::map<std::string, std::string> inputs;
};
template <class Terms, class Visitor>
requires std::same_as<std::remove_const_t<Terms>, ReplicaTerms>
void visit_fields(Terms& terms, Visitor&& v) {
  visit_fields(terms.config, v);
  v("graphs", terms.graphs);
  v("inputs", terms.inputs);
}

// How each of them is run, and where its files lie, is its own affair.
std::string terms_of(const TrainConfig& config, const Agreement& agreement) {
  ReplicaTerms terms{config, agreement.graphs, agreement.inputs};
  terms.config.env.forget_folders();
  terms.config.warm_start.from.clear();  // the leader's
  terms.config.actors = 1;
  terms.config.transport = {};
  terms.config.security = {};
  terms.config.supervision = {};
  terms.config.learner = {};
  terms.config.learner.replicas = config.learner.replicas;
  return dump_config(terms);
}

// A new run begins with all of its replicas, if they come by then.
constexpr std::chrono::milliseconds kBeginning{30'000};

}  // namespace

void check_replica_options(const TrainConfig& config, const ReplicaOptions& options) {
  const std::int64_t replicas = config.learner.replicas;
  if (replicas == 1) {
    if (options.replica == 0 && options.leader.empty()) return;
    throw UserError("--replica and --leader are for several learners; learner.replicas is 1");
  }
  if (options.replica < 0 || options.replica >= replicas) {
    throw UserError("--replica: must be in 0.." + std::to_string(replicas - 1) +
                    ", since learner.replicas is " + std::to_string(replicas));
  }
  if (options.leader.empty()) {
    throw UserError("--leader is missing: learner.replicas is " + std::to_string(replicas) +
                    ", so name the address at which replica 0 gathers them");
  }
  check_all_reduce_host(config, options.all_reduce_host);
}

learner::RemoteBoard& LeadersBoard::board() {
  if (!board_) {
    link_ = std::make_unique<transport::Dealer>(*context_, leader_, config_);
    board_.emplace(*link_);
  }
  return *board_;
}

Result<void> LeadersBoard::put(const std::string& key, const std::string& value) {
  return board().put(key, value);
}

Result<std::optional<std::string>> LeadersBoard::get(const std::string& key) {
  return board().get(key);
}

void LeadersBoard::disconnect() {
  board_.reset();
  link_.reset();
}

ReplicaWiring::ReplicaWiring(const TrainConfig& config, const ReplicaOptions& options,
                             const Agreement& agreement, const std::string& run_id,
                             transport::Context& context, const ReplicaConnector& connect,
                             bool new_run)
    : context_(&context),
      leader_(transport::Endpoint::parse(options.leader)),
      transport_(config.transport) {
  const learner::ReplicaAgreement terms{run_id, terms_of(config, agreement)};
  const learner::MembershipConfig membership{
      .replicas = static_cast<std::uint32_t>(config.learner.replicas),
      .life = options.life,
      .first_gathering = new_run ? kBeginning : std::chrono::milliseconds(0)};
  if (options.replica == 0) {
    membership_ = std::make_unique<learner::Leader>(local_, terms, membership);
  } else {
    remote_.emplace(context, leader_, config.transport);
    membership_ = std::make_unique<learner::Follower>(
        *remote_, static_cast<std::uint32_t>(options.replica), terms, membership);
  }
  const learner::GlooConfig gloo{.host = options.all_reduce_host,
                                 .patience = config.learner.all_reduce_seconds.milliseconds()};
  replicas_.emplace(*membership_,
                    [connect, gloo](const learner::Team& team, learner::Board& board) {
                      return connect(team, board, gloo);
                    });
}

void ReplicaWiring::disconnect() {
  if (remote_) remote_->disconnect();
}

std::optional<RoleThread> ReplicaWiring::thread() {
  if (!membership_->leads()) return std::nullopt;
  return RoleThread{"board", [this](const std::stop_token& stop) {
                      transport::Router router(*context_, leader_, transport_);
                      spdlog::info("gathering replicas at {}", router.endpoint().str());
                      learner::serve_board(local_, router, stop);
                    }};
}

}  // namespace pacml::apps
