#include "apps/evaluation/future.h"

#include "env/picture.h"

namespace pacml::apps {

Future follow(const env::Environment& start, int action,
              const std::function<int(const env::Environment&)>& decide, std::int64_t horizon) {
  Future future;
  const auto environment = start.clone();
  const auto* pictured = dynamic_cast<const env::Pictured*>(environment.get());
  for (bool goes_on = true; goes_on && future.decisions < horizon;) {
    const int next = future.decisions == 0 ? action : decide(*environment);
    const env::StepResult result = environment->step(next);
    ++future.decisions;
    future.reward += static_cast<double>(result.reward);
    goes_on = !result.final();
    if (pictured == nullptr) continue;
    const auto outcome = pictured->picture().last;
    if (outcome && !outcome->kept) ++future.lost;
  }
  return future;
}

}  // namespace pacml::apps
