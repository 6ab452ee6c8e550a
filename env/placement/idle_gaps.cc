#include "env/placement/idle_gaps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "common/check.h"

namespace pacml::env {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostGapsInRun = 256;

// The longest that begins at one time and does not end after another, all as rounded: half of the
// last digit more than what is between them, give or take the rounding of this sum.
double longest_between(double begin, double end) {
  if (end == kForever) return kForever;
  double length = (end - begin) + (std::nextafter(end, kForever) - end) / 2;
  while (begin + length > end) length = std::nextafter(length, 0.0);
  for (double more = length; begin + more <= end; more = std::nextafter(more, kForever)) {
    length = more;
  }
  return length;
}

}  // namespace

IdleGaps::IdleGaps() : runs_{{.gaps = {gap(0, kForever)}, .longest = kForever}} {}

IdleGaps::Gap IdleGaps::gap(double begin, double end) {
  return {.begin = begin, .end = end, .longest = longest_between(begin, end)};
}

void IdleGaps::find_longest(Run& run) {
  run.longest = std::ranges::max_element(run.gaps, {}, &Gap::longest)->longest;
}

IdleGaps::Place IdleGaps::last_begun(double time) const {
  const auto first_begin = [](const Run& run) { return run.gaps.front().begin; };
  const auto run = std::prev(std::ranges::upper_bound(runs_, time, {}, first_begin));
  const auto gap = std::prev(std::ranges::upper_bound(run->gaps, time, {}, &Gap::begin));
  return {.run = static_cast<std::size_t>(run - runs_.begin()),
          .gap = static_cast<std::size_t>(gap - run->gaps.begin())};
}

double IdleGaps::first_fit(double from, double length) const {
  const auto fits = [length](const auto& entry) { return length <= entry.longest; };
  const Place place = last_begun(from);
  const std::vector<Gap>& gaps = runs_[place.run].gaps;
  const auto begun = gaps.begin() + static_cast<std::ptrdiff_t>(place.gap);
  if (from + length <= begun->end) return from;
  if (const auto later = std::find_if(begun + 1, gaps.end(), fits); later != gaps.end()) {
    return later->begin;
  }
  const auto behind = runs_.begin() + static_cast<std::ptrdiff_t>(place.run) + 1;
  const auto run = std::find_if(behind, runs_.end(), fits);
  PACML_CHECK(run != runs_.end(), "the last gap does not end");
  return std::ranges::find_if(run->gaps, fits)->begin;
}

void IdleGaps::take(double begin, double end) {
  const Place place = last_begun(begin);
  std::vector<Gap>& gaps = runs_[place.run].gaps;
  const auto taken = gaps.begin() + static_cast<std::ptrdiff_t>(place.gap);
  const Gap behind = gap(end, taken->end);
  *taken = gap(taken->begin, begin);
  gaps.insert(taken + 1, behind);
  if (gaps.size() > kMostGapsInRun) {
    const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
    Run second{.gaps = {middle, gaps.end()}};
    gaps.erase(middle, gaps.end());
    find_longest(second);
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(place.run) + 1, std::move(second));
  }
  find_longest(runs_[place.run]);
}

}  // namespace pacml::env
