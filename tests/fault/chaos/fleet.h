#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/fault/chaos/script.h"
#include "tests/support/network_proxy.h"
#include "tests/support/pacml_process.h"

namespace pacml::testing {

// The processes of a run and the links between them, for harm to be done to. Each actor has a link
// of its own to learner and shards, the learner one to the shards. What ends by itself fails the
// test. Thread-confined.
class Fleet {
 public:
  // Starts shards (where the configuration has some), learner and actors; waits for all to join.
  Fleet(const apps::TrainConfig& config, int actors);

  [[nodiscard]] std::size_t roles() const { return roles_.size(); }
  [[nodiscard]] std::size_t links() const { return links_.size(); }
  [[nodiscard]] const Workplace& place() const { return place_; }
  [[nodiscard]] std::string name_of_victim(const ScriptedMishap& mishap) const;

  void begin(const ScriptedMishap& mishap);
  void end(const ScriptedMishap& mishap);
  // Looks after them: who has ended, how much memory each has.
  void tend();
  // Waits until every actor is with the learner and every shard with both.
  void wait_until_whole();
  // The learner first, which sends its actors home, then the shards. Each must end with code 0.
  void stop();

  struct Role {
    std::string name;
    std::vector<std::string> words;
    std::vector<std::string> words_after_death;
    std::unique_ptr<Pacml> process;
    int kills = 0;
    std::int64_t most_memory = 0;  // bytes, resident
  };
  [[nodiscard]] const Role& learner() const { return roles_.at(0); }
  [[nodiscard]] std::vector<const Role*> shards() const;
  [[nodiscard]] std::vector<const Role*> actors() const;
  [[nodiscard]] const std::vector<Role>& all() const { return roles_; }
  // How many lines of metrics there were at each death of the learner.
  [[nodiscard]] const std::vector<std::size_t>& learner_deaths() const { return learner_deaths_; }

 private:
  static constexpr int kLearnerPort = 5555;
  static constexpr int kShardPort = 5560;

  // A link's ports, as the addresses of learner and shards.
  void add_link();
  [[nodiscard]] std::string through(std::size_t link, int port) const;
  [[nodiscard]] std::vector<std::string> shards_through(std::size_t link) const;
  [[nodiscard]] std::string shard_address(int shard) const;
  [[nodiscard]] nlohmann::json status_of_shard(int shard) const;

  Workplace place_;
  int shard_count_;
  int actor_count_;
  std::vector<std::unique_ptr<NetworkProxy>> links_;  // each actor's, then the learner's to shards
  std::vector<Role> roles_;                           // the learner, shards, actors
  std::vector<std::size_t> learner_deaths_;
};

}  // namespace pacml::testing
