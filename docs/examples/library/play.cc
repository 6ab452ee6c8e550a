// Plays a few episodes of a task with two policies, by the same arrivals, and says how each did:
//
//   play CONFIG [MODEL]      MODEL: a run folder, or an exported .safetensors policy
//
#include <pacml/environment.h>
#include <pacml/error.h>
#include <pacml/policy.h>
#include <pacml/version.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t kEpisodes = 3;

// The mean of the task's objective.
double play(const pacml::api::Task& task, pacml::api::Policy policy) {
  pacml::api::Environment environment(task);
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kEpisodes; ++seed) {
    environment.reset(seed);
    policy.reset(seed);
    while (!environment.is_over()) environment.step(policy.decide(environment).action);
    sum += environment.metrics().front();
  }
  return sum / kEpisodes;
}

int compare(const std::string& config, const std::string& model) {
  const auto task = pacml::api::Task::from_file(config);
  std::cout << "pacml " << pacml::api::version() << ", task " << task.name() << ", "
            << task.metrics().front().name << ":\n";
  for (const auto& name : task.baselines()) {
    try {
      const double score = play(task, pacml::api::Policy::baseline(task, name));
      std::cout << "  " << name << " " << score << "\n";
    } catch (const pacml::api::Error&) {
      // It needs an argument, such as constant:8.
    }
  }
  if (!model.empty()) {
    const double score = play(task, pacml::api::Policy::open(model, task));
    std::cout << "  " << model << " " << score << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: play CONFIG [MODEL]\n";
    return 2;
  }
  try {
    return compare(argv[1], argc == 3 ? argv[2] : "");
  } catch (const pacml::api::Error& error) {
    std::cerr << "play: " << error.what() << "\n";
    return 2;
  }
}
