#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/terminal.h"
#include "apps/run/train_progress.h"
#include "common/clock.h"

namespace pacml::apps {

// How a block may look.
struct BlockStyle {
  std::size_t columns = 79;  // that a line may take
  bool colours = false;
  bool unicode = false;
};

// Progress as a few lines: how far, how fast, the objective with the best baseline beside it and
// what it has been, who waits for whom, what is wrong. No line is longer than the style says. Pure.
[[nodiscard]] std::vector<std::string> format_block(const TrainProgress& progress,
                                                    const BlockStyle& style);

// Progress on a terminal: one block that is rewritten where it stands, four times a second. When
// the terminal becomes narrower, the block begins again at the top of a cleared screen: terminals
// fold what is there, or cut it off, each in its own way, and some tell of it only afterwards.
class ProgressBlock final : public ProgressDisplay {
 public:
  // Borrows `out`.
  ProgressBlock(std::ostream& out, Terminal terminal);

  void update(const TrainProgress& progress, TimePoint now) override;
  void finish(const TrainProgress& progress) override;
  void interrupt() override;

 private:
  void show(const TrainProgress& progress);
  // To the first column of the block's first row; the terminal has so many columns now.
  void go_back(std::size_t columns);

  std::ostream& out_;
  Terminal terminal_;
  std::optional<TimePoint> shown_at_;
  std::size_t rows_ = 0;     // of the block, on the screen; 0: it is not there
  std::size_t columns_ = 0;  // of the terminal, when it was shown
};

}  // namespace pacml::apps
