#include "tests/fault/chaos/fleet.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "tests/support/addresses.h"
#include "tests/support/catch.h"
#include "tests/support/roles.h"

namespace pacml::testing {
namespace {

constexpr int kLearnerHost = 2;
constexpr int kFirstShardHost = 10;
constexpr int kFirstLinkHost = 100;
std::int64_t resident_bytes(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  return statm >> total >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

std::string at(int host, int port) {
  return "tcp://" + loopback_host(host) + ":" + std::to_string(port);
}

}  // namespace

Fleet::Fleet(const apps::TrainConfig& config, int actors)
    : place_(config),
      shard_count_(config.algorithm == apps::AlgorithmKind::kApex
                       ? static_cast<int>(config.replay.shards)
                       : 0),
      actor_count_(actors) {
  const auto learners_link = static_cast<std::size_t>(actors);
  for (int link = 0; link < actors + (shard_count_ > 0 ? 1 : 0); ++link) add_link();
  const auto add = [this](std::string name, std::vector<std::string> words,
                          const std::vector<std::string>& more_after_death = {}) {
    auto after = words;
    after.insert(after.end(), more_after_death.begin(), more_after_death.end());
    auto process = std::make_unique<Pacml>(words);
    roles_.push_back({std::move(name), std::move(words), std::move(after), std::move(process)});
  };
  std::vector<std::string> learner = {"learner", place_.config_file(),
                                      "--run",   place_.run(),
                                      "--bind",  at(kLearnerHost, kLearnerPort)};
  const auto shards = shards_through(learners_link);
  learner.insert(learner.end(), shards.begin(), shards.end());
  add("learner", learner, {"--resume"});
  for (int s = 0; s < shard_count_; ++s) {
    const std::string number = std::to_string(s);
    add("shard-" + number,
        {"replay", place_.config_file(), "--shard", number, "--bind", shard_address(s),
         "--snapshot", (place_ / ("shard-" + number)).string()});
  }
  for (int a = 0; a < actors; ++a) {
    const auto link = static_cast<std::size_t>(a);
    add("actor-" + std::to_string(a),
        actor_words(place_, through(link, kLearnerPort), a, shards_through(link)));
  }
  wait_until("there is a checkpoint of something", [&] {
    tend();
    return place_.checkpoints().size() >= 2;
  });
  wait_until_whole();
}

void Fleet::add_link() {
  const std::string here = loopback_host(kFirstLinkHost + static_cast<int>(links_.size()));
  std::vector<NetworkProxy::Forward> forwards;
  for (const int port : {kLearnerPort, kLearnerPort + 1}) {
    forwards.push_back({tcp_address(here, port), tcp_address(loopback_host(kLearnerHost), port)});
  }
  for (int s = 0; s < shard_count_; ++s) {
    forwards.push_back({tcp_address(here, kShardPort + s),
                        tcp_address(loopback_host(kFirstShardHost + s), kShardPort)});
  }
  links_.push_back(std::make_unique<NetworkProxy>(std::move(forwards)));
}

std::string Fleet::through(std::size_t link, int port) const {
  return at(kFirstLinkHost + static_cast<int>(link), port);
}

std::vector<std::string> Fleet::shards_through(std::size_t link) const {
  std::vector<std::string> addresses;
  for (int s = 0; s < shard_count_; ++s) addresses.push_back(through(link, kShardPort + s));
  return replay_options(addresses);
}

std::string Fleet::shard_address(int shard) const {
  return at(kFirstShardHost + shard, kShardPort);
}

nlohmann::json Fleet::status_of_shard(int shard) const {
  return status_of(place_, shard_address(shard));
}

std::string Fleet::name_of_victim(const ScriptedMishap& mishap) const {
  const bool of_role = mishap.kind == Mishap::kKill || mishap.kind == Mishap::kSuspend;
  if (of_role) return roles_.at(mishap.victim).name;
  if (mishap.victim == static_cast<std::size_t>(actor_count_)) return "learner to shards";
  return "actor-" + std::to_string(mishap.victim) + "'s link";
}

void Fleet::begin(const ScriptedMishap& mishap) {
  switch (mishap.kind) {
    case Mishap::kKill: {
      Role& role = roles_.at(mishap.victim);
      role.process->signal(SIGKILL);
      REQUIRE(role.process->end() == 128 + SIGKILL);
      role.process.reset();
      ++role.kills;
      if (mishap.victim == 0) learner_deaths_.push_back(place_.metrics().size());
      return;
    }
    case Mishap::kSuspend:
      return roles_.at(mishap.victim).process->signal(SIGSTOP);
    case Mishap::kPartition:
      return links_.at(mishap.victim)->partition();
    case Mishap::kCut:
      return links_.at(mishap.victim)->cut();
    case Mishap::kSlow:
      return links_.at(mishap.victim)->set_manner({mishap.latency, mishap.bytes_per_second});
  }
}

void Fleet::end(const ScriptedMishap& mishap) {
  switch (mishap.kind) {
    case Mishap::kKill: {
      Role& role = roles_.at(mishap.victim);
      role.process = std::make_unique<Pacml>(role.words_after_death);
      return;
    }
    case Mishap::kSuspend:
      return roles_.at(mishap.victim).process->signal(SIGCONT);
    case Mishap::kPartition:
    case Mishap::kCut:
      return links_.at(mishap.victim)->heal();
    case Mishap::kSlow:
      return links_.at(mishap.victim)->set_manner({});
  }
}

void Fleet::tend() {
  for (Role& role : roles_) {
    if (!role.process) continue;
    INFO(role.name << " ended by itself: " << role.process->err());
    REQUIRE(role.process->runs());
    role.most_memory = std::max(role.most_memory, resident_bytes(role.process->pid()));
  }
}

void Fleet::wait_until_whole() {
  wait_until("all actors are with the learner", [&] {
    tend();
    const auto lines = place_.metrics().size();
    wait_until("the learner says something", [&] {
      tend();
      // For whoever reads that this was in vain.
      const std::string log = place_.log("learner");
      UNSCOPED_INFO(
          "the learner: " << log.substr(log.size() - std::min<std::size_t>(log.size(), 2'000)));
      return place_.metrics().size() > lines;
    });
    return place_.latest("actors") == actor_count_;
  });
  for (int s = 0; s < shard_count_; ++s) {
    wait_until("a shard has its learner and its actors", [&] {
      tend();
      const auto status = status_of_shard(s);
      const int own = (actor_count_ - s + shard_count_ - 1) / shard_count_;
      return status["learners"] >= 1 && status["actors"] == own;
    });
  }
}

void Fleet::stop() {
  const auto end = [](Role& role) {
    INFO(role.name);
    CHECK(role.process->end() == 0);
  };
  roles_.front().process->signal(SIGTERM);
  end(roles_.front());
  const auto first_actor = 1 + static_cast<std::size_t>(shard_count_);
  for (std::size_t i = first_actor; i < roles_.size(); ++i) end(roles_[i]);
  for (std::size_t i = 1; i < first_actor; ++i) {
    roles_[i].process->signal(SIGTERM);
    end(roles_[i]);
  }
}

std::vector<const Fleet::Role*> Fleet::shards() const {
  std::vector<const Role*> found;
  for (const Role& role : roles_) {
    if (role.name.starts_with("shard-")) found.push_back(&role);
  }
  return found;
}

std::vector<const Fleet::Role*> Fleet::actors() const {
  std::vector<const Role*> found;
  for (const Role& role : roles_) {
    if (role.name.starts_with("actor-")) found.push_back(&role);
  }
  return found;
}

}  // namespace pacml::testing
