#include "apps/launch/hostfile.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "common/read_number.h"
#include "common/result.h"
#include "common/text.h"

namespace pacml::apps {
namespace {

constexpr std::size_t kMostHosts = 4096;
constexpr std::int64_t kMostSlots = 4096;
constexpr std::array<std::pair<std::string_view, HostRole>, 3> kRoles{
    {{"learner", HostRole::kLearner}, {"replay", HostRole::kReplay}, {"actor", HostRole::kActor}}};

bool is_one_of(char c, std::string_view others) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

// Nothing that ssh could take for an option, or a shell for more than a word.
bool is_name(std::string_view text, std::string_view others) {
  return !text.empty() && text.size() <= 253 && text.front() != '-' &&
         std::ranges::all_of(text, [&](char c) { return is_one_of(c, others); });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  void line(std::string_view text) {
    ++line_;
    const auto words = words_of(text.substr(0, text.find('#')));
    if (words.empty()) return;
    if (hosts_.size() == kMostHosts) refuse("more than " + std::to_string(kMostHosts) + " hosts");
    Host host = host_of(words[0]);
    std::optional<std::int64_t> slots;
    for (const auto word : std::span(words).subspan(1)) setting(word, host, slots);
    const bool serves = host.role == HostRole::kLearner || host.role == HostRole::kReplay;
    host.slots = slots.value_or(serves ? 0 : 1);
    check_new(host);
    hosts_.push_back(std::move(host));
  }

  std::vector<Host> finish() && {
    if (hosts_.empty()) throw UserError(file_ + ": names no host");
    return std::move(hosts_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError(file_ + ":" + std::to_string(line_) + ": " + what);
  }

  [[nodiscard]] Host host_of(std::string_view login) const {
    const std::size_t at = login.find('@');
    const std::string_view user = at == std::string_view::npos ? "" : login.substr(0, at);
    const std::string_view name = at == std::string_view::npos ? login : login.substr(at + 1);
    const bool user_is_fine = at == std::string_view::npos || is_name(user, "_.-");
    if (!user_is_fine || !is_name(name, ".-")) {
      refuse("'" + std::string(login) + "' is not a host: expected NAME or USER@NAME");
    }
    Host host;
    host.login = login;
    host.name = name;
    return host;
  }

  void setting(std::string_view word, Host& host, std::optional<std::int64_t>& slots) const {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
    if (key == "slots" && !slots) {
      slots = slots_of(value);
    } else if (key == "role" && host.role == HostRole::kAny) {
      host.role = role_of(value);
    } else if (key == "slots" || key == "role") {
      refuse(std::string(key) + " is given twice");
    } else {
      refuse("'" + std::string(word) + "' is neither slots=N nor role=learner|replay|actor");
    }
  }

  [[nodiscard]] std::int64_t slots_of(std::string_view value) const {
    const auto slots = read_number<std::int64_t>(value);
    if (!slots || *slots < 0 || *slots > kMostSlots) {
      refuse("slots must be a number in 0.." + std::to_string(kMostSlots) + ", not '" +
             std::string(value) + "'");
    }
    return *slots;
  }

  [[nodiscard]] HostRole role_of(std::string_view value) const {
    std::vector<std::string> names;
    for (const auto& [name, role] : kRoles) {
      if (value == name) return role;
      names.emplace_back(name);
    }
    refuse("there is no role '" + std::string(value) + "'" + did_you_mean(value, names));
  }

  void check_new(const Host& host) const {
    for (const Host& other : hosts_) {
      if (other.name == host.name) refuse(host.name + " is named twice; slots=N has more actors");
    }
  }

  const std::string& file_;
  std::int64_t line_ = 0;
  std::vector<Host> hosts_;
};

std::vector<std::size_t> hosts_with(const std::vector<Host>& hosts, HostRole role) {
  std::vector<std::size_t> found;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (hosts[h].role == role) found.push_back(h);
  }
  return found;
}

// The hosts that learners take in turn.
std::vector<std::size_t> hosts_of_learners(const std::vector<Host>& hosts, std::int64_t learners) {
  auto named = hosts_with(hosts, HostRole::kLearner);
  if (named.size() > static_cast<std::size_t>(learners)) {
    throw UserError(std::to_string(named.size()) +
                    " hosts have role=learner, but learner.replicas is " +
                    std::to_string(learners));
  }
  if (named.empty()) {
    named.resize(std::min(hosts.size(), static_cast<std::size_t>(learners)));
    std::iota(named.begin(), named.end(), std::size_t{0});
  }
  return named;
}

// `count` times one of `hosts`, which is not empty.
std::vector<std::size_t> in_turn(const std::vector<std::size_t>& hosts, std::int64_t count) {
  std::vector<std::size_t> taken;
  for (std::int64_t i = 0; i < count; ++i) {
    taken.push_back(hosts[static_cast<std::size_t>(i) % hosts.size()]);
  }
  return taken;
}

}  // namespace

std::vector<Host> parse_hostfile(const std::string& file, std::string_view text) {
  Parser parser(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(parser).finish();
}

Placement place_roles(const std::vector<Host>& hosts, std::int64_t learners, std::int64_t shards,
                      std::optional<std::int64_t> actors) {
  Placement placement;
  placement.learners = in_turn(hosts_of_learners(hosts, learners), learners);
  auto for_shards = hosts_with(hosts, HostRole::kReplay);
  if (for_shards.empty()) for_shards = {placement.learners.front()};
  placement.shards = in_turn(for_shards, shards);

  std::int64_t room = 0;
  std::int64_t most = 0;
  for (const Host& host : hosts) {
    room += host.slots;
    most = std::max(most, host.slots);
  }
  const std::int64_t wanted = actors.value_or(room);
  if (wanted < 1) throw UserError("the hosts have no slots for actors: give one of them slots=N");
  if (wanted > room) {
    throw UserError("--actors: the hosts have " + std::to_string(room) + " slots, not " +
                    std::to_string(wanted));
  }
  // In turn, so that fewer actors than slots are spread.
  for (std::int64_t turn = 0; turn < most; ++turn) {
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      const bool all = static_cast<std::int64_t>(placement.actors.size()) == wanted;
      if (hosts[h].slots > turn && !all) placement.actors.push_back(h);
    }
  }
  return placement;
}

}  // namespace pacml::apps
