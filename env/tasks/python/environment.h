#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/tasks/python/python_process.h"

namespace pacml::env {

// An environment that lives in a Python process. Errors of every call are PythonProcess::ask's, or
// UserError: what the environment shows is not what its task says.
class PythonEnvironment final : public Environment {
 public:
  PythonEnvironment(std::shared_ptr<const EnvironmentSpec> spec,
                    std::shared_ptr<PythonProcess> process);
  PythonEnvironment(const PythonEnvironment&) = delete;
  PythonEnvironment& operator=(const PythonEnvironment&) = delete;
  ~PythonEnvironment() override;

  [[nodiscard]] const EnvironmentSpec& spec() const override { return *spec_; }
  void reset(Seed seed) override;
  [[nodiscard]] StepResult step(int action) override;
  [[nodiscard]] bool takes(int action) const override;
  void observe(Observations& out) const override;
  [[nodiscard]] int agent() const override { return shown_.agent; }
  [[nodiscard]] std::span<const AgentReward> other_rewards() const override { return others_; }
  [[nodiscard]] bool has_left(int agent) const override {
    return left_[static_cast<std::size_t>(agent)];
  }
  // Of its method of that name, where there are several agents.
  void observe_last(int agent, Observations& out) const override;
  // copy.deepcopy of it.
  [[nodiscard]] std::unique_ptr<Environment> clone() const override;
  // Where it has a method of that name.
  [[nodiscard]] bool resample_future(Seed seed) override;
  [[nodiscard]] EpisodeRecord summary() const override;
  [[nodiscard]] std::string describe(int action) const override;

  // What one of its own baselines would do. Pre: it has one of that name.
  [[nodiscard]] int act(const std::string& baseline) const;

 private:
  // An observation, checked.
  struct Shown {
    std::vector<float> globals;
    std::vector<float> candidates;   // [candidates, features]
    std::vector<std::uint8_t> mask;  // [candidates]
    int agent = 0;                   // whose it is
  };
  [[nodiscard]] Shown read(const nlohmann::json& said) const;
  [[nodiscard]] int agent_of(const nlohmann::json& said) const;
  [[nodiscard]] float reward_of(const nlohmann::json& said) const;
  [[nodiscard]] StepResult answered_step(int action);
  void write(const Shown& shown, Observations& out) const;
  [[nodiscard]] nlohmann::json ask(const char* what, nlohmann::json with = {}) const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::shared_ptr<const EnvironmentSpec> spec_;
  std::shared_ptr<PythonProcess> process_;
  std::int64_t id_;
  Shown shown_;  // as of the last decision
  std::vector<AgentReward> others_;
  std::vector<bool> decided_;  // [agents], in this episode
  std::vector<bool> left_;     // [agents], as of the last step
  double total_ = 0;
  std::int64_t decisions_ = 0;
};

}  // namespace pacml::env
