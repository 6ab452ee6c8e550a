#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/network_namespaces.h"
#include "tests/support/network_proxy.h"
#include "tests/support/roles.h"

// A run whose roles stand on hosts of their own.

namespace pacml::testing {

// True where a test may have hosts; where not, says why.
inline bool hosts_are_possible() {
  if (!VirtualNetwork::obstacle().empty())
    WARN("this test is skipped: " + VirtualNetwork::obstacle());
  return VirtualNetwork::obstacle().empty();
}

// A learner, the shards of its configuration and actors, each on a host with an address of its own,
// and one more host to look from. They talk with keys. With a manner, everything that they say to
// one another goes through another host, where a proxy carries it in that manner.
class HostedRun {
 public:
  HostedRun(apps::TrainConfig config, int actors,
            const std::optional<NetworkProxy::Manner>& manner = std::nullopt)
      : place_(with_keys(config)), looking_(&network_.add_host()) {
    learner_host_ = &network_.add_host();
    const auto shards =
        config.algorithm == apps::AlgorithmKind::kApex ? config.replay.shards : std::int64_t{0};
    for (int i = 0; i < shards; ++i) shard_hosts_.push_back(&network_.add_host());
    for (int i = 0; i < actors; ++i) actor_hosts_.push_back(&network_.add_host());
    if (manner) put_between(*manner);
    for (int i = 0; i < shards; ++i) start_shard(i);
    start_learner();
    for (int i = 0; i < actors; ++i) start_actor(i);
  }

  [[nodiscard]] const Workplace& place() const { return place_; }
  [[nodiscard]] VirtualNetwork& network() { return network_; }
  [[nodiscard]] VirtualHost& learner_host() { return *learner_host_; }
  [[nodiscard]] VirtualHost& shard_host(std::size_t i) { return *shard_hosts_.at(i); }
  [[nodiscard]] VirtualHost& actor_host(std::size_t i) { return *actor_hosts_.at(i); }
  [[nodiscard]] std::vector<VirtualHost*> hosts() const {
    std::vector<VirtualHost*> all = {learner_host_};
    all.insert(all.end(), shard_hosts_.begin(), shard_hosts_.end());
    all.insert(all.end(), actor_hosts_.begin(), actor_hosts_.end());
    return all;
  }
  [[nodiscard]] Learner& learner() { return *learner_; }
  [[nodiscard]] Pacml& shard(std::size_t i) { return shards_.at(i)->process(); }
  [[nodiscard]] Pacml& actor(std::size_t i) { return *actors_.at(i); }

  void start_learner(const std::vector<std::string>& options = {}) {
    auto words = shard_options();
    words.insert(words.end(), options.begin(), options.end());
    learner_ = std::make_unique<Learner>(place_, learner_host_->tcp(kLearnerPort), words,
                                         learner_host_->launcher());
  }

  // What `pacml status` on another host says of them.
  [[nodiscard]] nlohmann::json learner_status() const {
    return status_at(learner_host_->tcp(kLearnerPort));
  }
  [[nodiscard]] nlohmann::json shard_status(std::size_t i) const {
    return status_at(shard_hosts_.at(i)->tcp(kShardPort));
  }

 private:
  static constexpr int kLearnerPort = 5555;
  static constexpr int kShardPort = 5560;

  const apps::TrainConfig& with_keys(apps::TrainConfig& config) {
    config.security.keys = (keys_ / "keys").string();
    const Outcome made = pacml({"keygen", config.security.keys});
    INFO(made.err);
    REQUIRE(made.code == 0);
    return config;
  }
  [[nodiscard]] nlohmann::json status_at(const std::string& address) const {
    const std::string file = (place_ / "status.json").string();
    const Outcome outcome = pacml(
        {"status", address, "--out", file, "--seconds", "120", "--keys", (keys_ / "keys").string()},
        looking_->launcher());
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(text_of(file));
  }

  void put_between(const NetworkProxy::Manner& manner) {
    between_ = &network_.add_host();
    const auto forward = [&](const VirtualHost& to, int here, int there) {
      return NetworkProxy::Forward{tcp_address(between_->address(), here),
                                   tcp_address(to.address(), there)};
    };
    std::vector<NetworkProxy::Forward> forwards = {
        forward(*learner_host_, kLearnerPort, kLearnerPort),
        forward(*learner_host_, kLearnerPort + 1, kLearnerPort + 1)};
    for (std::size_t i = 0; i < shard_hosts_.size(); ++i) {
      forwards.push_back(forward(*shard_hosts_[i], kShardPort + static_cast<int>(i), kShardPort));
    }
    proxy_ = std::make_unique<NetworkProxy>(forwards, between_->entrance());
    proxy_->set_manner(manner);
  }

  // Where the others find them.
  [[nodiscard]] std::string learner_address() const {
    return (between_ != nullptr ? between_ : learner_host_)->tcp(kLearnerPort);
  }
  [[nodiscard]] std::vector<std::string> shard_options() const {
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < shard_hosts_.size(); ++i) {
      addresses.push_back(between_ != nullptr ? between_->tcp(kShardPort + static_cast<int>(i))
                                              : shard_hosts_[i]->tcp(kShardPort));
    }
    return replay_options(addresses);
  }

  void start_shard(int i) {
    const VirtualHost& host = *shard_hosts_.at(static_cast<std::size_t>(i));
    shards_.push_back(std::make_unique<Shard>(place_, i, host.tcp(kShardPort),
                                              std::vector<std::string>{}, host.launcher()));
  }
  void start_actor(int i) {
    const VirtualHost& host = *actor_hosts_.at(static_cast<std::size_t>(i));
    actors_.push_back(std::make_unique<Pacml>(
        actor_words(place_, learner_address(), i, shard_options()), host.launcher()));
  }

  VirtualNetwork network_;
  TempDir keys_;
  Workplace place_;
  VirtualHost* looking_;
  VirtualHost* learner_host_ = nullptr;
  std::vector<VirtualHost*> shard_hosts_, actor_hosts_;
  VirtualHost* between_ = nullptr;
  std::unique_ptr<NetworkProxy> proxy_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Learner> learner_;
  std::vector<std::unique_ptr<Pacml>> actors_;
};

}  // namespace pacml::testing
