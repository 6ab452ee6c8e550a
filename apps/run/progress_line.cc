#include "apps/run/progress_line.h"

#include <ostream>

#include "apps/run/progress_text.h"

namespace pacml::apps {
namespace {

constexpr std::chrono::seconds kLinePeriod{10};

std::string objective_text(const TrainProgress& p) {
  const EvaluationFigures& found = p.evaluation;
  std::string text;
  if (p.lately) text = " | " + found.objective + " " + fixed_text(*p.lately, 3);
  if (found.best) {
    text += (text.empty() ? " | " + found.objective + " best " : ", best ") +
            fixed_text(*found.best, 3);
    if (const std::string gain = gain_text(found); !gain.empty()) text += " (" + gain + ")";
  }
  return text;
}

// What changes from moment to moment.
std::string lately(const TrainProgress& p) {
  const std::string pace = p.evaluating ? " | scoring the policy on held-out episodes"
                                        : ", " + amount_text(p.decisions_per_second) + "/s";
  std::string text = pace + " | " + std::to_string(p.actors) +
                     (p.actors == 1 ? " actor" : " actors") + objective_text(p);
  if (p.entropy) text += " | entropy " + fixed_text(*p.entropy, 2);
  if (p.lag_p99) text += " | lag p99 " + fixed_text(*p.lag_p99, 0);
  if (p.skipped > 0) text += " | " + std::to_string(p.skipped) + " updates not finite";
  return text;
}

}  // namespace

std::string format_progress(const TrainProgress& p) {
  std::string text = clock_text(p.elapsed);
  if (p.time_limit) text += " of " + clock_text(*p.time_limit);
  if (p.warm_start) {
    text += " | warm start: " + p.warm_start->text();
  } else {
    text += " | " + amount_text(static_cast<double>(p.decisions));
    if (p.decision_limit) text += " of " + amount_text(static_cast<double>(*p.decision_limit));
    text += " decisions";
    if (!p.silent) text += lately(p);
  }
  if (p.silent) text += " | no news for " + std::to_string(p.silent->count()) + " s";
  if (!p.trouble.empty()) text += (p.silent ? ": " : " | ") + p.trouble;
  return text;
}

void ProgressLine::update(const TrainProgress& progress, TimePoint now) {
  if (shown_at_ && now - *shown_at_ < kLinePeriod) return;
  shown_at_ = now;
  finish(progress);
}

void ProgressLine::finish(const TrainProgress& progress) {
  out_ << format_progress(progress) << "\n" << std::flush;
}

}  // namespace pacml::apps
