#include "learner/returns/episode_returns.h"

#include <cstddef>

#include "learner/returns/over_time.h"

namespace pacml::learner {

EpisodeReturns episode_returns(const TrainBatch& batch, double discount) {
  EpisodeReturns out;
  out.returns.resize(batch.decisions());
  out.known.resize(batch.decisions());
  for (const SequenceRange& sequence : batch.sequences) {
    double following = 0;
    bool known = false;
    for (std::size_t i = sequence.first + sequence.length; i-- > sequence.first;) {
      if (batch.ends[i] != 0) {
        following = 0;
        known = true;
      }
      if (!known) continue;
      following = batch.rewards[i] + over_time(discount, batch.elapsed[i]) * following;
      out.returns[i] = static_cast<float>(following);
      out.known[i] = 1;
    }
  }
  return out;
}

}  // namespace pacml::learner
