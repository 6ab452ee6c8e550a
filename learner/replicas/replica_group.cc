#include "learner/replicas/replica_group.h"

namespace pacml::learner {
namespace {

class Alone final : public ReplicaGroup {
 public:
  [[nodiscard]] std::size_t size() const override { return 1; }
  [[nodiscard]] std::size_t rank() const override { return 0; }
  Result<void> gather(std::span<const double> mine, std::vector<double>& all) override {
    all.assign(mine.begin(), mine.end());
    return {};
  }
  Result<void> sum(std::span<float>) override { return {}; }
  Result<void> broadcast(std::string&) override { return {}; }
};

}  // namespace

ReplicaGroup& alone() {
  static Alone group;
  return group;
}

}  // namespace pacml::learner
