#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What the state of a task looks like to people: what waits, what is where and until when, and what
// became of the decision before. Data alone: a page or a terminal shows it, and a new task draws
// nothing. An environment that has more to show than its observation implements Pictured.

namespace pacml::env {

// Something that takes up places for a while: a job, an operation.
struct PictureItem {
  std::int64_t id = 0;  // the same in every picture of an episode
  std::string label;    // "resnet18, degree 8"
  double begins = 0;    // in the task's time, as Picture::now; begins == ends: it is there for good
  double ends = 0;
};

// Places, such as servers: blocks of rows of columns, in the order in which they are numbered.
struct PictureGrid {
  std::string title;                // "servers"
  std::array<int, 3> shape{};       // blocks, rows of each, columns of each row
  std::array<std::string, 3> of{};  // what those are: "group", "rack", "server"
  std::vector<int> items;           // [blocks * rows * columns]: an index of Picture::items; -1:
                                    // free; -2: there is no such place
};

struct PictureFact {
  std::string name;
  std::string value;                            // with its unit
  std::optional<double> number = std::nullopt;  // for programs, where it is a quantity; in the
                                                // task's units, unrounded
};

// What became of a decision.
struct PictureOutcome {
  PictureItem item;    // what it was about; begins == ends where it came to nothing
  bool kept = false;   // whether it is what the task is for: a job that runs within its limit
  std::string reason;  // "done in 812 of at most 1100", "blocked: too slow, ..."
};

// Value type.
struct Picture {
  double now = 0;                      // the task's time
  std::vector<PictureFact> facts;      // of what waits for a decision; none: nothing waits
  std::vector<PictureItem> items;      // that are in place now
  std::vector<PictureGrid> grids;      // where
  std::optional<PictureOutcome> last;  // none: nothing has been decided in this episode
};

// An environment that can say how it looks. Thread-confined, as the environment is.
class Pictured {
 public:
  virtual ~Pictured() = default;
  // Of the current state; after a final step of the last one.
  [[nodiscard]] virtual Picture picture() const = 0;
  // Whether decisions whose outcome is not kept are what the task's objective counts: jobs that are
  // lost.
  [[nodiscard]] virtual bool tells_losses() const { return false; }
};

}  // namespace pacml::env
