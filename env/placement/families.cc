#include "env/placement/families.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "common/result.h"
#include "common/text.h"

namespace pacml::env {
namespace {

using Parents = std::vector<std::int32_t>;

class Builder {
 public:
  std::int32_t add(double cost_us, double bytes, const Parents& parents = {}) {
    const auto index = static_cast<std::int32_t>(spec_.ops.size());
    spec_.ops.push_back(
        {.name = "n" + std::to_string(index), .cost_us = cost_us, .output_bytes = {bytes}});
    for (const std::int32_t p : parents) spec_.edges.push_back({p, 0, index});
    return index;
  }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(spec_.ops.size()); }
  [[nodiscard]] OpGraphSpec take() { return std::move(spec_); }

 private:
  OpGraphSpec spec_;
};

double draw_cost(SplitMix& r) {
  const std::uint64_t base = 100 + r.below(900);
  return static_cast<double>(base << r.below(5));
}

double draw_bytes(SplitMix& r) {
  const std::uint64_t base = 1 + r.below(64);
  return static_cast<double>((base << r.below(6)) * 65536);
}

struct Size {
  double cost_us = 0;
  double bytes = 0;
};

Size draw_size(SplitMix& r) {
  const double cost = draw_cost(r);
  return {cost, draw_bytes(r)};
}

Parents draw_parents(SplitMix& r, const Parents& last) {
  Parents parents;
  for (std::uint64_t i = 1 + r.below(3); i-- > 0;) {
    const bool is_near = r.below(100) < 80;
    const auto p =
        is_near ? last[r.below(last.size())]
                : static_cast<std::int32_t>(r.below(static_cast<std::uint64_t>(last.back()) + 1));
    if (std::ranges::find(parents, p) == parents.end()) parents.push_back(p);
  }
  return parents;
}

OpGraphSpec layered(SplitMix r) {
  Builder b;
  Parents last;
  for (std::uint64_t layer = 0, layers = 5 + r.below(6); layer < layers; ++layer) {
    Parents row;
    for (std::uint64_t i = 1 + r.below(6); i-- > 0;) {
      const Size size = draw_size(r);
      const bool is_free = r.below(20) == 0;
      const Parents parents = layer == 0 ? Parents{} : draw_parents(r, last);
      row.push_back(b.add(is_free ? 0 : size.cost_us, size.bytes, parents));
    }
    last = std::move(row);
  }
  return b.take();
}

OpGraphSpec branch(SplitMix r) {
  Builder b;
  const auto add = [&](const Parents& parents) {
    const Size size = draw_size(r);
    return b.add(size.cost_us, size.bytes, parents);
  };
  std::int32_t tip = add({});
  tip = add({tip});
  for (std::uint64_t blocks = 2 + r.below(4); blocks-- > 0;) {
    Parents ends;
    for (std::uint64_t branches = 2 + r.below(3); branches-- > 0;) {
      std::int32_t v = tip;
      for (std::uint64_t length = 1 + r.below(3); length-- > 0;) v = add({v});
      ends.push_back(v);
    }
    tip = b.add(50, draw_bytes(r), ends);
  }
  return b.take();
}

OpGraphSpec grid(SplitMix r) {
  Builder b;
  const std::uint64_t steps = 4 + r.below(5);
  std::vector<Size> layers(2 + r.below(3));
  for (Size& size : layers) size = draw_size(r);
  const Size head = draw_size(r);
  Parents below;
  for (const Size& size : layers) {
    Parents row;
    for (std::uint64_t t = 0; t < steps; ++t) {
      Parents parents;
      if (!below.empty()) parents.push_back(below[t]);
      if (t > 0) parents.push_back(row.back());
      row.push_back(b.add(size.cost_us, size.bytes, parents));
    }
    below = std::move(row);
  }
  Parents tops;
  for (const std::int32_t v : below) tops.push_back(b.add(head.cost_us, head.bytes, {v}));
  b.add(100, 65536, tops);
  return b.take();
}

// Half a block of a cell: an operation on one of the states before it.
struct Half {
  std::size_t input = 0;
  Size size;
};

OpGraphSpec cell(SplitMix r) {
  Builder b;
  std::vector<std::array<Half, 2>> plan(4 + r.below(3));
  for (std::size_t k = 0; k < plan.size(); ++k) {
    for (Half& half : plan[k]) {
      half.input = r.below(2 + k);
      half.size = draw_size(r);
    }
  }
  const std::uint64_t cells = 3 + r.below(3);
  std::vector<bool> is_read(2 + plan.size(), false);
  for (const auto& block : plan) {
    for (const Half& half : block) is_read[half.input] = true;
  }
  const Size stem = draw_size(r);
  std::int32_t previous = b.add(stem.cost_us, stem.bytes);
  std::int32_t before = previous;
  for (std::uint64_t i = 0; i < cells; ++i) {
    Parents states{before, previous};
    for (const auto& block : plan) {
      Parents halves;
      for (const Half& half : block) {
        halves.push_back(b.add(half.size.cost_us, half.size.bytes, {states[half.input]}));
      }
      states.push_back(b.add(0, block[0].size.bytes, halves));
    }
    Parents joined;
    for (std::size_t s = 2; s < states.size(); ++s) {
      if (!is_read[s]) joined.push_back(states[s]);
    }
    before = previous;
    previous = b.add(50, 65536 * 16, joined);
  }
  return b.take();
}

struct Family {
  std::string name;
  OpGraphSpec (*draw)(SplitMix);
};

// A family's place is part of what its graphs are drawn from.
const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {"branch", branch}, {"cell", cell}, {"grid", grid}, {"layered", layered}};
  return list;
}

}  // namespace

const std::vector<std::string>& graph_families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Family& family : families()) list.push_back(family.name);
    return list;
  }();
  return names;
}

OpGraphSpec family_graph(std::string_view family, std::uint64_t number) {
  const auto found = std::ranges::find(families(), family, &Family::name);
  if (found == families().end()) {
    throw UserError("there is no family of graphs \"" + std::string(family) + "\"" +
                    did_you_mean(family, graph_families()));
  }
  const auto place = static_cast<std::uint64_t>(found - families().begin());
  return found->draw(SplitMix(4 * number + place));
}

OpGraphSpec chain_graph(int length, int width, double cost_us, double bytes) {
  Builder b;
  const std::int32_t source = b.add(cost_us, bytes);
  Parents ends;
  for (int i = 0; i < width; ++i) {
    std::int32_t v = source;
    for (int j = 0; j < length; ++j) v = b.add(cost_us, bytes, {v});
    ends.push_back(v);
  }
  b.add(cost_us, bytes, ends);
  return b.take();
}

OpGraphSpec crown_graph(int length, int height, double cost_us, double bytes) {
  Builder b;
  Parents below;
  for (int i = 0; i < height; ++i) {
    Parents row;
    for (std::size_t j = 0; j < static_cast<std::size_t>(length); ++j) {
      Parents parents;
      if (j > 0) parents.push_back(row.back());
      if (i > 0) parents.push_back(below[j]);
      row.push_back(b.add(cost_us, bytes, parents));
    }
    below = std::move(row);
  }
  b.add(cost_us, bytes, below);
  return b.take();
}

OpGraphSpec pairs_graph(int count, double cost_us, double bytes) {
  Builder b;
  for (int i = 0; i < count; ++i) {
    const std::int32_t first = b.add(cost_us, bytes);
    b.add(cost_us, bytes, {first});
  }
  return b.take();
}

std::string fingerprint(const OpGraphSpec& spec) {
  const auto whole = [](double v) { return std::to_string(static_cast<std::int64_t>(v)); };
  std::string text;
  for (const OpSpec& op : spec.ops) {
    std::vector<std::string> bytes;
    std::ranges::transform(op.output_bytes, std::back_inserter(bytes), whole);
    text += op.name + " " + whole(op.cost_us) + " " + join(bytes, ",") + " " +
            (op.group.empty() ? op.name : op.group) + ";";
  }
  for (const OpEdge& edge : spec.edges) {
    text += std::to_string(edge.producer) + " " + std::to_string(edge.output) + " " +
            std::to_string(edge.consumer) + ";";
  }
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  std::array<char, 17> digits{};
  static_cast<void>(std::snprintf(digits.data(), digits.size(), "%016llx",
                                  static_cast<unsigned long long>(hash)));
  return digits.data();
}

}  // namespace pacml::env
