#include "apps/run/progress_block.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>
#include <utility>

#include "apps/run/progress_text.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::milliseconds kBlockPeriod{250};
constexpr std::size_t kWidest = 100;  // columns: the eye finds the next line
constexpr std::size_t kLabel = 12;    // columns before the figures

enum class Ink { kPlain, kStrong, kSoft, kGood, kBad };

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
      return "";
    case Ink::kStrong:
      return "\x1b[1m";
    case Ink::kSoft:
      return "\x1b[2m";
    case Ink::kGood:
      return "\x1b[32m";
    case Ink::kBad:
      return "\x1b[33m";
  }
  return "";
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t left = columns; end < text.size(); ++end) {
    if (begins_character(text[end]) && left-- == 0) break;
  }
  return text.substr(0, end);
}

// A line of pieces, which ends where there is no more room.
class Line {
 public:
  explicit Line(const BlockStyle& style) : style_(style), left_(std::min(kWidest, style.columns)) {}
  Line& add(std::string_view text, Ink ink = Ink::kPlain) {
    const std::string_view fits = cut(text, left_);
    left_ -= columns_of(fits);
    const bool inked = style_.colours && ink != Ink::kPlain && !fits.empty();
    if (inked) text_ += code_of(ink);
    text_ += fits;
    if (inked) text_ += "\x1b[0m";
    return *this;
  }
  Line& label(std::string_view text) {
    return add(std::string(text) + std::string(kLabel - std::min(kLabel, text.size()), ' '),
               Ink::kSoft);
  }
  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const BlockStyle& style_;
  std::size_t left_;
  std::string text_;
};

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// How far the run is on the way to its nearest end, 0..1.
std::optional<double> share_done(const TrainProgress& p) {
  std::optional<double> share;
  const auto consider = [&share](double done, double all) {
    if (all > 0) share = std::clamp(std::max(share.value_or(0), done / all), 0.0, 1.0);
  };
  if (p.time_limit) {
    consider(static_cast<double>(p.elapsed.count()), static_cast<double>(p.time_limit->count()));
  }
  if (p.decision_limit) {
    consider(static_cast<double>(p.decisions), static_cast<double>(*p.decision_limit));
  }
  return share;
}

std::optional<std::chrono::seconds> time_left(const TrainProgress& p) {
  std::optional<std::chrono::seconds> left;
  if (p.time_limit) left = std::max(std::chrono::seconds{0}, *p.time_limit - p.elapsed);
  if (p.decision_limit && p.decisions_per_second > 0 && !p.silent) {
    const double more =
        static_cast<double>(std::max<std::int64_t>(0, *p.decision_limit - p.decisions));
    const double seconds = std::min(more / p.decisions_per_second, 1e9);
    const std::chrono::seconds by_decisions{static_cast<std::int64_t>(seconds)};
    left = left ? std::min(*left, by_decisions) : by_decisions;
  }
  return left;
}

// The end of a name that is longer, which tells more than its beginning.
std::string end_of_name(std::string_view name, std::size_t columns) {
  constexpr std::string_view kLeftOut = "...";
  if (columns_of(name) <= columns) return std::string(name);
  if (columns <= kLeftOut.size()) return {};
  std::size_t begin = name.size();
  for (std::size_t left = columns - kLeftOut.size(); left > 0; --left) {
    while (!begins_character(name[--begin])) {
    }
  }
  return std::string(kLeftOut) + std::string(name.substr(begin));
}

std::string title(const TrainProgress& p, const BlockStyle& style) {
  std::string times = clock_text(p.elapsed);
  if (p.time_limit) times += " of " + clock_text(*p.time_limit);
  if (const auto left = time_left(p)) times += ", " + clock_text(*left) + " left";
  // Times change, and are worth more than a name that does not.
  Line line(style);
  const std::size_t room = line.left() - std::min(line.left(), times.size() + 2);
  const std::string name = end_of_name(p.run.empty() ? "training" : p.run, room);
  if (!name.empty()) line.add(name, Ink::kStrong).add("  ");
  return line.add(times).text();
}

std::string bar(double share, const BlockStyle& style) {
  Line line(style);
  const std::string percent = " " + fixed_text(std::floor(100 * share), 0) + " %";
  if (line.left() <= percent.size() + 2) return line.add(percent).text();
  const std::size_t width = line.left() - percent.size();
  const auto done = static_cast<std::size_t>(share * static_cast<double>(width));
  line.add(repeated(style.unicode ? "━" : "=", done), Ink::kGood);
  line.add(repeated(style.unicode ? "─" : "-", width - done), Ink::kSoft);
  return line.add(percent).text();
}

std::string rates(const TrainProgress& p, const BlockStyle& style) {
  Line line(style);
  line.label("decisions").add(amount_text(static_cast<double>(p.decisions)));
  if (p.decision_limit) line.add(" of " + amount_text(static_cast<double>(*p.decision_limit)));
  if (p.silent) return line.text();
  line.add("  " + amount_text(p.decisions_per_second) + "/s", Ink::kStrong);
  line.add("  " + std::to_string(p.actors) + (p.actors == 1 ? " actor" : " actors"),
           p.actors == 0 ? Ink::kBad : Ink::kPlain);
  if (p.lag_p99) line.add("  lag p99 " + fixed_text(*p.lag_p99, 0));
  if (p.entropy) line.add("  entropy " + fixed_text(*p.entropy, 2));
  if (p.skipped > 0) line.add("  " + std::to_string(p.skipped) + " updates not finite", Ink::kBad);
  return line.text();
}

std::string objective(const TrainProgress& p, const BlockStyle& style) {
  Line line(style);
  const EvaluationFigures& found = p.evaluation;
  line.label(found.objective).add(found.objective.size() >= kLabel ? " " : "");
  if (found.best) {
    line.add("best " + fixed_text(*found.best, 4), Ink::kStrong);
    if (const auto gain = found.gain()) {
      line.add("  " + gain_text(found), *gain > 0 ? Ink::kGood : Ink::kBad);
      line.add(" (" + fixed_text(*found.baseline_score, 4) + ")");
    }
    line.add("  ");
  }
  if (p.lately && !p.silent) line.add("lately " + fixed_text(*p.lately, 4));
  return line.text();
}

// Each column is the mean of the values that fall into it.
std::string curve(const std::vector<double>& values, const BlockStyle& style) {
  static constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::string_view kSigns[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  Line line(style);
  line.label("");
  const std::size_t width = std::min<std::size_t>({values.size(), line.left(), 60});
  if (width == 0) return line.text();  // a narrow terminal
  std::vector<double> columns(width);
  for (std::size_t c = 0; c < width; ++c) {
    const std::size_t begin = c * values.size() / width;
    const std::size_t end = (c + 1) * values.size() / width;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    columns[c] = sum / static_cast<double>(end - begin);
  }
  const auto [low, high] = std::ranges::minmax(columns);
  for (const double value : columns) {
    const double height = high > low ? (value - low) / (high - low) : 0.0;
    const auto step = static_cast<std::size_t>(std::lround(7 * height));
    line.add(style.unicode ? kBlocks[step] : kSigns[step]);
  }
  return line.text();
}

}  // namespace

std::vector<std::string> format_block(const TrainProgress& p, const BlockStyle& style) {
  std::vector<std::string> lines{title(p, style)};
  if (const auto share = share_done(p)) lines.push_back(bar(*share, style));
  if (p.warm_start) {
    lines.push_back(Line(style).label("warm start").add(p.warm_start->text()).text());
  } else {
    lines.push_back(rates(p, style));
    if (p.evaluation.best || p.lately) lines.push_back(objective(p, style));
    if (p.curve.size() > 1) lines.push_back(curve(p.curve, style));
    if (!p.limiter.empty() && !p.silent) {
      lines.push_back(Line(style).label("bottleneck").add(p.limiter).text());
    }
  }
  if (p.silent) {
    lines.push_back(Line(style)
                        .label("silence")
                        .add("no news for " + std::to_string(p.silent->count()) + " s", Ink::kBad)
                        .text());
  }
  if (!p.trouble.empty())
    lines.push_back(Line(style).label("trouble").add(p.trouble, Ink::kBad).text());
  return lines;
}

ProgressBlock::ProgressBlock(std::ostream& out, Terminal terminal)
    : out_(out), terminal_(std::move(terminal)) {}

void ProgressBlock::update(const TrainProgress& progress, TimePoint now) {
  if (shown_at_ && now - *shown_at_ < kBlockPeriod) return;
  shown_at_ = now;
  show(progress);
}

void ProgressBlock::finish(const TrainProgress& progress) {
  show(progress);
  out_ << "\n" << std::flush;
  rows_ = 0;
}

void ProgressBlock::interrupt() {
  if (rows_ == 0) return;
  go_back(terminal_.size().columns);
  out_ << "\x1b[J" << std::flush;
  rows_ = 0;
}

void ProgressBlock::go_back(std::size_t columns) {
  if (columns < columns_) {
    out_ << "\x1b[H\x1b[2J";
    return;
  }
  out_ << "\r";
  if (rows_ > 1) out_ << "\x1b[" << rows_ - 1 << "A";
}

void ProgressBlock::show(const TrainProgress& progress) {
  const TerminalSize size = terminal_.size();
  // The last column stays free: some terminals wrap when it is written.
  const BlockStyle style{size.columns > 1 ? size.columns - 1 : 1, terminal_.colours,
                         terminal_.unicode};
  auto lines = format_block(progress, style);
  const std::size_t room = size.rows > 1 ? size.rows - 1 : 1;
  if (lines.size() > room) lines.resize(room);
  if (rows_ > 0) go_back(size.columns);
  // Each line clears what a longer one left, and the last one what lies below.
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out_ << lines[i] << (i + 1 < lines.size() ? "\x1b[K\n" : "\x1b[J");
  }
  out_ << std::flush;
  rows_ = lines.size();
  columns_ = size.columns;
}

}  // namespace pacml::apps
