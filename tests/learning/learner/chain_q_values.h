#pragma once

#include <vector>

#include "model/duelling.h"
#include "model/policy.h"
#include "model/value_heads.h"
#include "tests/support/catch.h"
#include "tests/support/chain_replay.h"

namespace pacml::learner {

// What the best policy of the signal chain gets from an action on. A wrong step leads back, where
// a fair coin decides what comes next: the value there does not depend on it.
inline double best_q(int place, int coin, int action, double discount) {
  using env::SignalChain;
  if (action == SignalChain::kDecoyAction) return SignalChain::kDecoy;
  if (action == coin) return SignalChain::best_value(place, discount);
  return discount * SignalChain::best_value(place > 0 ? place - 1 : 0, discount);
}

// Action values of every state, row 2 place + coin, by published weights.
inline std::vector<float> q_everywhere(model::Policy& policy, testing::ChainView view,
                                       model::ValueHeads heads = model::ValueHeads::kDuelling) {
  const Observations states = testing::ChainReplay::every_state(view);
  model::PolicyOutput out;
  policy.evaluate(states, out);
  std::vector<float> q(out.logits.size());
  model::action_values(heads, out.logits, out.values, states.masks(), states.num_candidates(), q);
  return q;
}

// Every valid action's value is within `error`, and the greedy action of every state is the best.
inline void require_best(const std::vector<float>& q, double discount, double error) {
  constexpr int kActions = 3;
  for (int place = 0; place < env::SignalChain::kLength; ++place) {
    for (int coin = 0; coin < 2; ++coin) {
      const float* row = q.data() + (2 * place + coin) * kActions;
      INFO("place " << place << ", coin " << coin);
      CHECK(model::best_valid_action({row, kActions}) == coin);
      for (int action = 0; action < kActions; ++action) {
        if (action == env::SignalChain::kDecoyAction && place > 0) continue;
        INFO("action " << action);
        CHECK(row[action] == Approx(best_q(place, coin, action, discount)).margin(error));
      }
    }
  }
}

}  // namespace pacml::learner
