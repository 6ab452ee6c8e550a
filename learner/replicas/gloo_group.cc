#include "learner/replicas/gloo_group.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>
#include <vector>

#include "common/check.h"

namespace pacml::learner {
namespace {

// Between two looks for an address that another member has not put yet.
constexpr std::chrono::milliseconds kInterval{5};

// The board as what Gloo's members find one another by. Failures are exceptions, as c10d has them;
// they go no further than connect_gloo.
class BoardStore final : public c10d::Store {
 public:
  BoardStore(Board& board, std::string prefix, std::chrono::milliseconds patience)
      : c10d::Store(patience), board_(&board), prefix_(std::move(prefix)) {}

  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    const auto put = board_->put(prefix_ + key, {value.begin(), value.end()});
    if (!put) throw std::runtime_error(put.error().detail);
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    const Deadline deadline = Deadline::in(timeout_);
    for (;;) {
      const auto found = look(key);
      if (found) return {found->begin(), found->end()};
      if (deadline.expired()) throw std::runtime_error("a member did not come");
      std::this_thread::sleep_for(kInterval);
    }
  }
  bool check(const std::vector<std::string>& keys) override {
    return std::ranges::all_of(keys, [this](const auto& key) { return look(key).has_value(); });
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override {
    const Deadline deadline = Deadline::in(std::min(timeout, timeout_));
    while (!check(keys)) {
      if (deadline.expired()) throw std::runtime_error("a member did not come");
      std::this_thread::sleep_for(kInterval);
    }
  }
  // Connecting needs none of these.
  std::int64_t add(const std::string&, std::int64_t) override { return unused(); }
  bool deleteKey(const std::string&) override { return unused() != 0; }
  std::int64_t getNumKeys() override { return unused(); }

 private:
  [[nodiscard]] std::optional<std::string> look(const std::string& key) {
    auto found = board_->get(prefix_ + key);
    if (!found) throw std::runtime_error(found.error().detail);
    return *std::move(found);
  }
  [[noreturn]] static std::int64_t unused() {
    throw std::runtime_error("the board neither counts nor deletes");
  }

  Board* board_;
  std::string prefix_;
};

// A tensor on memory of ours, for as long as a call lasts.
template <class T>
at::Tensor view(std::span<T> values, at::ScalarType type) {
  return at::from_blob(const_cast<std::remove_const_t<T>*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::TensorOptions(type));
}

class GlooGroup final : public ReplicaGroup {
 public:
  GlooGroup(const Team& team, std::unique_ptr<c10d::ProcessGroupGloo> group)
      : size_(team.size()), rank_(team.rank), group_(std::move(group)) {}

  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::size_t rank() const override { return rank_; }

  Result<void> gather(std::span<const double> mine, std::vector<double>& all) override {
    all.assign(size_ * mine.size(), 0.0);
    std::vector<at::Tensor> in = {view(mine, at::kDouble)};
    std::vector<std::vector<at::Tensor>> out(1);
    for (std::size_t r = 0; r < size_; ++r) {
      out[0].push_back(view(std::span(all).subspan(r * mine.size(), mine.size()), at::kDouble));
    }
    return finished([&] { return group_->allgather(out, in); });
  }
  Result<void> sum(std::span<float> values) override {
    std::vector<at::Tensor> tensors = {view(values, at::kFloat)};
    return finished([&] { return group_->allreduce(tensors); });
  }
  Result<void> broadcast(std::string& bytes) override {
    const double size = static_cast<double>(bytes.size());
    std::vector<double> sizes;
    if (auto told = gather({&size, 1}, sizes); !told) return told;
    bytes.resize(static_cast<std::size_t>(sizes.front()));
    if (bytes.empty()) return {};
    std::vector<at::Tensor> tensors = {view(std::span(bytes.data(), bytes.size()), at::kChar)};
    return finished([&] { return group_->broadcast(tensors); });
  }

 private:
  template <class Start>
  [[nodiscard]] static Result<void> finished(Start&& start) {
    try {
      start()->wait();
      return {};
    } catch (const std::exception& e) {
      return fail(Errc::kDisconnected, first_line(e.what()));
    }
  }
  // What LibTorch says goes on with a stack of calls.
  [[nodiscard]] static std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
  }

  std::size_t size_;
  std::size_t rank_;
  std::unique_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

Result<std::unique_ptr<ReplicaGroup>> connect_gloo(const Team& team, Board& board,
                                                   const GlooConfig& config) {
  PACML_CHECK(team.size() > 1, "one learner alone needs no group");
  auto options = c10d::ProcessGroupGloo::Options::create(config.patience);
  options->threads = 1;  // one call at a time
  try {
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(config.host));
  } catch (const std::exception&) {
    throw UserError("--all-reduce-host " + config.host + ": not an address of this machine");
  }
  try {
    auto store = c10::make_intrusive<BoardStore>(board, team.call + "/", config.connecting);
    return std::make_unique<GlooGroup>(
        team, std::make_unique<c10d::ProcessGroupGloo>(store, static_cast<int>(team.rank),
                                                       static_cast<int>(team.size()), options));
  } catch (const std::exception& e) {
    const std::string text = e.what();
    return fail(Errc::kTimeout, text.substr(0, text.find('\n')));
  }
}

}  // namespace pacml::learner
