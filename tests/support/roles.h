#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/pacml_process.h"

// The roles of a run: started together by `pacml train`, or one by one as on several hosts; and
// what they say of themselves.

namespace pacml::testing {

inline std::vector<std::string> train_words(const Workplace& place,
                                            const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"train", place.config_file(), "--run", place.run()};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

// The process of a role below `pacml train`, by a part of its command line; 0: none.
inline pid_t role_of(const Pacml& train, const std::string& part) {
  for (const auto& [pid, command] : children_of(train.pid())) {
    if (command.find(part) != std::string::npos) return pid;
  }
  return 0;
}
inline const std::string kLearnerRole = "pacml-learner";
inline std::string actor_role(int id) { return "--id " + std::to_string(id); }
inline std::string shard_role(int number) { return "--shard " + std::to_string(number); }

// What stands behind `mark` in each line of a log that has it. A line that is being written is not
// one yet.
inline std::vector<std::string> lines_after(const std::string& log, const std::string& mark) {
  std::vector<std::string> found;
  std::istringstream text(log);
  for (std::string line; std::getline(text, line) && !text.eof();) {
    const auto at = line.find(mark);
    if (at != std::string::npos) found.push_back(line.substr(at + mark.size()));
  }
  return found;
}

// What a shard says of itself when it stops in order.
inline nlohmann::json last_report(const std::string& log) {
  const auto reports = lines_after(log, "info  replay-");
  REQUIRE_FALSE(reports.empty());
  const auto begin = reports.back().find('{');
  REQUIRE(begin != std::string::npos);
  return nlohmann::json::parse(reports.back().substr(begin));
}

// What a shard that was never killed has accepted of one actor is in the table or waits for it,
// each once. The first decisions after each time that it joined come a message later: their windows
// were open.
inline void check_books(const nlohmann::json& report, const apps::TrainConfig& config,
                        std::int64_t joins = 1) {
  INFO(report);
  const std::int64_t message = config.actor.environments * config.actor.unroll_length;
  const std::int64_t taken = message * (report["messages"].get<std::int64_t>() -
                                        report["inserts_waiting"].get<std::int64_t>());
  const auto inserted = report["inserted"].get<std::int64_t>();
  CHECK(inserted <= taken);
  CHECK(inserted >= taken - joins * config.actor.environments * config.transitions.n_step);
}

// `pacml status` of whoever serves at `address`.
inline nlohmann::json status_of(const Workplace& place, const std::string& address) {
  const std::string file = (place / "status.json").string();
  const Outcome outcome = pacml({"status", address, "--out", file, "--seconds", "20"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.empty());
  return nlohmann::json::parse(text_of(file));
}

// Where a shard of `pacml train` serves.
inline std::string shard_address(const Workplace& place, int number) {
  const auto addresses =
      lines_after(place.log("replay-" + std::to_string(number)), "actors and learners at ");
  REQUIRE_FALSE(addresses.empty());
  return addresses.back();
}

// `pacml learner` in a workplace's run folder.
class Learner {
 public:
  explicit Learner(const Workplace& place, const std::string& bind = "tcp://127.0.0.1:*",
                   std::vector<std::string> options = {},
                   const std::vector<std::string>& launcher = {})
      : place_(&place), process_(words(place, bind, std::move(options)), launcher) {
    // Each life adds a line; ours is there when there is one more than before.
    wait_until("the learner serves actors", [this] {
      REQUIRE(process_.runs());
      return addresses().size() > before_;
    });
  }
  [[nodiscard]] std::string address() const { return addresses().back(); }
  [[nodiscard]] Pacml& process() { return process_; }

 private:
  std::vector<std::string> words(const Workplace& place, const std::string& bind,
                                 std::vector<std::string> options) {
    place_ = &place;
    before_ = addresses().size();
    options.insert(options.begin(),
                   {"learner", place.config_file(), "--run", place.run(), "--bind", bind});
    return options;
  }
  [[nodiscard]] std::vector<std::string> addresses() const {
    return lines_after(place_->log("learner"), "serving actors at ");
  }

  const Workplace* place_;
  std::size_t before_ = 0;
  Pacml process_;
};

// `pacml replay` with a workplace's configuration.
class Shard {
 public:
  explicit Shard(const Workplace& place, int number, const std::string& bind = "tcp://127.0.0.1:*",
                 std::vector<std::string> options = {},
                 const std::vector<std::string>& launcher = {})
      : process_(words(place, number, bind, std::move(options)), launcher) {
    wait_until("the shard serves", [this] {
      REQUIRE(process_.runs());
      return !addresses().empty();
    });
  }
  [[nodiscard]] std::string address() const { return addresses().back(); }
  [[nodiscard]] Pacml& process() { return process_; }

 private:
  static std::vector<std::string> words(const Workplace& place, int number, const std::string& bind,
                                        std::vector<std::string> options) {
    options.insert(options.begin(), {"replay", place.config_file(), "--shard",
                                     std::to_string(number), "--bind", bind});
    return options;
  }
  [[nodiscard]] std::vector<std::string> addresses() const {
    return lines_after(process_.err(), "serving actors and learners at ");
  }

  Pacml process_;
};

// Options that tell a learner or an actor where the shards are.
inline std::vector<std::string> replay_options(const std::vector<std::string>& addresses) {
  std::vector<std::string> options;
  for (const auto& address : addresses) options.insert(options.end(), {"--replay", address});
  return options;
}

inline std::vector<std::string> actor_words(const Workplace& place, const std::string& address,
                                            int id, std::vector<std::string> options = {}) {
  options.insert(options.begin(),
                 {"actor", place.config_file(), "--learner", address, "--id", std::to_string(id)});
  return options;
}

}  // namespace pacml::testing
