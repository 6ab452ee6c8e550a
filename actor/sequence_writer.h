#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actor/vector_env.h"
#include "common/experience/observations.h"
#include "common/experience/sequences.h"

namespace pacml::actor {

// Turns steps of B of an actor's environments in lockstep into messages of T steps each: sequences
// of what each agent of each environment decided, in the order of the rows and then of the agents.
//
// A decision is sent when what followed it is known, which its agent sees when it decides again:
// until then, also where its episode has ended meanwhile, it waits for a later message. Where an
// environment has one agent, that is at once, and a message has B sequences of T decisions. Else no
// sequence is longer than T, none has more than T + 1 decisions for each row, and the first
// messages may be short, even empty. Environments may stand still for some messages: what waits
// there goes on waiting.
//
// Where whole episodes are asked for, decisions also wait until their episode ends, and a sequence
// is an episode; but no more than `held_back` decisions of a stream wait longer than a message:
// they go as they are, and the rest of the episode is a sequence of its own. Thread-confined.
class SequenceWriter {
 public:
  // `held_back`: 0, or whole episodes are asked for; held_back + steps is below 4096, which is the
  // longest sequence.
  SequenceWriter(const env::EnvironmentSpec& spec, std::size_t environments, std::size_t steps,
                 std::size_t held_back = 0);

  // The rows of the next message are these of the environments; else those of the one before, and
  // of the first one all, in order.
  void begin(std::span<const std::size_t> environments);
  // What the next actions answer, and whose they are [B]. Once per step, before `step`.
  void observe(const Observations& observations, std::span<const int> agents);
  // The actions [B], their log-probabilities under the behaviour policy [B] and what came of them.
  // `action_values`: what a search found the valid candidates to be worth, those of row 0 first; or
  // empty. Either always or never.
  void step(std::span<const int> actions, std::span<const float> log_probs, PolicyVersion version,
            const VectorEnv::Outcome& outcome, std::span<const float> action_values = {});
  // True when T steps are written; then `take`, with what follows the last step, as for `observe`.
  [[nodiscard]] bool full() const { return steps_done_ == steps_; }
  // UserError: rewards of a decision add up to what is not finite.
  [[nodiscard]] Sequences take(const Observations& next_observations,
                               std::span<const int> next_agents);

 private:
  struct Decision {
    PolicyVersion version;
    std::uint32_t step = 0;  // of the stream's in its episode
    std::int16_t action = 0;
    std::uint8_t flags = 0;
    std::uint32_t num_action_values = 0;
    float log_prob = 0;
    double reward = 0;   // so far
    double elapsed = 0;  // so far
  };
  // What one agent of one environment decided and has not been sent.
  struct Stream {
    std::vector<Decision> decisions;
    // What each of them answered; while a message is made, also what followed the last.
    Observations states;
    Observations last_states;          // of those that were cut
    std::vector<float> action_values;  // of the decisions in turn
    std::uint32_t steps = 0;           // decided in this episode
    bool waits = false;                // for what the last decision comes to
    bool cut = false;                  // the step ended the episode, and not by itself for it
    // How many of them are known in full, those first that were decided first.
    [[nodiscard]] std::size_t known() const { return states.size() - (states.size() > 0 ? 1 : 0); }
  };

  [[nodiscard]] Stream& stream(std::size_t environment, int agent);
  void append_states(const Observations& observations, std::span<const int> agents);
  void finish(std::size_t environment, const env::StepResult& result);
  // How many of its decisions, from the first one on, go with the message that is made.
  [[nodiscard]] std::size_t ready(const Stream& stream) const;
  // Where the sequence ends that begins with a decision; end > begin.
  [[nodiscard]] std::size_t end_of_sequence(const Stream& stream, std::size_t begin,
                                            std::size_t ready) const;
  // Moves what is ready to the end of a message, its last states to last_states_.
  void send(Stream& stream, Sequences& out);

  std::string task_;      // its name
  Observations nothing_;  // the spec's shape and graphs, without rows
  std::size_t steps_;
  std::size_t held_back_;
  std::vector<std::size_t> environments_;     // [B], in the rows
  std::vector<std::vector<Stream>> streams_;  // [all environments, agents that have decided]
  std::vector<int> agents_;                   // [B], of the step to come
  std::vector<EpisodeRecord> episodes_;       // that ended since the last message
  std::size_t steps_done_ = 0;
  Observations last_states_;  // of the message that is made
  Observations kept_;         // scratch
};

}  // namespace pacml::actor
