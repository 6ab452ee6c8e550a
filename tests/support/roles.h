#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/pacml_process.h"

// The roles of a run: started together by `pacml train`, or one by one as on several hosts; and
// what they say of themselves.

namespace pacml::testing {

[[nodiscard]] std::vector<std::string> train_words(const Workplace& place,
                                                   const std::vector<std::string>& options = {});

// The process of a role below `pacml train`, by a part of its command line; 0: none.
[[nodiscard]] pid_t role_of(const Pacml& train, const std::string& part);
// Until another process than `former` has that role.
void wait_for_another(const Pacml& train, const std::string& role, pid_t former);
inline const std::string kLearnerRole = "pacml-learner";
inline std::string actor_role(int id) { return "--id " + std::to_string(id); }
inline std::string shard_role(int number) { return "--shard " + std::to_string(number); }

// What stands behind `mark` in each line of a log that has it. A line that is being written is not
// one yet.
[[nodiscard]] std::vector<std::string> lines_after(const std::string& log, const std::string& mark);

// The number that stands behind `mark` in the last line that has it.
[[nodiscard]] std::int64_t number_after(const std::string& log, const std::string& mark);

// What a shard says of itself when it stops in order.
[[nodiscard]] nlohmann::json last_report(const std::string& log);

// What a shard that was never killed has accepted of one actor is in the table or waits for it,
// each once. The first decisions after each time that it joined come a message later: their windows
// were open.
void check_books(const nlohmann::json& report, const apps::TrainConfig& config,
                 std::int64_t joins = 1);

// `pacml status` of whoever serves at `address`.
[[nodiscard]] nlohmann::json status_of(const Workplace& place, const std::string& address);

// Where a shard of `pacml train` serves.
[[nodiscard]] std::string shard_address(const Workplace& place, int number);

// `pacml learner` in a workplace's run folder.
class Learner {
 public:
  explicit Learner(const Workplace& place, const std::string& bind = "tcp://127.0.0.1:*",
                   std::vector<std::string> options = {},
                   const std::vector<std::string>& launcher = {});
  [[nodiscard]] std::string address() const { return addresses().back(); }
  [[nodiscard]] Pacml& process() { return process_; }

 private:
  std::vector<std::string> words(const Workplace& place, const std::string& bind,
                                 std::vector<std::string> options);
  [[nodiscard]] std::vector<std::string> addresses() const;

  const Workplace* place_;
  std::size_t before_ = 0;
  Pacml process_;
};

// `pacml replay` with a workplace's configuration.
class Shard {
 public:
  explicit Shard(const Workplace& place, int number, const std::string& bind = "tcp://127.0.0.1:*",
                 std::vector<std::string> options = {},
                 const std::vector<std::string>& launcher = {});
  [[nodiscard]] std::string address() const { return addresses().back(); }
  [[nodiscard]] Pacml& process() { return process_; }

 private:
  static std::vector<std::string> words(const Workplace& place, int number, const std::string& bind,
                                        std::vector<std::string> options);
  [[nodiscard]] std::vector<std::string> addresses() const;

  Pacml process_;
};

// Options that tell a learner or an actor where the shards are.
[[nodiscard]] std::vector<std::string> replay_options(const std::vector<std::string>& addresses);

[[nodiscard]] std::vector<std::string> actor_words(const Workplace& place,
                                                   const std::string& address, int id,
                                                   std::vector<std::string> options = {});

}  // namespace pacml::testing
