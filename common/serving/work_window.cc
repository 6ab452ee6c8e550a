#include "common/serving/work_window.h"

#include <algorithm>
#include <utility>

#include "common/check.h"

namespace pacml::serving {
namespace {

// Where all have room, messages are split for so many of each actor at once.
constexpr std::uint64_t kAtOnce = 2;

// n / of, rounded up.
std::uint64_t rounded_up(std::uint64_t n, std::uint64_t of) {
  return n / of + (n % of != 0 ? 1 : 0);
}

}  // namespace

WorkWindow::WorkWindow(const WorkWindowConfig& config)
    : config_(config), window_(config.least), small_(config.small) {
  PACML_CHECK(config.least >= 1 && config.least <= config.most, "a window has an order");
  PACML_CHECK(config.messages_per_actor >= 1, "an actor may send something");
}

template <class Change>
void WorkWindow::change(ActorId id, Actor& actor, Change change) {
  queue_.erase({actor.served, id});
  const bool acted = !actor.granted.empty() && !actor.overdue;
  const bool wanted = wants(actor);
  change();
  const bool acts = !actor.granted.empty() && !actor.overdue;
  acting_ = acting_ + (acts ? 1 : 0) - (acted ? 1 : 0);
  if (!wants(actor)) return;
  if (!wanted) {
    // Who could take nothing is not owed all that the others had meanwhile.
    const std::uint64_t owed = std::min(account_, window_);
    actor.served = std::max(actor.served, account_ - owed);
  }
  queue_.insert({actor.served, id});
}

void WorkWindow::join(ActorId id, const WorkUnit& unit) {
  PACML_CHECK(unit.unroll >= 1 && unit.most_unrolls >= 1, "an actor can do something");
  leave(id);
  Actor& actor = actors_[id];
  actor.unit = unit;
  actor.served = account_;
  queue_.insert({actor.served, id});
}

void WorkWindow::leave(ActorId id) {
  const auto found = actors_.find(id);
  if (found == actors_.end()) return;
  Actor& actor = found->second;
  change(id, actor, [&] {
    take_back(actor, actor.granted.size());
    actor.granted.clear();
  });
  queue_.erase({actor.served, id});
  actors_.erase(found);
}

void WorkWindow::take_back(Actor& actor, std::size_t grants) {
  if (actor.overdue) return;  // they were taken back before
  for (std::size_t i = 0; i < grants; ++i) reserved_ -= actor.granted[i];
}

std::uint64_t WorkWindow::unrolls_for(const Actor& actor) const {
  const std::uint64_t unroll = actor.unit.unroll;
  const std::uint64_t at_once = std::min(kAtOnce, config_.messages_per_actor);
  const std::uint64_t share = window() / unroll / (actors_.size() * at_once);
  const std::uint64_t least = rounded_up(small_, unroll);
  const auto most = std::clamp<std::uint64_t>(std::max(share, least), 1, actor.unit.most_unrolls);
  if (config_.batch == 0) return most;
  const std::uint64_t batch = rounded_up(config_.batch, unroll);
  return rounded_up(batch, rounded_up(batch, most));
}

std::optional<WorkGrant> WorkWindow::grant(TimePoint now) {
  if (queue_.empty()) return std::nullopt;
  const ActorId id = queue_.begin()->second;
  Actor& actor = actors_.at(id);
  const std::uint64_t unrolls = unrolls_for(actor);
  const std::uint64_t decisions = unrolls * actor.unit.unroll;
  if (!has_room_for(decisions)) {
    exhausted_ = true;
    held_up_ = held_up_ || limit_ < window_;
    return std::nullopt;
  }
  split_ = split_ || unrolls < actor.unit.most_unrolls;
  change(id, actor, [&] {
    account_ = std::max(account_, actor.served);
    actor.served += decisions;
    if (actor.granted.empty()) actor.last_turn = now;
    actor.granted.push_back(decisions);
    reserved_ += decisions;
  });
  return WorkGrant{id, unrolls};
}

void WorkWindow::arrived(ActorId id, std::uint64_t passed_over, std::uint64_t decisions,
                         TimePoint now) {
  come_ += decisions;
  const auto found = actors_.find(id);
  if (found == actors_.end()) return;
  Actor& actor = found->second;
  change(id, actor, [&] {
    const auto used =
        static_cast<std::size_t>(std::min<std::uint64_t>(passed_over + 1, actor.granted.size()));
    take_back(actor, used);
    actor.granted.erase(actor.granted.begin(),
                        actor.granted.begin() + static_cast<std::ptrdiff_t>(used));
    if (actor.granted.empty()) actor.overdue = false;
    actor.last_turn = now;
    ++actor.unconsumed;
  });
}

void WorkWindow::consumed(std::optional<ActorId> id, std::uint64_t decisions) {
  come_ -= std::min(come_, decisions);
  if (!id) return;
  const auto found = actors_.find(*id);
  if (found == actors_.end()) return;
  Actor& actor = found->second;
  // It may be a message of a former life.
  change(*id, actor, [&] { actor.unconsumed -= std::min<std::uint64_t>(1, actor.unconsumed); });
}

void WorkWindow::expire(TimePoint now) {
  for (auto& [id, state] : actors_) {
    Actor& actor = state;  // lambdas capture no structured bindings
    // Who was alone for a while had large messages: the others need not catch up with all of that.
    const std::uint64_t lead = kAtOnce * unrolls_for(actor) * actor.unit.unroll;
    if (actor.served > account_ && actor.served - account_ > lead) {
      change(id, actor, [&] { actor.served = account_ + lead; });
    }
    if (actor.granted.empty() || actor.overdue || now - actor.last_turn < config_.patience)
      continue;
    change(id, actor, [&] {
      take_back(actor, actor.granted.size());
      actor.overdue = true;
    });
  }
}

void WorkWindow::adapt(bool starved) {
  const bool went_without = std::exchange(exhausted_, false);
  const bool split = std::exchange(split_, false);
  // Who is held up waits as well, and not for more hands.
  if (std::exchange(held_up_, false)) starved = false;
  at_its_end_ = starved && went_without && window_ == config_.most && small_ == 0;
  if (!starved) {
    small_ = std::min(config_.small, std::max<std::uint64_t>(1, small_ * 2));
    const std::uint64_t step = std::max<std::uint64_t>(1, window_ / 16);
    if (window_ > config_.least) window_ = std::max(config_.least, window_ - step);
    return;
  }
  // First more at once, in larger messages; when that is all that there may be, more hands.
  if (window_ < config_.most) {
    const std::uint64_t step = std::max<std::uint64_t>(1, window_ / 2);
    if (went_without || split) window_ += std::min(config_.most - window_, step);
  } else if (went_without) {
    small_ /= 2;
  }
}

}  // namespace pacml::serving
