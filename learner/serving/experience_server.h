#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/bounded_queue.h"
#include "common/clock.h"
#include "common/serving/actor_desk.h"
#include "common/serving/farewell.h"
#include "common/serving/own_absence.h"
#include "common/serving/sessions.h"
#include "common/serving/status_board.h"
#include "common/serving/work_window.h"
#include "common/transport/channel.h"
#include "common/wire/messages.h"
#include "env/graph_features.h"
#include "learner/learner_config.h"
#include "model/parameters.h"

namespace pacml::learner {

// One message of experience, with every graph that it names.
struct ReceivedSequences {
  transport::PeerId peer;  // whose grant it used
  Sequences sequences;
  std::vector<env::GraphFeaturesPtr> graphs;  // in the order of sequences.observations.graphs()
  std::size_t bytes = 0;                      // as they came
};

struct ExperienceServerConfig {
  serving::WorkWindowConfig work{};  // how much experience may be on the way or in the queue
  // Further ones are turned away.
  std::size_t max_actors = static_cast<std::size_t>(LearnerConfig{}.max_actors);
  // An actor that is not heard of for so long is forgotten.
  Duration silence = in_seconds(LearnerConfig{}.forget_seconds);
  // Of messages that wait here; what would exceed them is dropped, unless nothing else waits.
  std::size_t max_waiting_bytes = static_cast<std::size_t>(LearnerConfig{}.max_waiting_bytes);
  Duration farewell{0};  // at most, for actors to confirm that they have heard of our end
};

// The learner's end of the protocol (docs/protocol.md): welcomes actors, takes their experience
// exactly once and hands it to the learner thread, hands out work as the learner consumes, with
// weights to do it with, and fetches unknown graphs. Memory is bounded: no more is in here than was
// granted, and at most config.max_waiting_bytes.
// run() is confined to one thread, which also owns the transports; publish, consumed, counters,
// weights_sent, queue_depth and board are thread-safe.
class ExperienceServer {
 public:
  // `more`: further members of its status, a JSON object, which hide none of its own; called on the
  // thread of run(). Borrows the clock.
  ExperienceServer(const serving::RunIdentity& run, const ExperienceServerConfig& config,
                   std::function<nlohmann::json()> more = {}, const Clock& clock = steady());

  // Serves until `stop`; then tells every actor to stop, until it has confirmed or for
  // config.farewell, or, after keep_actors(), to come again. Borrows the transports for the call.
  void run(transport::FrameServer& actors, transport::FramePublisher& announcements,
           const std::stop_token& stop);

  // The next message. As BoundedQueue::pop.
  [[nodiscard]] Result<ReceivedSequences> pop(std::stop_token stop, Deadline deadline);
  // The learner is done with a message: somebody may act for another.
  void consumed(const ReceivedSequences& received);
  // What our end means to actors: that they are to wait for whoever comes in our place, or, as long
  // as nobody says so, that the run is over. Before `stop`. Thread-safe.
  void keep_actors() { keep_actors_ = true; }
  void dismiss_actors() { keep_actors_ = false; }
  // New weights to act with: whatever is said to us after this is answered with them.
  void publish(model::Parameters parameters);

  [[nodiscard]] serving::ServerCounters counters() const { return desk_.counters(); }
  [[nodiscard]] std::uint64_t weights_sent() const { return weights_sent_; }
  [[nodiscard]] std::size_t queue_depth() const { return queue_.size(); }
  // The status as of about a second ago.
  [[nodiscard]] const serving::StatusBoard& board() const { return board_; }

 private:
  struct Consumed {
    transport::PeerId peer;
    std::uint64_t decisions = 0;
  };

  void dispatch(const transport::Incoming& incoming);
  void welcome(const transport::Incoming& from, const wire::Hello& hello);
  // A message into the queue, with its graphs; false: the queue is full. `bytes`: of its frame.
  bool take(const transport::PeerId& peer, wire::Experience&& experience, std::size_t bytes);
  void learn_graph(const transport::PeerId& peer, const wire::Graph& graph);
  void send_weights(const transport::PeerId& peer, PolicyVersion have);
  void take_back_consumed();
  // Tells who may act, with weights where theirs are too old for that.
  void tell_grants();
  // Whether the learner had to wait for experience since the last time: the window follows.
  void adapt();
  void look_for_new_weights();
  // The learner went back to an older version: actors that were sent newer ones get what it has.
  void replace_abandoned_weights();
  void announce_new_weights();
  // How many actors would keep the learner as busy as it is.
  [[nodiscard]] std::uint64_t enough_actors() const;
  // Who waits for whom: whether the learner does, and in a sentence.
  struct Limiter {
    bool learner_waits = false;
    std::string sentence;
  };
  [[nodiscard]] Limiter limiter() const;
  // What each actor does, the first kMostPeers by number: [{"actor", "decisions", "weights",
  // "silent_seconds", "acts"}, ...], decisions being those of its present life; who does not act
  // waits for leave to.
  [[nodiscard]] nlohmann::json peers() const;
  // A JSON object for people and programs.
  [[nodiscard]] std::string status() const;
  [[nodiscard]] Deadline until_next_duty() const;
  // What is due each second: silent actors are forgotten, the status is published.
  void sweep();
  // Until `stop`, after which the queue is closed.
  void serve(const std::stop_token& stop);
  void say_farewell();
  // What comes after the end, which is the answer to nearly everything.
  void answer_finally(serving::Farewell& farewell, const transport::Incoming& incoming);

  const Clock* clock_;
  BoundedQueue<ReceivedSequences> queue_;
  std::atomic<std::uint64_t> weights_sent_{0};
  serving::StatusBoard board_;

  // Confined to run().
  transport::FrameServer* transport_ = nullptr;
  transport::FramePublisher* publisher_ = nullptr;
  serving::ActorDesk<wire::Experience> desk_;  // but for what is thread-safe of it
  std::unordered_map<GraphHash, env::GraphFeaturesPtr> graphs_;
  const Duration farewell_;
  std::shared_ptr<const model::Parameters> weights_;
  std::shared_ptr<const model::Parameters> encoded_of_;  // what encoded_ says
  wire::Frame encoded_;
  std::function<nlohmann::json()> more_;
  serving::OwnAbsence absence_;
  TimePoint next_sweep_;
  TimePoint last_adaption_;
  Duration waited_before_{0};  // of waited_, then
  double starved_share_ = 1;   // of the last second or so, how long the learner waited
  double acting_ = 0;          // how many actors had a grant to use, in the mean of that time
  std::shared_ptr<const model::Parameters> announced_;
  std::atomic<bool> keep_actors_{false};
  TimePoint last_announcement_;
  TimePoint next_announcement_;  // of what is newest now

  // Between the learner thread and run().
  mutable std::mutex mutex_;
  std::vector<Consumed> consumed_;        // under mutex_
  Duration waited_{0};                    // for experience, by pop(); under mutex_
  std::optional<TimePoint> waits_since_;  // in pop(); under mutex_
  std::shared_ptr<const model::Parameters> newest_weights_;  // under mutex_
  transport::FrameServer* wakeable_ = nullptr;               // under mutex_; while run() runs
};

}  // namespace pacml::learner
