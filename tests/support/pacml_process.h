#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tiny_run.h"

// The built programs, as a user runs them.

namespace pacml::testing {

// The path of pacml in this build.
[[nodiscard]] std::string pacml_path();

// One pacml process. `launcher`: words before the program that place it somewhere, and become it
// (VirtualHost::launcher) or, with pid() being theirs, wait for it.
class Pacml : public Program {
 public:
  explicit Pacml(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& launcher = {});
};

// Runs pacml to its end.
Outcome pacml(const std::vector<std::string>& arguments,
              const std::vector<std::string>& launcher = {});

// A folder with a tiny configuration and room for runs.
class Workplace {
 public:
  explicit Workplace(const apps::TrainConfig& config = tiny_config());
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace();
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return folder_ / name;
  }
  [[nodiscard]] std::string config_file() const { return (folder_ / "tiny.yaml").string(); }
  [[nodiscard]] std::string run() const { return (folder_ / "run").string(); }
  // An address of a learner, short enough for the system.
  [[nodiscard]] std::string socket() const { return "ipc://" + (folder_ / "s").string(); }

  [[nodiscard]] std::vector<nlohmann::json> metrics() const;
  // Of the newest line; 0 before there is one.
  [[nodiscard]] std::int64_t latest(const std::string& key) const;
  void wait_for_decisions(std::int64_t count) const;
  [[nodiscard]] std::string log(const std::string& role) const;
  [[nodiscard]] std::vector<std::string> checkpoints() const;

 private:
  TempDir folder_;
};

}  // namespace pacml::testing
