#include "learner/serving/experience_server.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/config/diff.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/wire/codec.h"

namespace pacml::learner {
namespace {

constexpr std::chrono::milliseconds kSlice{200};  // how long a wait may ignore the stop token
constexpr std::chrono::milliseconds kSweepEvery{1'000};
constexpr std::chrono::milliseconds kRepeatEvery{500};  // announcements of the same weights
// Graphs are few; a peer that names more distinct ones than this is broken or hostile.
constexpr std::size_t kMaxGraphs = 1U << 16;

TimePoint now() { return std::chrono::steady_clock::now(); }

env::GraphFeaturesPtr from_message(const wire::Graph& m) {
  auto graph = std::make_shared<env::GraphFeatures>();
  graph->num_nodes = static_cast<int>(m.num_nodes);
  graph->num_edges = static_cast<int>(m.num_edges);
  graph->node_width = static_cast<int>(m.node_width);
  graph->edge_width = static_cast<int>(m.edge_width);
  graph->node_features = m.node_features;
  graph->edge_features = m.edge_features;
  graph->edge_src = m.edge_src;
  graph->edge_dst = m.edge_dst;
  graph->hash = env::hash_features(*graph);
  return graph;
}

}  // namespace

ExperienceServer::ExperienceServer(const RunIdentity& run, const ExperienceServerConfig& config)
    : run_(run), config_(config), queue_(config.credits_per_actor * config.max_actors) {}

void ExperienceServer::run(transport::FrameServer& actors, transport::FramePublisher& announcements,
                           const std::stop_token& stop) {
  transport_ = &actors;
  publisher_ = &announcements;
  {
    const std::scoped_lock lock(mutex_);
    wakeable_ = &actors;
  }
  next_sweep_ = now() + kSweepEvery;
  while (!stop.stop_requested()) {
    grant_returned_credits();
    announce_new_weights();
    forget_silent_actors();
    auto incoming = transport_->receive(Deadline::in(kSlice));
    if (incoming) {
      dispatch(incoming->peer, incoming->frame);
    } else if (incoming.error().code == Errc::kStopped) {
      break;
    }
  }
  for (const auto& [peer, actor] : actors_) {
    send(peer, wire::Refused{wire::Refusal::kStopping, "the learner stops"});
  }
  {
    const std::scoped_lock lock(mutex_);
    wakeable_ = nullptr;
  }
  queue_.close();
}

void ExperienceServer::dispatch(const transport::PeerId& peer, const wire::Frame& frame) {
  auto message = wire::decode(frame);
  if (!message) {
    {
      const std::scoped_lock lock(mutex_);
      ++counters_.malformed;
    }
    refuse(peer, wire::Refusal::kMalformed, message.error().detail);
    return;
  }
  if (const auto* hello = std::get_if<wire::Hello>(&*message)) return welcome(peer, *hello);
  const auto known = actors_.find(peer);
  if (known == actors_.end()) {
    return refuse(peer, wire::Refusal::kUnknownPeer, "say Hello first");
  }
  known->second.last_heard = now();
  std::visit(
      [&](auto&& m) {
        using M = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<M, wire::Experience>) {
          receive(peer, std::move(m));
        } else if constexpr (std::is_same_v<M, wire::GetWeights>) {
          send_weights(peer, m.have);
        } else if constexpr (std::is_same_v<M, wire::Graph>) {
          learn_graph(peer, m);
        } else if constexpr (std::is_same_v<M, wire::Ping>) {
          // An actor that waits asks so: whatever it may have missed is said again.
          say_credit(peer, known->second);
          deliver_waiting(peer, known->second);
          send(peer, wire::Pong{m.nonce});
        } else if constexpr (std::is_same_v<M, wire::Goodbye>) {
          actors_.erase(known);
        }
        // What only a client gets is ignored.
      },
      *std::move(message));
  const std::scoped_lock lock(mutex_);
  counters_.actors = actors_.size();
}

void ExperienceServer::welcome(const transport::PeerId& peer, const wire::Hello& hello) {
  if (hello.role != wire::Role::kActor) {
    return refuse(
        peer, wire::Refusal::kConfig,
        "this is a learner: it talks to actors, not to a " + std::string(name_of(hello.role)));
  }
  if (hello.config_hash != run_.config_hash) {
    const auto differences = config_differences(run_.config_text, hello.config_text);
    return refuse(peer, wire::Refusal::kConfig,
                  "the actor's configuration differs from the learner's (here: learner): " +
                      join(differences, "; "));
  }
  if (!hello.run_id.empty() && hello.run_id != run_.run_id) {
    return refuse(peer, wire::Refusal::kRun,
                  "the actor belongs to run " + hello.run_id + ", this is run " + run_.run_id);
  }
  if (!actors_.contains(peer) && actors_.size() >= config_.max_actors) {
    return refuse(peer, wire::Refusal::kConfig,
                  "the learner already has as many actors as learner.max_actors allows: " +
                      std::to_string(config_.max_actors));
  }
  for (auto it = actors_.begin(); it != actors_.end();) {
    const bool same_actor = it->first != peer && it->second.id == hello.actor;
    if (same_actor && it->second.incarnation > hello.incarnation) {
      return refuse(peer, wire::Refusal::kStale, "a newer incarnation of this actor is here");
    }
    it = same_actor ? actors_.erase(it) : std::next(it);  // its former connection
  }
  const auto [entry, is_new] = actors_.try_emplace(peer);
  Actor& actor = entry->second;
  if (is_new || actor.id != hello.actor || actor.incarnation != hello.incarnation) {
    const Sequence used = tracker_.last_accepted(hello.actor, hello.incarnation);
    actor = Actor{hello.actor, hello.incarnation, used, used.get(), {}, {}};
  }
  actor.last_heard = now();
  {
    const std::scoped_lock lock(mutex_);
    counters_.actors = actors_.size();
  }
  send(peer, wire::Welcome{run_.run_id, run_.run_seed, granted(actor),
                           weights_ ? weights_->version : PolicyVersion{0}, run_.max_policy_lag});
}

void ExperienceServer::receive(const transport::PeerId& peer, wire::Experience&& experience) {
  Actor& actor = actors_.at(peer);
  if (experience.actor != actor.id || experience.incarnation != actor.incarnation ||
      experience.sequence.get() > granted(actor)) {
    return refuse(peer, wire::Refusal::kMalformed,
                  "experience of another actor, or more of it than was granted");
  }
  const auto verdict =
      tracker_.accept(experience.actor, experience.incarnation, experience.sequence);
  {
    const std::scoped_lock lock(mutex_);
    counters_.accepted = tracker_.accepted();
    counters_.duplicates = tracker_.duplicates() + tracker_.stale();
    counters_.gaps = tracker_.gaps();
  }
  if (verdict != wire::SequenceTracker::Verdict::kAccept) return;
  actor.returned += experience.sequence.get() - actor.used.get() - 1;
  actor.used = experience.sequence;
  actor.waiting.push_back(std::move(experience));
  deliver_waiting(peer, actor);
}

void ExperienceServer::deliver_waiting(const transport::PeerId& peer, Actor& actor) {
  std::set<GraphHash> missing;
  std::size_t delivered = 0;
  for (auto& experience : actor.waiting) {
    std::vector<env::GraphFeaturesPtr> graphs;
    for (const GraphHash hash : experience.unrolls.graphs) {
      if (const auto it = graphs_.find(hash); it != graphs_.end()) {
        graphs.push_back(it->second);
      } else {
        missing.insert(hash);
      }
    }
    if (!missing.empty()) break;  // and what came later waits behind it
    // There is room: the queue holds every credit that all actors together may use.
    if (!queue_.try_push({peer, std::move(experience.unrolls), std::move(graphs)})) break;
    ++delivered;
  }
  actor.waiting.erase(actor.waiting.begin(),
                      actor.waiting.begin() + static_cast<std::ptrdiff_t>(delivered));
  for (const GraphHash hash : missing) send(peer, wire::NeedGraph{hash});
}

void ExperienceServer::learn_graph(const transport::PeerId& peer, const wire::Graph& message) {
  auto graph = from_message(message);
  if (graph->hash != message.hash || graphs_.size() >= kMaxGraphs) {
    return refuse(peer, wire::Refusal::kMalformed, "a graph that is not what its hash says");
  }
  graphs_.emplace(graph->hash, std::move(graph));
  for (auto& [waiting_peer, actor] : actors_) {
    if (!actor.waiting.empty()) deliver_waiting(waiting_peer, actor);
  }
}

void ExperienceServer::send_weights(const transport::PeerId& peer, PolicyVersion have) {
  if (!weights_) return;  // the learner has not begun; the actor asks again
  if (have == weights_->version && have.get() != 0) {
    return send(peer, wire::WeightsAnnouncement{
                          have, content_hash(std::span<const float>(weights_->values))});
  }
  send(peer, wire::Weights{weights_->version, weights_->layout_hash, weights_->values});
  const std::scoped_lock lock(mutex_);
  ++counters_.weights_sent;
}

void ExperienceServer::grant_returned_credits() {
  std::vector<transport::PeerId> returned;
  {
    const std::scoped_lock lock(mutex_);
    returned.swap(returned_);
  }
  for (const auto& peer : returned) {
    const auto it = actors_.find(peer);
    if (it == actors_.end()) continue;  // gone, and its credits with it
    Actor& actor = it->second;
    if (actor.returned < actor.used.get()) ++actor.returned;
    say_credit(peer, actor);
  }
}

void ExperienceServer::say_credit(const transport::PeerId& peer, const Actor& actor) {
  send(peer, wire::Credit{granted(actor), actor.used});
}

void ExperienceServer::announce_new_weights() {
  std::shared_ptr<const model::Parameters> newest;
  {
    const std::scoped_lock lock(mutex_);
    newest = newest_weights_;
  }
  if (newest == nullptr || (newest == weights_ && now() < next_announcement_)) return;
  weights_ = std::move(newest);
  // A subscriber that misses this one hears the next: it is repeated while nothing newer comes.
  next_announcement_ = now() + kRepeatEvery;
  static_cast<void>(publisher_->publish(wire::encode(wire::WeightsAnnouncement{
      weights_->version, content_hash(std::span<const float>(weights_->values))})));
}

void ExperienceServer::forget_silent_actors() {
  if (now() < next_sweep_) return;
  next_sweep_ = now() + kSweepEvery;
  // An actor that waits for credits says nothing: only one that holds a credit is expected to
  // speak.
  std::erase_if(actors_, [&](const auto& entry) {
    const Actor& actor = entry.second;
    return actor.used.get() < granted(actor) && now() - actor.last_heard > config_.silence;
  });
  const std::scoped_lock lock(mutex_);
  counters_.actors = actors_.size();
}

void ExperienceServer::refuse(const transport::PeerId& peer, wire::Refusal why,
                              const std::string& reason) {
  if (why != wire::Refusal::kUnknownPeer) {
    const std::scoped_lock lock(mutex_);
    ++counters_.refused;
  }
  send(peer, wire::Refused{why, reason});
}

void ExperienceServer::send(const transport::PeerId& peer, wire::Message message) {
  // A peer that is gone or does not read loses the answer; it asks or says Hello again.
  static_cast<void>(transport_->send(peer, wire::encode(message)));
}

Result<ReceivedUnrolls> ExperienceServer::pop(std::stop_token stop, Deadline deadline) {
  return queue_.pop(std::move(stop), deadline);
}

void ExperienceServer::consumed(const transport::PeerId& peer) {
  const std::scoped_lock lock(mutex_);
  returned_.push_back(peer);
  if (wakeable_ != nullptr) wakeable_->wake();
}

void ExperienceServer::publish(model::Parameters parameters) {
  auto shared = std::make_shared<const model::Parameters>(std::move(parameters));
  const std::scoped_lock lock(mutex_);
  newest_weights_ = std::move(shared);
  if (wakeable_ != nullptr) wakeable_->wake();
}

ServerCounters ExperienceServer::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

}  // namespace pacml::learner
