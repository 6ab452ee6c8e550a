#include "apps/run/progress_block.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;
using namespace std::chrono_literals;

namespace {

TrainProgress sample() {
  TrainProgress p;
  p.run = "runs/a";
  p.elapsed = 83s;
  p.time_limit = 180s;
  p.decisions = 3'210'000;
  p.decisions_per_second = 41'234;
  p.actors = 2;
  p.evaluation.objective = "blocking_rate";
  p.lately = 0.0810;
  p.evaluation.best = 0.0742;
  p.evaluation.baseline = "constant:4";
  p.evaluation.baseline_score = 0.0776;
  p.curve = {0.3, 0.2, 0.1, 0.08};
  p.lag_p99 = 3;
  p.limiter = "actors wait for the learner: more of them would not help";
  return p;
}

// A terminal as far as the block needs one: what is on its screen after these bytes.
struct Screen {
  std::vector<std::string> rows{""};
  std::size_t row = 0;

  void write(const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\r') {
        column_ = 0;
      } else if (bytes[i] == '\n') {
        column_ = 0;
        if (++row == rows.size()) rows.emplace_back();
      } else if (bytes[i] == '\x1b') {
        const std::size_t end = bytes.find_first_of("AHJKm", i);
        obey(bytes[end], bytes.substr(i + 2, end - i - 2));
        i = end;
      } else {
        std::string& line = rows[row];
        line.resize(std::max(line.size(), column_ + 1), ' ');
        line[column_++] = bytes[i];
      }
    }
  }

 private:
  void obey(char command, const std::string& number) {
    if (command == 'A') row -= std::stoul(number);
    if (command == 'H') row = column_ = 0;
    if (command == 'J' && number == "2") return rows.assign(row + 1, "");
    if (command == 'K' || command == 'J') rows[row].resize(column_);
    if (command == 'J') rows.resize(row + 1);
  }
  std::size_t column_ = 0;
};

}  // namespace

TEST_CASE("a block says how far, how fast, how good, and who waits for whom") {
  CHECK(format_block(sample(), {.columns = 79}) ==
        std::vector<std::string>{
            "runs/a  1:23 of 3:00, 1:37 left",
            "==================================---------------------------------------- 46 %",
            "decisions   3.21 M  41.2 k/s  2 actors  lag p99 3",
            "blocking_rate best 0.0742  4 % better than constant:4 (0.0776)  lately 0.0810",
            "            #=._",
            "bottleneck  actors wait for the learner: more of them would not help"});
}

TEST_CASE("what is not known is left out, and a silence hides what changes") {
  TrainProgress p;
  p.elapsed = 5s;
  CHECK(format_block(p, {}) ==
        std::vector<std::string>{"training  0:05", "decisions   0  0/s  0 actors"});
  p.warm_start = {12, 40, "episodes"};
  CHECK(format_block(p, {}).back() == "warm start  12 of 40 episodes");
  p = sample();
  p.silent = 20s;
  p.trouble = "the disk is full";
  const auto lines = format_block(p, {});
  CHECK(lines[2] == "decisions   3.21 M");
  CHECK(lines[lines.size() - 2] == "silence     no news for 20 s");
  CHECK(lines.back() == "trouble     the disk is full");
}

TEST_CASE("the time left is that of the limit that comes first") {
  TrainProgress p = sample();
  p.decision_limit = 3'210'000 + 412'340;  // ten seconds from now
  CHECK(format_block(p, {}).front() == "runs/a  1:23 of 3:00, 0:10 left");
  p.decisions_per_second = 0;
  CHECK(format_block(p, {}).front() == "runs/a  1:23 of 3:00, 1:37 left");
}

TEST_CASE("of a name that is too long the end is shown, and times first of all") {
  TrainProgress p = sample();
  p.run = "/somewhere/größer/runs/a";
  const auto title = [&p](std::size_t columns) {
    return format_block(p, {.columns = columns}).front();
  };
  CHECK(title(51) == "/somewhere/größer/runs/a  1:23 of 3:00, 1:37 left");
  CHECK(title(48) == "...ewhere/größer/runs/a  1:23 of 3:00, 1:37 left");
  CHECK(title(32) == "...ns/a  1:23 of 3:00, 1:37 left");
  CHECK(title(29) == "...a  1:23 of 3:00, 1:37 left");
  CHECK(title(28) == "1:23 of 3:00, 1:37 left");
  CHECK(title(10) == "1:23 of 3:");
}

TEST_CASE("no line is wider than the terminal, whatever it is made of") {
  TrainProgress p = sample();
  p.run = std::string(200, 'r');
  p.trouble = "größer als gedacht";
  for (std::size_t columns = 1; columns < 120; ++columns) {
    for (const bool unicode : {false, true}) {
      for (const auto& line : format_block(p, {columns, false, unicode})) {
        INFO(columns << ": " << line);
        const auto shown = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
        CHECK(static_cast<std::size_t>(shown) <= std::min<std::size_t>(columns, 100));
      }
    }
  }
}

TEST_CASE("without colours there is no escape in a line") {
  for (const auto& line : format_block(sample(), {79, false, true})) {
    CHECK(line.find('\x1b') == std::string::npos);
  }
  const auto coloured = format_block(sample(), {79, true, true});
  CHECK_THAT(coloured[3], Catch::Contains("\x1b[32m  4 % better than constant:4\x1b[0m"));
  TrainProgress worse = sample();
  worse.evaluation.higher_is_better = true;
  CHECK_THAT(format_block(worse, {79, true, true})[3], Catch::Contains("\x1b[33m  4 % worse than"));
}

TEST_CASE("a block is rewritten where it stands, four times a second at most") {
  std::ostringstream out;
  ProgressBlock block(out, {[] { return TerminalSize{80, 24}; }, false, false});
  const TimePoint start{};
  block.update(sample(), start);
  const std::string once = out.str();
  block.update(sample(), start + 100ms);
  CHECK(out.str() == once);
  TrainProgress shorter = sample();
  shorter.limiter.clear();
  block.update(shorter, start + 250ms);
  Screen screen;
  screen.write(out.str());
  CHECK(screen.rows == format_block(shorter, {.columns = 79}));
}

TEST_CASE("other output stands above the block, and the last block stays") {
  std::ostringstream out;
  ProgressBlock block(out, {[] { return TerminalSize{80, 24}; }, false, false});
  block.interrupt();
  CHECK(out.str().empty());
  block.update(sample(), TimePoint{});
  block.interrupt();
  out << "actor-0 has died\n";
  block.finish(sample());
  out << "the end";
  Screen screen;
  screen.write(out.str());
  auto expected = format_block(sample(), {.columns = 79});
  expected.insert(expected.begin(), "actor-0 has died");
  expected.emplace_back("the end");
  CHECK(screen.rows == expected);
}

TEST_CASE("a block begins again on a clear screen when the terminal has become narrower") {
  TerminalSize size{81, 24};
  std::ostringstream out;
  ProgressBlock block(out, {[&size] { return size; }, false, false});
  out << "what was there before\n";
  block.update(sample(), TimePoint{});
  Screen screen;
  size.columns = 40;
  SECTION("with the next one") {
    block.update(sample(), TimePoint{} + 1s);
    screen.write(out.str());
    CHECK(screen.rows == format_block(sample(), {.columns = 39}));
  }
  SECTION("also where other output comes first") {
    block.interrupt();
    out << "actor-0 has died\n";
    block.update(sample(), TimePoint{} + 1s);
    screen.write(out.str());
    auto expected = format_block(sample(), {.columns = 39});
    expected.insert(expected.begin(), "actor-0 has died");
    CHECK(screen.rows == expected);
  }
}

TEST_CASE("a block stays where it is when the terminal becomes wider") {
  TerminalSize size{40, 24};
  std::ostringstream out;
  ProgressBlock block(out, {[&size] { return size; }, false, false});
  out << "what was there before\n";
  block.update(sample(), TimePoint{});
  size.columns = 81;
  block.update(sample(), TimePoint{} + 1s);
  Screen screen;
  screen.write(out.str());
  auto expected = format_block(sample(), {.columns = 80});
  expected.insert(expected.begin(), "what was there before");
  CHECK(screen.rows == expected);
}

TEST_CASE("a terminal of few rows shows as much as fits") {
  std::ostringstream out;
  ProgressBlock block(out, {[] { return TerminalSize{80, 3}; }, false, false});
  block.update(sample(), TimePoint{});
  Screen screen;
  screen.write(out.str());
  CHECK(screen.rows.size() == 2);
}
