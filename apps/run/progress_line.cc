#include "apps/run/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ostream>

namespace pacml::apps {
namespace {

constexpr std::chrono::milliseconds kTerminalPeriod{250};
constexpr std::chrono::seconds kPlainPeriod{10};

std::string clock_text(std::chrono::seconds time) {
  const auto total = time.count();
  char text[32];
  if (total >= 3600) {
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", total / 3600, total / 60 % 60, total % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld:%02ld", total / 60, total % 60);
  }
  return text;
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// Three significant digits or so: "950", "41.2 k", "3.21 M".
std::string amount(double value) {
  if (value < 1e3) return fixed(value, 0);
  if (value < 1e6) return fixed(value / 1e3, 1) + " k";
  if (value < 1e9) return fixed(value / 1e6, 2) + " M";
  return fixed(value / 1e9, 2) + " G";
}

// " (15 % better than constant:4)": what training has brought so far.
std::string gain_text(const TrainProgress& p) {
  if (!p.baseline_score || *p.baseline_score == 0) return {};
  const double change = (*p.best - *p.baseline_score) / std::abs(*p.baseline_score);
  if (change == 0) return " (no better than " + p.baseline + ")";
  const bool is_better = (change > 0) == p.higher_is_better;
  return " (" + fixed(100 * std::abs(change), 0) + " % " + (is_better ? "better" : "worse") +
         " than " + p.baseline + ")";
}

std::string objective_text(const TrainProgress& p) {
  std::string text;
  if (p.lately) text = " | " + p.objective + " " + fixed(*p.lately, 3);
  if (p.best) {
    text += (text.empty() ? " | " + p.objective + " best " : ", best ") + fixed(*p.best, 3) +
            gain_text(p);
  }
  return text;
}

// What changes from moment to moment.
std::string lately(const TrainProgress& p) {
  std::string text = ", " + amount(p.decisions_per_second) + "/s | " + std::to_string(p.actors) +
                     (p.actors == 1 ? " actor" : " actors") + objective_text(p);
  if (p.entropy) text += " | entropy " + fixed(*p.entropy, 2);
  if (p.lag_p99) text += " | lag p99 " + fixed(*p.lag_p99, 0);
  if (p.skipped > 0) text += " | " + std::to_string(p.skipped) + " updates not finite";
  return text;
}

}  // namespace

std::string format_progress(const TrainProgress& p) {
  std::string text = clock_text(p.elapsed);
  if (p.time_limit) text += " of " + clock_text(*p.time_limit);
  if (p.warm_start) {
    text += " | warm start: " + std::to_string(p.warm_start->first) + " of " +
            std::to_string(p.warm_start->second) + " episodes";
  } else {
    text += " | " + amount(static_cast<double>(p.decisions));
    if (p.decision_limit) text += " of " + amount(static_cast<double>(*p.decision_limit));
    text += " decisions";
    if (!p.silent) text += lately(p);
  }
  if (p.silent) text += " | no news for " + std::to_string(p.silent->count()) + " s";
  if (!p.trouble.empty()) text += (p.silent ? ": " : " | ") + p.trouble;
  return text;
}

void ProgressLine::update(const TrainProgress& progress, TimePoint now) {
  const Duration period = terminal_width_ > 0 ? Duration{kTerminalPeriod} : Duration{kPlainPeriod};
  if (shown_at_ && now - *shown_at_ < period) return;
  shown_at_ = now;
  show(progress);
}

void ProgressLine::finish(const TrainProgress& progress) {
  show(progress);
  interrupt();
}

void ProgressLine::interrupt() {
  if (line_is_open_) out_ << "\n" << std::flush;
  line_is_open_ = false;
}

void ProgressLine::show(const TrainProgress& progress) {
  const std::string text = format_progress(progress);
  if (terminal_width_ == 0) {
    out_ << text << "\n" << std::flush;
    return;
  }
  // Back to the first column, the text, and an escape that clears what a longer line left. The last
  // column stays free: some terminals wrap when it is written.
  out_ << "\r" << text.substr(0, terminal_width_ - 1) << "\x1b[K" << std::flush;
  line_is_open_ = true;
}

std::size_t terminal_width_of_stdout() {
  if (::isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 80;
  return size.ws_col;
}

}  // namespace pacml::apps
