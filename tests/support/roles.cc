#include "tests/support/roles.h"

#include <sstream>
#include <utility>

#include "tests/support/catch.h"

namespace pacml::testing {

std::vector<std::string> train_words(const Workplace& place,
                                     const std::vector<std::string>& options) {
  std::vector<std::string> words = {"train", place.config_file(), "--run", place.run()};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

pid_t role_of(const Pacml& train, const std::string& part) {
  for (const auto& [pid, command] : children_of(train.pid())) {
    if (command.find(part) != std::string::npos) return pid;
  }
  return 0;
}

void wait_for_another(const Pacml& train, const std::string& role, pid_t former) {
  wait_until("another process has the place of " + role, [&] {
    const pid_t now = role_of(train, role);
    return now > 0 && now != former;
  });
}

std::vector<std::string> lines_after(const std::string& log, const std::string& mark) {
  std::vector<std::string> found;
  std::istringstream text(log);
  for (std::string line; std::getline(text, line) && !text.eof();) {
    const auto at = line.find(mark);
    if (at != std::string::npos) found.push_back(line.substr(at + mark.size()));
  }
  return found;
}

std::int64_t number_after(const std::string& log, const std::string& mark) {
  const auto found = lines_after(log, mark);
  INFO("looking for \"" << mark << "\" in\n" << log);
  REQUIRE_FALSE(found.empty());
  return std::stoll(found.back());
}

nlohmann::json last_report(const std::string& log) {
  const auto reports = lines_after(log, "info  replay-");
  REQUIRE_FALSE(reports.empty());
  const auto begin = reports.back().find('{');
  REQUIRE(begin != std::string::npos);
  return nlohmann::json::parse(reports.back().substr(begin));
}

void check_books(const nlohmann::json& report, const apps::TrainConfig& config,
                 std::int64_t joins) {
  INFO(report);
  // A message holds unrolls of as many environments as the shard wanted, from one to all.
  const auto messages =
      report["messages"].get<std::int64_t>() - report["inserts_waiting"].get<std::int64_t>();
  const auto inserted = report["inserted"].get<std::int64_t>();
  CHECK(inserted <= config.actor.environments * config.actor.unroll_length * messages);
  CHECK(inserted >= config.actor.unroll_length * messages -
                        joins * config.actor.environments * config.transitions.n_step);
}

nlohmann::json status_of(const Workplace& place, const std::string& address) {
  const std::string file = (place / "status.json").string();
  const Outcome outcome = pacml({"status", address, "--out", file, "--seconds", "120"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.empty());
  return nlohmann::json::parse(text_of(file));
}

std::string shard_address(const Workplace& place, int number) {
  std::vector<std::string> addresses;
  wait_until("the shard serves", [&] {
    addresses =
        lines_after(place.log("replay-" + std::to_string(number)), "actors and learners at ");
    return !addresses.empty();
  });
  return addresses.back();
}

// ---- Learner ----

Learner::Learner(const Workplace& place, const std::string& bind, std::vector<std::string> options,
                 const std::vector<std::string>& launcher)
    : place_(&place), process_(words(place, bind, std::move(options)), launcher) {
  // Each life adds a line; ours is there when there is one more than before.
  wait_until("the learner serves actors", [this] {
    REQUIRE(process_.runs());
    return addresses().size() > before_;
  });
}

std::vector<std::string> Learner::words(const Workplace& place, const std::string& bind,
                                        std::vector<std::string> options) {
  place_ = &place;
  before_ = addresses().size();
  options.insert(options.begin(),
                 {"learner", place.config_file(), "--run", place.run(), "--bind", bind});
  return options;
}

std::vector<std::string> Learner::addresses() const {
  return lines_after(place_->log("learner"), "serving actors at ");
}

// ---- Shard ----

Shard::Shard(const Workplace& place, int number, const std::string& bind,
             std::vector<std::string> options, const std::vector<std::string>& launcher)
    : process_(words(place, number, bind, std::move(options)), launcher) {
  wait_until("the shard serves", [this] {
    REQUIRE(process_.runs());
    return !addresses().empty();
  });
}

std::vector<std::string> Shard::words(const Workplace& place, int number, const std::string& bind,
                                      std::vector<std::string> options) {
  options.insert(options.begin(), {"replay", place.config_file(), "--shard", std::to_string(number),
                                   "--bind", bind});
  return options;
}

std::vector<std::string> Shard::addresses() const {
  return lines_after(process_.err(), "serving actors and learners at ");
}

// ---- words ----

std::vector<std::string> replay_options(const std::vector<std::string>& addresses) {
  std::vector<std::string> options;
  for (const auto& address : addresses) options.insert(options.end(), {"--replay", address});
  return options;
}

std::vector<std::string> actor_words(const Workplace& place, const std::string& address, int id,
                                     std::vector<std::string> options) {
  options.insert(options.begin(),
                 {"actor", place.config_file(), "--learner", address, "--id", std::to_string(id)});
  return options;
}

}  // namespace pacml::testing
