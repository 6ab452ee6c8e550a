#include "actor/sequence_writer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/check.h"
#include "env/feature_check.h"

namespace pacml::actor {

SequenceWriter::SequenceWriter(const env::EnvironmentSpec& spec, std::size_t environments,
                               std::size_t steps, std::size_t held_back)
    : task_(spec.task),
      nothing_(spec.make_observations()),
      steps_(steps),
      held_back_(held_back),
      environments_(environments),
      streams_(environments),
      last_states_(nothing_),
      kept_(nothing_) {
  PACML_CHECK(held_back == 0 || held_back + steps < SequenceLimits{}.max_length,
              "what is held back fits into a sequence");
  std::iota(environments_.begin(), environments_.end(), std::size_t{0});
}

void SequenceWriter::begin(std::span<const std::size_t> environments) {
  PACML_CHECK(steps_done_ == 0, "a message is of the same environments from its first step on");
  environments_.assign(environments.begin(), environments.end());
}

SequenceWriter::Stream& SequenceWriter::stream(std::size_t environment, int agent) {
  auto& streams = streams_[environment];
  const auto index = static_cast<std::size_t>(agent);
  while (streams.size() <= index) {
    Stream& fresh = streams.emplace_back();
    fresh.states = fresh.last_states = nothing_;
  }
  return streams[index];
}

void SequenceWriter::append_states(const Observations& observations, std::span<const int> agents) {
  PACML_CHECK(observations.size() == environments_.size() && agents.size() == environments_.size(),
              "one observation and its agent for each environment");
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    stream(environments_[row], agents[row]).states.append_row(observations, row);
  }
}

void SequenceWriter::observe(const Observations& observations, std::span<const int> agents) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  append_states(observations, agents);
  agents_.assign(agents.begin(), agents.end());
}

void SequenceWriter::step(std::span<const int> actions, std::span<const float> log_probs,
                          PolicyVersion version, const VectorEnv::Outcome& outcome,
                          std::span<const float> action_values) {
  PACML_CHECK(!full(), "a full message is taken before the next step");
  const bool searches = !action_values.empty();
  for (std::size_t row = 0; row < environments_.size(); ++row) {
    const env::StepResult& result = outcome.results[row];
    Stream& mine = stream(environments_[row], agents_[row]);
    std::size_t searched = 0;
    if (searches) {
      searched = mine.states.num_valid(mine.states.size() - 1);
      PACML_CHECK(searched <= action_values.size(), "a value for each valid candidate");
      const auto values = action_values.first(searched);
      mine.action_values.insert(mine.action_values.end(), values.begin(), values.end());
      action_values = action_values.subspan(searched);
    }
    mine.decisions.push_back({.version = version,
                              .step = mine.steps++,
                              .action = static_cast<std::int16_t>(actions[row]),
                              .num_action_values = static_cast<std::uint32_t>(searched),
                              .log_prob = log_probs[row],
                              .reward = result.reward});
    mine.waits = true;
    for (Stream& any : streams_[environments_[row]]) {
      if (any.waits) any.decisions.back().elapsed += result.elapsed;
    }
  }
  for (const auto& [row, other] : outcome.other_rewards) {
    Stream& theirs = stream(environments_[row], other.agent);
    if (theirs.waits) theirs.decisions.back().reward += other.reward;
  }
  for (std::size_t i = 0; i < outcome.last_states.size(); ++i) {
    const auto& [row, agent] = outcome.last_states[i];
    Stream& cut = stream(environments_[row], agent);
    cut.cut = true;
    cut.last_states.append_row(outcome.last_observations, i);
  }
  for (const auto& finished : outcome.finished) {
    finish(environments_[finished.row], outcome.results[finished.row]);
    episodes_.push_back(finished.summary);
  }
  ++steps_done_;
}

void SequenceWriter::finish(std::size_t environment, const env::StepResult& result) {
  // The environment may say both; an agent that has left is told the one alone.
  const int both = Sequences::kTerminated | (result.truncated ? Sequences::kTruncated : 0);
  for (Stream& any : streams_[environment]) {
    any.steps = 0;
    const bool cut = std::exchange(any.cut, false);
    if (!std::exchange(any.waits, false)) continue;
    const int alone = cut ? Sequences::kTruncated : Sequences::kTerminated;
    any.decisions.back().flags = static_cast<std::uint8_t>(result.terminated ? both : alone);
  }
}

std::size_t SequenceWriter::ready(const Stream& stream) const {
  const std::size_t known = stream.known();
  if (held_back_ == 0) return known;
  std::size_t whole = known;
  while (whole > 0 && stream.decisions[whole - 1].flags == 0) --whole;
  return known - whole > held_back_ ? known : whole;
}

std::size_t SequenceWriter::end_of_sequence(const Stream& stream, std::size_t begin,
                                            std::size_t ready) const {
  const auto& decisions = stream.decisions;
  const std::size_t longest = held_back_ == 0 ? steps_ : SequenceLimits{}.max_length;
  std::size_t end = begin + 1;
  while (end < ready && end - begin < longest) {
    // Weights that turn out to be none give way to those before them: a sequence ends there.
    if (decisions[end].version < decisions[end - 1].version) break;
    if (held_back_ > 0 && decisions[end - 1].flags != 0) break;
    ++end;
  }
  return end;
}

void SequenceWriter::send(Stream& stream, Sequences& out) {
  const std::size_t ready = this->ready(stream);
  const auto& decisions = stream.decisions;
  std::size_t begin = 0;
  while (begin < ready) {
    const std::size_t end = end_of_sequence(stream, begin, ready);
    out.lengths.push_back(static_cast<std::uint32_t>(end - begin));
    out.first_step.push_back(decisions[begin].step);
    out.observations.append_rows(stream.states, begin, end - begin + 1);
    begin = end;
  }
  std::size_t cut = 0;
  std::ptrdiff_t searched = 0;
  for (std::size_t i = 0; i < ready; ++i) {
    const Decision& decision = decisions[i];
    searched += decision.num_action_values;
    out.action.push_back(decision.action);
    out.behaviour_log_prob.push_back(decision.log_prob);
    out.reward.push_back(env::finite_reward(task_, decision.reward));
    out.elapsed.push_back(static_cast<float>(decision.elapsed));
    out.flags.push_back(decision.flags);
    out.append_version(decision.version);
    if (decision.flags == Sequences::kTruncated) ++cut;
  }
  last_states_.append_rows(stream.last_states, 0, cut);
  const auto values_end = stream.action_values.begin() + searched;
  out.action_values.insert(out.action_values.end(), stream.action_values.begin(), values_end);
  stream.action_values.erase(stream.action_values.begin(), values_end);

  // What is left is what is held back, and the last decision, if what followed it is not known.
  stream.decisions.erase(stream.decisions.begin(),
                         stream.decisions.begin() + static_cast<std::ptrdiff_t>(ready));
  const auto keep = [this](Observations& rows, std::size_t first, std::size_t count) {
    kept_.clear();
    kept_.append_rows(rows, first, count);
    std::swap(rows, kept_);
  };
  keep(stream.last_states, cut, stream.last_states.size() - cut);
  keep(stream.states, ready, stream.decisions.size());
}

Sequences SequenceWriter::take(const Observations& next_observations,
                               std::span<const int> next_agents) {
  PACML_CHECK(full(), "only a full message is taken");
  append_states(next_observations, next_agents);
  Sequences done;
  std::size_t decisions = 0;
  std::size_t sequences = 0;
  for (const std::size_t environment : environments_) {
    for (const Stream& any : streams_[environment]) {
      decisions += ready(any);
      sequences += (ready(any) + steps_ - 1) / steps_;
    }
  }
  done.observations = nothing_;
  done.observations.reserve(decisions + sequences);
  done.lengths.reserve(sequences);
  done.first_step.reserve(sequences);
  done.action.reserve(decisions);
  done.behaviour_log_prob.reserve(decisions);
  done.reward.reserve(decisions);
  done.elapsed.reserve(decisions);
  done.flags.reserve(decisions);
  last_states_.clear();
  for (const std::size_t environment : environments_) {
    for (Stream& any : streams_[environment]) send(any, done);
  }
  done.observations.append_rows(last_states_, 0, last_states_.size());
  done.episodes = std::exchange(episodes_, {});
  if (std::ranges::all_of(done.elapsed, [](float elapsed) { return elapsed == 1; })) {
    done.elapsed = {};
  }
  steps_done_ = 0;
  return done;
}

}  // namespace pacml::actor
