#include "bench/acting_bench.h"

#include <chrono>
#include <memory>
#include <vector>

#include "actor/actor_loop.h"
#include "actor/impala_behaviour.h"
#include "common/rng.h"
#include "model/fused_policy.h"
#include "model/initialise.h"

namespace pacml::bench {

Figures run_acting_bench(const env::TaskConfig& task_config, const model::NetworkConfig& network,
                         const actor::ActorConfig& config, int repetitions) {
  using Clock = std::chrono::steady_clock;
  // What simulators remember of placements grows for a while, above all while actions are random.
  constexpr std::chrono::seconds kWarmUp{5};
  constexpr std::chrono::milliseconds kRepetition{500};
  const auto task = task_config.make();
  const model::NetworkShape shape = model::make_shape(network, task->spec());
  const auto policy = model::make_fused_policy(shape);
  actor::ActorLoop loop(config, task->make_factory(), *policy,
                        std::make_unique<actor::ImpalaBehaviour>(task->spec(), config, Seed{1}),
                        Seed{1});
  loop.set_parameters(model::initialise(shape, Seed{1}));
  // Decisions a second.
  const auto act_for = [&](Clock::duration least) {
    const auto before = loop.decisions();
    const auto start = Clock::now();
    do {
      static_cast<void>(loop.run_message(static_cast<std::size_t>(config.environments)));
    } while (Clock::now() - start < least);
    const std::chrono::duration<double> taken = Clock::now() - start;
    return static_cast<double>(loop.decisions() - before) / taken.count();
  };
  act_for(kWarmUp);
  std::vector<double> rates;
  for (int r = 0; r < repetitions; ++r) rates.push_back(act_for(kRepetition));
  return {{"decisions_per_second", median_of(rates)}};
}

}  // namespace pacml::bench
