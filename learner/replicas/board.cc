#include "learner/replicas/board.h"

#include <cstdint>
#include <span>
#include <utility>

#include "common/heartbeat.h"
#include "common/transport/curve.h"
#include "common/wire/frame.h"

namespace pacml::learner {
namespace {

// A frame of the board: what is wanted or answered and the number of the request, the key, the
// value. An answer has its request's number, so that one that comes late is known for what it is.
constexpr std::string_view kPut = "put";
constexpr std::string_view kGet = "get";
constexpr std::string_view kDone = "done";
constexpr std::string_view kFull = "full";
constexpr std::string_view kNone = "none";
constexpr std::size_t kParts = 3;
// How long serving waits for a frame before it looks at the stop token.
constexpr std::chrono::milliseconds kTurn{100};

Bytes bytes_of_text(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

wire::Frame frame_of(std::string_view head, std::string_view key, std::string_view value) {
  return {{bytes_of_text(head), bytes_of_text(key), bytes_of_text(value)}};
}

// "get 12" in its words; empty words where it is something else.
struct Head {
  std::string verb;
  std::string number;
};
Head head_of(const wire::Frame& frame) {
  if (frame.parts.size() != kParts || frame.parts[0].size() > 64) return {};
  const std::string text = text_of(frame.parts[0]);
  const auto space = text.find(' ');
  if (space == std::string::npos) return {};
  return {text.substr(0, space), text.substr(space + 1)};
}

std::optional<wire::Frame> answer_to(LocalBoard& board, const wire::Frame& request) {
  const Head head = head_of(request);
  const auto answer = [&](std::string_view verb, std::string_view value) {
    return frame_of(std::string(verb) + " " + head.number, {}, value);
  };
  if (head.verb == kPut) {
    const auto put = board.put(text_of(request.parts[1]), text_of(request.parts[2]));
    return answer(put ? kDone : kFull, {});
  }
  if (head.verb == kGet) {
    const auto found = board.get(text_of(request.parts[1]));
    return found && *found ? answer(kDone, **found) : answer(kNone, {});
  }
  return std::nullopt;
}

}  // namespace

Result<void> LocalBoard::put(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  const bool fits = key.size() <= limits_.key_bytes && value.size() <= limits_.value_bytes &&
                    (entries_.contains(key) || entries_.size() < limits_.keys);
  if (!fits) return fail(Errc::kOverLimit, "the board is full");
  entries_[key] = {value, clock_->now()};
  return {};
}

Result<std::optional<std::string>> LocalBoard::get(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.value);
}

std::optional<std::string> LocalBoard::fresh(const std::string& key, Duration age) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  if (clock_->now() - found->second.put > age) return std::nullopt;
  return found->second.value;
}

void LocalBoard::erase_all(std::string_view prefix) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.first.starts_with(prefix); });
}

void serve_board(LocalBoard& board, transport::FrameServer& server, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    beat();
    const auto incoming = server.receive(Deadline::in(kTurn));
    if (!incoming) {
      if (incoming.error().code == Errc::kStopped) return;
      continue;
    }
    // Actors may be in the list, too, and whoever writes here can end the learners.
    const bool is_learner =
        incoming->key_name.empty() || incoming->key_name == transport::kServerKeyName;
    if (incoming->revoked || !is_learner) continue;
    auto answer = answer_to(board, incoming->frame);
    // Whoever has gone meanwhile asks again when it is back.
    if (answer) static_cast<void>(server.send(incoming->peer, *std::move(answer)));
  }
}

Result<RemoteBoard::Answer> RemoteBoard::ask(std::string_view verb, const std::string& key,
                                             const std::string& value) {
  const std::string number = std::to_string(++requests_);
  const Deadline deadline = Deadline::in(patience_);
  auto sent = leader_->send(frame_of(std::string(verb) + " " + number, key, value), deadline);
  if (!sent) return tl::unexpected(sent.error());
  for (;;) {
    const auto frame = leader_->receive(deadline);
    if (!frame) {
      if (frame.error().code == Errc::kStopped) return tl::unexpected(frame.error());
      if (!deadline.expired()) continue;
      return fail(Errc::kTimeout, "the leader does not answer");
    }
    const Head head = head_of(*frame);
    if (head.number == number) return Answer{head.verb, text_of(frame->parts[2])};
  }
}

Result<void> RemoteBoard::put(const std::string& key, const std::string& value) {
  const auto answer = ask(kPut, key, value);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->verb == kFull) return fail(Errc::kOverLimit, "the leader's board is full");
  return {};
}

Result<std::optional<std::string>> RemoteBoard::get(const std::string& key) {
  auto answer = ask(kGet, key, {});
  if (!answer) return tl::unexpected(answer.error());
  if (answer->verb != kDone) return std::optional<std::string>();
  return std::optional(std::move(answer->value));
}

}  // namespace pacml::learner
