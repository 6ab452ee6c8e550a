#include "learner/serving/experience_server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "common/hash.h"
#include "common/heartbeat.h"
#include "common/json_text.h"
#include "common/scope_exit.h"
#include "common/wire/codec.h"
#include "common/wire/frame.h"
#include "env/graph_message.h"
#include "learner/wanted_work.h"

namespace pacml::learner {
namespace {

constexpr std::chrono::milliseconds kSlice{50};  // how long a wait may ignore the stop token
constexpr std::chrono::milliseconds kSweepEvery{1'000};
constexpr std::chrono::milliseconds kAdaptEvery{50};
constexpr std::chrono::milliseconds kRepeatEvery{500};  // announcements of the same weights
// Who is granted work gets weights with it: announcements are for actors whose experience goes
// elsewhere. A thousand actors and a hundred updates a second would make 100 000 frames a second,
// each a system call here and one there, for actors that look between two messages only. So each
// actor's frame takes its time, and the newest weights are announced when the last round is paid
// for.
constexpr std::chrono::milliseconds kAnnounceEvery{20};
constexpr std::chrono::microseconds kPerAnnouncedActor{200};
// The learner need not wait for experience, but for so short a time.
constexpr double kStarvedShare = 0.02;
constexpr double kWaits = 0.1;          // ... to be said to wait
constexpr double kMeanOver = 20;        // adaptions: a second
constexpr std::size_t kMostPeers = 32;  // that the status tells of one by one

wire::Refused end_of_run() { return {wire::Refusal::kStopping, "the learner stops"}; }

}  // namespace

ExperienceServer::ExperienceServer(const serving::RunIdentity& run,
                                   const ExperienceServerConfig& config,
                                   std::function<nlohmann::json()> more, const Clock& clock)
    : clock_(&clock),
      queue_(config.work.messages_per_actor * config.max_actors),
      desk_(run,
            {.server = "learner",
             .option = "learner.max_actors",
             .work = config.work,
             .max_actors = config.max_actors,
             .silence = config.silence},
            config.max_waiting_bytes,
            {.has_graph = [this](GraphHash hash) { return graphs_.contains(hash); },
             .take = [this](const transport::PeerId& peer, wire::Experience&& experience,
                            std::size_t bytes) { return take(peer, std::move(experience), bytes); },
             .status = [this] { return status(); }},
            clock),
      farewell_(config.farewell),
      more_(std::move(more)),
      absence_(kSweepEvery, config.silence) {}

void ExperienceServer::run(transport::FrameServer& actors, transport::FramePublisher& announcements,
                           const std::stop_token& stop) {
  transport_ = &actors;
  desk_.open(actors);
  publisher_ = &announcements;
  serve(stop);
  if (!keep_actors_) return say_farewell();
  desk_.tell_actors(wire::Refused{wire::Refusal::kUnknownPeer, "the learner starts again"});
}

void ExperienceServer::serve(const std::stop_token& stop) {
  {
    const std::scoped_lock lock(mutex_);
    wakeable_ = transport_;
  }
  // However this ends, nobody may wake a transport that is no longer there, nor wait for more.
  const ScopeExit at_end([this] {
    {
      const std::scoped_lock lock(mutex_);
      wakeable_ = nullptr;
    }
    queue_.close();
  });
  next_sweep_ = clock_->now();
  last_adaption_ = clock_->now();
  while (!stop.stop_requested()) {
    beat();
    take_back_consumed();
    announce_new_weights();
    adapt();
    sweep();
    tell_grants();
    auto incoming = transport_->receive(until_next_duty());
    if (incoming) {
      look_for_new_weights();  // since this loop began they may have been published
      dispatch(*incoming);
    } else if (incoming.error().code == Errc::kStopped) {
      break;
    }
  }
}

void ExperienceServer::say_farewell() {
  std::map<ActorId, transport::PeerId> present;
  for (const auto& [peer, actor] : desk_.sessions().actors()) present.emplace(actor.id, peer);
  serving::Farewell farewell(present, farewell_, *clock_);
  do {
    beat();
    for (const auto& peer : farewell.due()) {
      const auto told = desk_.send(peer, end_of_run());
      if (!told && told.error().code == Errc::kDisconnected) farewell.gone(peer);
    }
    if (farewell.over()) break;
    const auto incoming = transport_->receive(Deadline::in(serving::Farewell::kAgain / 2));
    if (incoming) {
      answer_finally(farewell, *incoming);
    } else if (incoming.error().code == Errc::kStopped) {
      return;
    }
  } while (!farewell.over());
  if (farewell.unconfirmed() == 0 || farewell_ == Duration{0}) return;
  spdlog::warn("{} actors have not confirmed that they heard of the learner's end",
               farewell.unconfirmed());
}

void ExperienceServer::answer_finally(serving::Farewell& farewell,
                                      const transport::Incoming& incoming) {
  if (incoming.revoked) return;
  const auto message = wire::decode(incoming.frame);
  if (!message) return;
  if (std::holds_alternative<wire::Goodbye>(*message)) return farewell.confirmed(incoming.peer);
  if (std::holds_alternative<wire::GetStatus>(*message)) {
    desk_.send(incoming.peer, wire::Status{status()});
    return;
  }
  if (const auto* hello = std::get_if<wire::Hello>(&*message)) {
    const bool is_ours = hello->role == wire::Role::kActor && !desk_.sessions().objection(*hello) &&
                         desk_.may_be(incoming, hello->actor);
    if (is_ours && farewell.came_back(hello->actor, incoming.peer)) return;  // told in a moment
  }
  // What an actor that is there sends says nothing of what it has heard; it is told again anyway.
  if (desk_.sessions().find(incoming.peer) == nullptr) desk_.send(incoming.peer, end_of_run());
}

void ExperienceServer::dispatch(const transport::Incoming& incoming) {
  const transport::PeerId& peer = incoming.peer;
  auto message = desk_.hear(incoming);
  if (!message) return;
  if (const auto* hello = std::get_if<wire::Hello>(&*message)) return welcome(incoming, *hello);
  if (!desk_.knows(peer)) return desk_.refuse_stranger(peer);
  if (auto* const experience = std::get_if<wire::Experience>(&*message)) {
    desk_.receive(peer, std::move(*experience), wire::frame_bytes(incoming.frame));
  } else if (const auto* wanted = std::get_if<wire::GetWeights>(&*message)) {
    send_weights(peer, wanted->have);
  } else if (const auto* graph = std::get_if<wire::Graph>(&*message)) {
    learn_graph(peer, *graph);
  }
  // What only a client gets is ignored.
}

void ExperienceServer::welcome(const transport::Incoming& from, const wire::Hello& hello) {
  if (hello.role != wire::Role::kActor) {
    return desk_.refuse(
        from.peer, {wire::Refusal::kConfig, "this is a learner: it talks to actors, not to a " +
                                                std::string(name_of(hello.role))});
  }
  desk_.welcome(from, hello, weights_ ? weights_->version : PolicyVersion{0});
}

bool ExperienceServer::take(const transport::PeerId& peer, wire::Experience&& experience,
                            std::size_t bytes) {
  Sequences& sequences = experience.sequences;
  std::vector<env::GraphFeaturesPtr> graphs;
  for (const GraphHash hash : sequences.observations.graphs()) graphs.push_back(graphs_.at(hash));
  // The queue holds every grant of max_actors actors. An actor that joins again has new ones while
  // its former life's messages may still be there: then this one waits.
  ReceivedSequences received{peer, std::move(sequences), std::move(graphs), bytes};
  if (queue_.try_push(std::move(received))) return true;
  // NOLINTNEXTLINE(bugprone-use-after-move): a full queue leaves what it refuses as it was
  sequences = std::move(received.sequences);
  return false;
}

void ExperienceServer::learn_graph(const transport::PeerId& peer, const wire::Graph& message) {
  // At a run's start every actor is asked, and only the first answer is news.
  if (graphs_.contains(message.hash) || !desk_.expects(peer, message.hash)) return;
  auto graph = env::from_message(message);
  if (graph->hash != message.hash) {
    return desk_.refuse(peer,
                        {wire::Refusal::kMalformed, "a graph that is not what its hash says"});
  }
  graphs_.emplace(graph->hash, std::move(graph));
  desk_.deliver();
}

void ExperienceServer::send_weights(const transport::PeerId& peer, PolicyVersion have) {
  if (!weights_) return;  // the learner has not begun; the actor asks again
  if (have == weights_->version && have.get() != 0) {
    desk_.send(peer, wire::WeightsAnnouncement{
                         have, content_hash(std::span<const float>(weights_->values))});
    return;
  }
  if (encoded_of_ != weights_) {
    encoded_of_ = weights_;
    encoded_ =
        wire::encode(wire::Weights{weights_->version, weights_->layout_hash, weights_->values});
  }
  // A peer that is gone or does not read loses it, as any answer.
  static_cast<void>(transport_->send(peer, wire::Frame(encoded_)));
  desk_.sent_weights(peer, weights_->version);
  ++weights_sent_;
}

void ExperienceServer::take_back_consumed() {
  std::vector<Consumed> consumed;
  {
    const std::scoped_lock lock(mutex_);
    consumed.swap(consumed_);
  }
  for (const auto& [peer, decisions] : consumed) desk_.give_back(peer, decisions);
  const bool room_again = desk_.give_back_dropped();
  if (!consumed.empty() || room_again) desk_.deliver();
}

void ExperienceServer::tell_grants() {
  const auto& sessions = desk_.sessions();
  const std::uint64_t refresh = refresh_lag(sessions.work(), sessions.run().max_policy_lag);
  for (const auto& peer : desk_.take_news()) {
    // Who has no weights yet asks for them.
    const auto has = sessions.find(peer)->weights;
    if (weights_ && has &&
        (*has > weights_->version || weights_->version.get() - has->get() >= refresh)) {
      send_weights(peer, *has);
    }
    desk_.say_credit(peer);
  }
}

void ExperienceServer::adapt() {
  const TimePoint now = clock_->now();
  const Duration elapsed = now - last_adaption_;
  if (elapsed < kAdaptEvery) return;
  last_adaption_ = now;
  Duration waited;
  {
    const std::scoped_lock lock(mutex_);
    waited = waited_ + (waits_since_ ? now - *waits_since_ : Duration{0});
  }
  const double share = std::chrono::duration<double>(waited - waited_before_) /
                       std::chrono::duration<double>(elapsed);
  waited_before_ = waited;
  desk_.adapt(share > kStarvedShare);
  starved_share_ += (share - starved_share_) / kMeanOver;
  acting_ += (static_cast<double>(desk_.sessions().work().acting()) - acting_) / kMeanOver;
}

void ExperienceServer::look_for_new_weights() {
  const auto before = weights_;
  {
    const std::scoped_lock lock(mutex_);
    weights_ = newest_weights_;
  }
  if (before != nullptr && weights_->version < before->version) replace_abandoned_weights();
}

void ExperienceServer::replace_abandoned_weights() {
  // Who fetches weights looks for newer ones only, and what is announced from now on is not.
  for (const auto& [peer, actor] : desk_.sessions().actors()) {
    if (actor.weights && *actor.weights > weights_->version) send_weights(peer, *actor.weights);
  }
}

void ExperienceServer::announce_new_weights() {
  look_for_new_weights();
  if (weights_ == nullptr) return;
  // A subscriber that misses an announcement hears the next: it is repeated while nothing newer
  // comes.
  const bool news = weights_ != announced_;
  const Duration paid_for = kPerAnnouncedActor * desk_.sessions().actors().size();
  const Duration repeat = std::max<Duration>(kRepeatEvery, paid_for);
  next_announcement_ =
      last_announcement_ + (news ? std::max<Duration>(kAnnounceEvery, paid_for) : repeat);
  if (clock_->now() < next_announcement_) return;
  announced_ = weights_;
  last_announcement_ = clock_->now();
  next_announcement_ = last_announcement_ + repeat;
  static_cast<void>(publisher_->publish(wire::encode(wire::WeightsAnnouncement{
      weights_->version, content_hash(std::span<const float>(weights_->values))})));
}

Deadline ExperienceServer::until_next_duty() const {
  if (weights_ == nullptr) return Deadline::in(kSlice);
  return Deadline::in(std::min<Duration>(kSlice, next_announcement_ - clock_->now()));
}

void ExperienceServer::sweep() {
  const TimePoint now = clock_->now();
  if (now < next_sweep_) return;
  next_sweep_ = now + kSweepEvery;
  if (absence_.turn(now)) desk_.forget_silent();
  desk_.count();
  board_.publish(status(), now);
}

std::uint64_t ExperienceServer::enough_actors() const {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(acting_)));
}

ExperienceServer::Limiter ExperienceServer::limiter() const {
  const std::size_t actors = desk_.sessions().actors().size();
  if (counters().accepted == 0) return {true, "no experience has come here"};
  if (desk_.sessions().work().at_its_end()) {
    return {false,
            "as much is under way as max_policy_lag allows: more actors would not help, larger "
            "updates would"};
  }
  if (starved_share_ > kWaits) {
    return {true, "the learner waits for experience: more actors would help"};
  }
  const std::uint64_t enough = enough_actors();
  return {false, "actors wait for the learner: more of them would not help" +
                     (enough < actors ? ", " + std::to_string(enough) + " of " +
                                            std::to_string(actors) + " would be enough"
                                      : std::string())};
}

nlohmann::json ExperienceServer::peers() const {
  std::vector<const serving::Sessions::Actor*> actors;
  for (const auto& [peer, actor] : desk_.sessions().actors()) actors.push_back(&actor);
  std::ranges::sort(actors, {}, [](const auto* actor) { return actor->id; });
  auto list = nlohmann::json::array();
  for (const auto* actor : actors) {
    if (list.size() == kMostPeers) break;
    const std::chrono::duration<double> silent = clock_->now() - actor->last_heard;
    list.push_back(
        {{"actor", actor->id.get()},
         {"decisions", actor->decisions},
         {"weights", actor->weights ? nlohmann::json(actor->weights->get()) : nlohmann::json()},
         {"silent_seconds", silent.count()}});
    // Whose experience goes to replay shards waits for leave of theirs.
    if (desk_.sessions().work().is_bounded()) {
      list.back()["acts"] = actor->granted > actor->used.get();
    }
  }
  return list;
}

std::string ExperienceServer::status() const {
  auto status = more_ ? more_() : nlohmann::json::object();
  // Whoever takes experience out of replay shards knows better who waits for whom.
  if (desk_.sessions().work().is_bounded() || !status.contains("limiter")) {
    auto [learner_waits, sentence] = limiter();
    status.update({{"learner_waits", learner_waits}, {"limiter", std::move(sentence)}});
  }
  status.update(desk_.status());
  status.update({{"role", "learner"},
                 {"policy_version", weights_ ? weights_->version.get() : 0},
                 {"serves_weights", weights_ != nullptr},
                 {"weights_sent", weights_sent()},
                 {"actors_enough", enough_actors()},
                 {"messages_waiting", queue_depth()},
                 {"messages_waiting_for_graphs", desk_.waiting_for_graphs()},
                 {"peers", peers()}});
  // A run may be named by any bytes.
  return json_text(status);
}

Result<ReceivedSequences> ExperienceServer::pop(std::stop_token stop, Deadline deadline) {
  auto received = queue_.try_pop();
  if (!received && received.error().code == Errc::kTimeout) {
    const TimePoint start = clock_->now();
    {
      const std::scoped_lock lock(mutex_);
      waits_since_ = start;
    }
    received = queue_.pop(std::move(stop), deadline);
    const std::scoped_lock lock(mutex_);
    waits_since_.reset();
    waited_ += clock_->now() - start;
  }
  if (received) desk_.let_go(received->bytes);
  return received;
}

void ExperienceServer::consumed(const ReceivedSequences& received) {
  const std::scoped_lock lock(mutex_);
  consumed_.push_back({received.peer, received.sequences.num_decisions()});
  if (wakeable_ != nullptr) wakeable_->wake();
}

void ExperienceServer::publish(model::Parameters parameters) {
  auto shared = std::make_shared<const model::Parameters>(std::move(parameters));
  const std::scoped_lock lock(mutex_);
  newest_weights_ = std::move(shared);
  if (wakeable_ != nullptr) wakeable_->wake();
}

}  // namespace pacml::learner
