#pragma once

#include "apps/roles/composition.h"
#include "apps/run/train_config.h"
#include "bench/figures.h"

namespace pacml::apps {

// The learner of a configuration without its actors, on one core: its algorithm, network and
// batches, on what an actor with the newest weights does in its task, or for Ape-X on what is drawn
// of that. Acting and drawing happen in between and are not measured. What is, is an update of a
// training (learner/learner_loop.h): experience is looked at, counted and put together as a batch,
// its rows as actors send them; what the network reads of candidates is computed where it is used;
// all passes and steps of the algorithm; and the copy of the weights for actors.
//   samples_per_second      median over updates; counted as in metrics.jsonl, where one that an
//                           update goes through several times is one
//   samples_per_update, update_seconds   the same
// `make_network`: what learns; learner.threads and learner.replicas are left out, and so is a warm
// start. Takes seconds, half a minute where actors search. UserError: what is wrong with the
// configuration shows in its task, update after update comes to nothing, or acting for a few takes
// more than five minutes.
[[nodiscard]] bench::Figures run_learning_bench(const TrainConfig& config,
                                                const NetworkFactory& make_network);

}  // namespace pacml::apps
