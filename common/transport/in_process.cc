#include "common/transport/in_process.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"

namespace pacml::transport {
namespace {

using wire::Frame;

tl::unexpected<Error> stopped() { return fail(Errc::kStopped, "the transport is closing"); }
tl::unexpected<Error> timed_out() { return fail(Errc::kTimeout, "nothing came"); }

}  // namespace

// One mutex and one condition for everything: this transport is for tests and small runs.
struct InProcessHub::State {
  struct Conversation {
    std::deque<Frame> to_server;
    std::deque<Frame> to_client;
    bool woken = false;
  };

  explicit State(std::size_t frames) : queue_frames(frames) {}

  // Waits until ready() or the hub is stopped; false when the deadline came first.
  template <class Ready>
  bool wait(std::unique_lock<std::mutex>& lock, Deadline deadline, Ready ready) {
    const auto done = [&] { return stopped || ready(); };
    if (done()) return true;
    if (deadline.expired()) return false;
    if (deadline.is_never()) {
      changed.wait(lock, done);
      return true;
    }
    return changed.wait_until(lock, deadline.at(), done);
  }

  const std::size_t queue_frames;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  bool server_woken = false;
  std::uint64_t next_peer = 0;
  std::map<PeerId, Conversation> conversations;
  PeerId last_served;                                           // the server takes turns
  std::map<std::uint64_t, std::optional<Frame>> announcements;  // per subscriber: the newest
};

namespace {

using State = InProcessHub::State;

class Client final : public FrameClient {
 public:
  explicit Client(std::shared_ptr<State> state) : state_(std::move(state)) {
    const std::scoped_lock lock(state_->mutex);
    id_ = PeerId{"client " + std::to_string(state_->next_peer++)};
    conversation_ = &state_->conversations[id_];
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override {
    const std::scoped_lock lock(state_->mutex);
    state_->conversations.erase(id_);
  }
  Result<void> send(Frame&& frame, Deadline deadline) override {
    std::unique_lock lock(state_->mutex);
    auto& queue = conversation_->to_server;
    if (!state_->wait(lock, deadline, [&] { return queue.size() < state_->queue_frames; })) {
      return fail(Errc::kTimeout, "the queue is full");
    }
    if (state_->stopped) return stopped();
    queue.push_back(std::exchange(frame, {}));
    state_->changed.notify_all();
    return {};
  }
  Result<Frame> receive(Deadline deadline) override {
    std::unique_lock lock(state_->mutex);
    auto& queue = conversation_->to_client;
    state_->wait(lock, deadline, [&] { return !queue.empty() || conversation_->woken; });
    conversation_->woken = false;
    if (state_->stopped) return stopped();
    if (queue.empty()) return timed_out();
    Frame frame = std::move(queue.front());
    queue.pop_front();
    state_->changed.notify_all();
    return frame;
  }
  void wake() override {
    const std::scoped_lock lock(state_->mutex);
    conversation_->woken = true;
    state_->changed.notify_all();
  }

 private:
  std::shared_ptr<State> state_;
  PeerId id_;
  State::Conversation* conversation_ = nullptr;
};

class Server final : public FrameServer {
 public:
  explicit Server(std::shared_ptr<State> state) : state_(std::move(state)) {}

  Result<Incoming> receive(Deadline deadline) override {
    std::unique_lock lock(state_->mutex);
    auto& all = state_->conversations;
    const auto has_mail = [](const auto& entry) { return !entry.second.to_server.empty(); };
    state_->wait(lock, deadline, [&] {
      return state_->server_woken || std::any_of(all.begin(), all.end(), has_mail);
    });
    state_->server_woken = false;
    if (state_->stopped) return stopped();
    auto turn = std::find_if(all.upper_bound(state_->last_served), all.end(), has_mail);
    if (turn == all.end()) turn = std::find_if(all.begin(), all.end(), has_mail);
    if (turn == all.end()) return timed_out();
    state_->last_served = turn->first;
    Incoming incoming{turn->first, std::move(turn->second.to_server.front())};
    turn->second.to_server.pop_front();
    state_->changed.notify_all();
    return incoming;
  }
  Result<void> send(const PeerId& peer, Frame&& frame) override {
    const std::scoped_lock lock(state_->mutex);
    if (state_->stopped) return stopped();
    const auto found = state_->conversations.find(peer);
    if (found == state_->conversations.end()) return fail(Errc::kDisconnected, "no such peer");
    auto& queue = found->second.to_client;
    if (queue.size() >= state_->queue_frames) {
      return fail(Errc::kTimeout, "the peer's queue is full");
    }
    queue.push_back(std::exchange(frame, {}));
    state_->changed.notify_all();
    return {};
  }
  void wake() override {
    const std::scoped_lock lock(state_->mutex);
    state_->server_woken = true;
    state_->changed.notify_all();
  }

 private:
  std::shared_ptr<State> state_;
};

class HubPublisher final : public FramePublisher {
 public:
  explicit HubPublisher(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Result<void> publish(Frame&& frame) override {
    const std::scoped_lock lock(state_->mutex);
    if (state_->stopped) return stopped();
    for (auto& [id, newest] : state_->announcements) newest = frame;
    frame.parts.clear();
    state_->changed.notify_all();
    return {};
  }

 private:
  std::shared_ptr<State> state_;
};

class HubSubscriber final : public FrameSubscriber {
 public:
  explicit HubSubscriber(std::shared_ptr<State> state) : state_(std::move(state)) {
    const std::scoped_lock lock(state_->mutex);
    id_ = state_->next_peer++;
    newest_ = &state_->announcements[id_];
  }
  HubSubscriber(const HubSubscriber&) = delete;
  HubSubscriber& operator=(const HubSubscriber&) = delete;
  ~HubSubscriber() override {
    const std::scoped_lock lock(state_->mutex);
    state_->announcements.erase(id_);
  }
  Result<Frame> latest(Deadline deadline) override {
    std::unique_lock lock(state_->mutex);
    state_->wait(lock, deadline, [&] { return newest_->has_value(); });
    if (state_->stopped) return stopped();
    if (!newest_->has_value()) return timed_out();
    Frame frame = std::move(**newest_);
    newest_->reset();
    return frame;
  }

 private:
  std::shared_ptr<State> state_;
  std::uint64_t id_ = 0;
  std::optional<Frame>* newest_ = nullptr;
};

}  // namespace

InProcessHub::InProcessHub(std::size_t queue_frames)
    : state_(std::make_shared<State>(queue_frames)) {
  PACML_CHECK(queue_frames > 0, "a queue holds at least one frame");
}

InProcessHub::~InProcessHub() = default;

std::unique_ptr<FrameServer> InProcessHub::make_server() {
  return std::make_unique<Server>(state_);
}

std::unique_ptr<FrameClient> InProcessHub::connect() { return std::make_unique<Client>(state_); }

std::unique_ptr<FramePublisher> InProcessHub::make_publisher() {
  return std::make_unique<HubPublisher>(state_);
}

std::unique_ptr<FrameSubscriber> InProcessHub::subscribe() {
  return std::make_unique<HubSubscriber>(state_);
}

void InProcessHub::stop() {
  const std::scoped_lock lock(state_->mutex);
  state_->stopped = true;
  state_->changed.notify_all();
}

}  // namespace pacml::transport
