#include "env/onnx/layout_shapes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace pacml::env::shapes {
namespace {

using onnx::TensorProto;

constexpr std::int64_t kFar = INT64_C(1) << 40;  // what stands for infinity

// The axes that an attribute, or in later versions an input, names; absent: none are named.
std::optional<std::set<std::size_t>> axes_of(const OnnxCall& call, std::size_t input,
                                             std::size_t num_axes) {
  std::vector<std::int64_t> axes;
  if (call.has_attribute("axes")) {
    axes = call.integers("axes", {}, -kFar, kFar);
  } else if (call.has(input)) {
    axes = call.whole_values(input);
  } else {
    return std::nullopt;
  }
  std::set<std::size_t> found;
  for (const std::int64_t axis : axes) found.insert(call.axis(axis, num_axes));
  return found;
}

// A setting that is an attribute in early versions and an input in later ones.
std::vector<std::int64_t> attribute_or_input(const OnnxCall& call, const char* name,
                                             std::size_t input) {
  return call.has_attribute(name) ? call.integers(name, {}, INT64_MIN, INT64_MAX)
                                  : call.whole_values(input);
}

// An extent that was computed.
std::int64_t extent(const OnnxCall& call, double value) {
  if (!(value >= 0 && value <= kMostElements)) call.refuse("a shape of its result cannot be");
  return static_cast<std::int64_t>(value);
}

// Extents of the parts that x is split into along an axis. UserError: they are not all of it.
std::vector<Extents> parts_of(const OnnxCall& call, const OnnxTensor& x, std::size_t axis,
                              const std::vector<std::int64_t>& sizes) {
  std::vector<Extents> parts;
  double sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) call.refuse("a part cannot have " + std::to_string(size));
    sum += static_cast<double>(size);
    parts.push_back(x.extents);
    parts.back()[axis] = size;
  }
  if (sum != static_cast<double>(x.extents[axis])) {
    call.refuse("its parts do not add up to " + std::to_string(x.extents[axis]));
  }
  return parts;
}

}  // namespace

Outputs flatten(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const std::int64_t axis = call.integer("axis", 1, -kFar, kFar);
  const auto axes = static_cast<std::int64_t>(x.num_axes());
  if (axis < -axes || axis > axes) call.refuse("there is no such axis");
  const auto middle = x.extents.begin() + (axis < 0 ? axis + axes : axis);
  return one(x.type, {extent(call, product_of({x.extents.begin(), middle})),
                      extent(call, product_of({middle, x.extents.end()}))});
}

Outputs reshape(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  std::vector<std::int64_t> wanted = attribute_or_input(call, "shape", 1);
  if (wanted.size() > kMostAxes) call.refuse("it asks for too many axes");
  const bool zero_is_zero = call.flag("allowzero", false);
  double known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && !zero_is_zero && i < x.num_axes()) wanted[i] = x.extents[i];
    if (wanted[i] == -1 && open == nullptr) {
      open = &wanted[i];
    } else if (wanted[i] < 0) {
      call.refuse("a shape cannot hold " + std::to_string(wanted[i]));
    } else {
      known *= static_cast<double>(wanted[i]);
    }
  }
  const double elements = product_of(x.extents);
  if (open != nullptr) *open = known > 0 ? extent(call, std::floor(elements / known)) : 0;
  if (product_of(wanted) != elements) {
    call.refuse("an input of " + to_text(x.extents) + " cannot take the shape " + to_text(wanted));
  }
  return one(x.type, std::move(wanted));
}

Outputs squeeze(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const auto axes = axes_of(call, 1, x.num_axes());
  Extents out;
  for (std::size_t i = 0; i < x.num_axes(); ++i) {
    const bool is_named = axes ? axes->contains(i) : x.extents[i] == 1;
    if (!is_named) {
      out.push_back(x.extents[i]);
    } else if (x.extents[i] != 1) {
      call.refuse("axis " + std::to_string(i) + " of " + to_text(x.extents) + " is not 1");
    }
  }
  return one(x.type, std::move(out));
}

Outputs unsqueeze(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const std::vector<std::int64_t> named = attribute_or_input(call, "axes", 1);
  const std::size_t size = x.num_axes() + named.size();
  std::set<std::size_t> axes;
  for (const std::int64_t axis : named) axes.insert(call.axis(axis, size));
  if (axes.size() != named.size()) call.refuse("it names an axis twice");
  Extents out;
  auto next = x.extents.begin();
  for (std::size_t i = 0; i < size; ++i) out.push_back(axes.contains(i) ? 1 : *next++);
  return one(x.type, std::move(out));
}

Outputs transpose(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  Extents order;
  for (std::size_t i = x.num_axes(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  order = call.integers("perm", std::move(order), 0, static_cast<std::int64_t>(kMostAxes));
  Extents sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != x.num_axes() || sorted[i] != static_cast<std::int64_t>(i)) {
      call.refuse("its perm is no order of " + std::to_string(x.num_axes()) + " axes");
    }
  }
  Extents out;
  for (const std::int64_t axis : order) out.push_back(x.extents[static_cast<std::size_t>(axis)]);
  return one(x.type, std::move(out));
}

Outputs concat(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const std::size_t axis = call.axis(call.integer("axis", 1, -kFar, kFar), x.num_axes());
  Extents out = x.extents;
  for (std::size_t i = 1; i < call.inputs().size(); ++i) {
    Extents part = call.in(i).extents;
    if (part.size() != out.size()) call.refuse("its inputs have different numbers of axes");
    out[axis] += part[axis];
    part[axis] = out[axis];
    if (part != out) call.refuse("its inputs differ along other axes than " + std::to_string(axis));
  }
  return one(x.type, std::move(out));
}

Outputs split(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const std::size_t axis = call.axis(call.integer("axis", 0, -kFar, kFar), x.num_axes());
  const auto parts = static_cast<std::int64_t>(call.num_outputs());
  std::vector<std::int64_t> sizes;
  if (call.has_attribute("split") || call.has(1)) {
    sizes = attribute_or_input(call, "split", 1);
  } else {
    const std::int64_t share = (x.extents[axis] + parts - 1) / std::max<std::int64_t>(1, parts);
    for (std::int64_t i = 0; i < parts; ++i) {
      sizes.push_back(std::clamp<std::int64_t>(x.extents[axis] - i * share, 0, share));
    }
  }
  if (sizes.size() != call.num_outputs()) call.refuse("its parts are not as many as its outputs");
  Outputs out;
  for (Extents& part : parts_of(call, x, axis, sizes))
    out.push_back(tensor(x.type, std::move(part)));
  return out;
}

Outputs split_to_sequence(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const std::size_t axis = call.axis(call.integer("axis", 0, -kFar, kFar), x.num_axes());
  std::vector<std::int64_t> sizes;
  const bool is_listed = call.has(1) && call.in(1).num_axes() == 1;
  if (is_listed) {
    sizes = call.whole_values(1);
  } else {
    const std::int64_t share = call.has(1) ? call.whole_value(1) : 1;
    if (share < 1) call.refuse("a part cannot have " + std::to_string(share));
    if (x.extents[axis] / share >= kMostParts) {
      call.refuse("it makes more than " + std::to_string(kMostParts) + " parts");
    }
    for (std::int64_t left = x.extents[axis]; left > 0; left -= share) {
      sizes.push_back(std::min(left, share));
    }
  }
  const bool keeps_axis = call.has(1) || call.flag("keepdims", true);
  Outputs out = same(call);
  out[0].parts = parts_of(call, x, axis, sizes);
  if (keeps_axis) return out;
  for (Extents& part : out[0].parts) part.erase(part.begin() + static_cast<std::ptrdiff_t>(axis));
  return out;
}

Outputs sequence_at(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  if (x.parts.empty()) return same(call);  // of whatever the sequence is
  const auto count = static_cast<std::int64_t>(x.parts.size());
  const std::int64_t said = call.in(1).values ? call.whole_value(1) : 0;
  const std::int64_t index = said < 0 ? said + count : said;
  if (index < 0 || index >= count) {
    call.refuse("there is no part " + std::to_string(said) + " of " + std::to_string(count));
  }
  return one(x.type, x.parts[static_cast<std::size_t>(index)]);
}

Outputs slice(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const auto starts = attribute_or_input(call, "starts", 1);
  const auto ends = attribute_or_input(call, "ends", 2);
  std::vector<std::int64_t> axes;
  if (call.has_attribute("axes") || call.has(3)) {
    axes = attribute_or_input(call, "axes", 3);
  } else {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (call.has(4)) steps = call.whole_values(4);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    call.refuse("its starts, ends, axes and steps are not as many");
  }
  Extents out = x.extents;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], x.num_axes());
    const std::int64_t size = x.extents[axis];
    if (steps[i] == 0) call.refuse("a step cannot be 0");
    const bool is_forward = steps[i] > 0;
    const auto place = [&](std::int64_t index) {
      index = std::clamp(index, -kFar, kFar);
      if (index < 0) index += size;
      return is_forward ? std::clamp<std::int64_t>(index, 0, size)
                        : std::clamp<std::int64_t>(index, -1, size - 1);
    };
    const std::int64_t way =
        is_forward ? place(ends[i]) - place(starts[i]) : place(starts[i]) - place(ends[i]);
    const std::int64_t step = is_forward ? steps[i] : -std::max(steps[i], -kFar);
    out[axis] = way <= 0 ? 0 : (way - 1) / step + 1;
  }
  return one(x.type, std::move(out));
}

Outputs pad(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const auto pads = attribute_or_input(call, "pads", 1);
  std::vector<std::int64_t> axes;
  if (call.has(3)) {
    axes = call.whole_values(3);
  } else {
    for (std::size_t i = 0; i < x.num_axes(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads.size() != 2 * axes.size()) call.refuse("its pads are not two an axis");
  Extents out = x.extents;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], x.num_axes());
    out[axis] = extent(call, static_cast<double>(out[axis]) + static_cast<double>(pads[i]) +
                                 static_cast<double>(pads[axes.size() + i]));
  }
  return one(x.type, std::move(out));
}

Outputs tile(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const auto times = call.whole_values(1);
  if (times.size() != x.num_axes()) call.refuse("its repeats are not one an axis");
  Extents out = x.extents;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = extent(call, static_cast<double>(out[i]) * static_cast<double>(times[i]));
  }
  return one(x.type, std::move(out));
}

Outputs expand(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  const auto wanted = call.whole_values(1);
  Extents out(std::max(x.num_axes(), wanted.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t a = i < x.num_axes() ? x.extents[x.num_axes() - 1 - i] : 1;
    const std::int64_t b = i < wanted.size() ? wanted[wanted.size() - 1 - i] : 1;
    if ((a != b && a != 1 && b != 1) || b < 0) {
      call.refuse("an input of " + to_text(x.extents) + " cannot be repeated to " +
                  to_text(wanted));
    }
    out[out.size() - 1 - i] = a == 1 ? b : a;
  }
  return one(x.type, std::move(out));
}

Outputs gather(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const Extents& indices = call.in(1).extents;
  const std::size_t axis = call.axis(call.integer("axis", 0, -kFar, kFar), x.num_axes());
  Extents out = x.extents;
  const auto place = out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(place, indices.begin(), indices.end());
  return one(x.type, std::move(out));
}

Outputs gather_nd(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const Extents& indices = call.in(1, 1).extents;
  const std::int64_t batch = call.integer("batch_dims", 0, 0, static_cast<std::int64_t>(kMostAxes));
  const std::int64_t taken = batch + std::clamp<std::int64_t>(indices.back(), 0, kFar);
  if (batch >= static_cast<std::int64_t>(indices.size()) ||
      taken > static_cast<std::int64_t>(x.num_axes())) {
    call.refuse("indices of " + to_text(indices) + " do not go with an input of " +
                to_text(x.extents));
  }
  Extents out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), x.extents.begin() + taken, x.extents.end());
  return one(x.type, std::move(out));
}

Outputs one_hot(const OnnxCall& call) {
  Extents out = call.in(0).extents;
  const auto depth = call.whole_values(1);
  if (depth.size() != 1) call.refuse("its depth is no number");
  const std::size_t axis = call.axis(call.integer("axis", -1, -kFar, kFar), out.size() + 1);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis),
             extent(call, static_cast<double>(depth[0])));
  return one(call.in(2).type, std::move(out));
}

Outputs top_k(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const std::size_t axis = call.axis(call.integer("axis", -1, -kFar, kFar), x.num_axes());
  std::int64_t k = call.integer("k", -1, 0, kFar);
  if (k < 0) {
    const auto given = call.whole_values(1);
    if (given.size() != 1) call.refuse("its k is no number");
    k = given[0];
  }
  if (k < 0 || k > x.extents[axis]) call.refuse("it cannot take " + std::to_string(k));
  Extents out = x.extents;
  out[axis] = k;
  return {one(x.type, out)[0], one(TensorProto::INT64, out)[0]};
}

Outputs reduce(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  auto axes = axes_of(call, 1, x.num_axes());
  const bool keeps_all = call.flag("noop_with_empty_axes", false);
  const bool is_over_all = (!axes || axes->empty()) && !keeps_all;
  const bool keeps_axes = call.flag("keepdims", true);
  Extents out;
  for (std::size_t i = 0; i < x.num_axes(); ++i) {
    const bool is_reduced = is_over_all || (axes && axes->contains(i));
    if (!is_reduced) {
      out.push_back(x.extents[i]);
    } else if (keeps_axes) {
      out.push_back(1);
    }
  }
  return one(x.type, std::move(out));
}

Outputs arg_reduce(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const std::size_t axis = call.axis(call.integer("axis", 0, -kFar, kFar), x.num_axes());
  Extents out = x.extents;
  if (call.flag("keepdims", true)) {
    out[axis] = 1;
  } else {
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return one(TensorProto::INT64, std::move(out));
}

// Resize has inputs x, roi, scales, sizes since operator set 11, and before x, scales, as Upsample.
Outputs resize(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0);
  std::vector<std::int64_t> axes = call.integers("axes", {}, -kFar, kFar);
  if (axes.empty()) {
    for (std::size_t i = 0; i < x.num_axes(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<double> factors = call.numbers("scales");
  std::vector<std::int64_t> sizes;
  if (factors.empty()) {
    const std::size_t scales = call.inputs().size() == 2 ? 1 : 2;
    if (call.has(3) && (!call.in(3).values || !call.in(3).values->empty())) {
      sizes = call.whole_values(3);
    } else {
      factors = call.values(scales);
    }
  }
  if (std::max(factors.size(), sizes.size()) != axes.size()) {
    call.refuse("its scales or sizes are not one an axis");
  }
  Extents out = x.extents;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& size = out[call.axis(axes[i], x.num_axes())];
    size = extent(call, sizes.empty() ? std::floor(static_cast<double>(size) * factors[i])
                                      : static_cast<double>(sizes[i]));
  }
  return one(x.type, std::move(out));
}

Outputs depth_to_space(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 4, 4);
  const std::int64_t block = call.integer("blocksize", 1, 1, 1 << 16);
  if (x.extents[1] % (block * block) != 0) call.refuse("its channels are no whole blocks");
  return one(x.type, {x.extents[0], x.extents[1] / (block * block),
                      extent(call, static_cast<double>(x.extents[2] * block)),
                      extent(call, static_cast<double>(x.extents[3] * block))});
}

Outputs space_to_depth(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 4, 4);
  const std::int64_t block = call.integer("blocksize", 1, 1, 1 << 16);
  if (x.extents[2] % block != 0 || x.extents[3] % block != 0) {
    call.refuse("its image is no whole number of blocks");
  }
  return one(x.type,
             {x.extents[0],
              extent(call, static_cast<double>(x.extents[1]) * static_cast<double>(block * block)),
              x.extents[2] / block, x.extents[3] / block});
}

Outputs shape(const OnnxCall& call) {
  const auto axes = static_cast<std::int64_t>(call.in(0).num_axes());
  const auto place = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + axes : index, 0, axes);
  };
  const std::int64_t first = place(call.integer("start", 0, -kFar, kFar));
  const std::int64_t end = place(call.integer("end", axes, -kFar, kFar));
  Outputs out = one(TensorProto::INT64, {std::max<std::int64_t>(0, end - first)});
  const Extents& extents = call.in(0).extents;
  out[0].values.emplace();
  for (std::int64_t i = first; i < end; ++i) {
    out[0].values->push_back(static_cast<double>(extents[static_cast<std::size_t>(i)]));
  }
  return out;
}

Outputs size(const OnnxCall& call) {
  Outputs out = one(TensorProto::INT64, {});
  out[0].values = {product_of(call.in(0).extents)};
  return out;
}

Outputs constant(const OnnxCall& call) {
  if (const onnx::TensorProto* value = call.tensor("value")) {
    Outputs out = one(value->data_type(), {value->dims().begin(), value->dims().end()});
    out[0].values = values_of(*value);
    return out;
  }
  const auto list = [](int type, const auto& numbers) {
    Outputs out = one(type, {numbers.size()});
    if (static_cast<std::size_t>(numbers.size()) <= kMostValues) {
      out[0].values.emplace(numbers.begin(), numbers.end());
    }
    return out;
  };
  for (const onnx::AttributeProto& attribute : call.node().attribute()) {
    if (attribute.name() == "value_floats") return list(TensorProto::FLOAT, attribute.floats());
    if (attribute.name() == "value_ints") return list(TensorProto::INT64, attribute.ints());
    Outputs out = one(TensorProto::FLOAT, {});
    if (attribute.name() == "value_float") {
      out[0].values = {attribute.f()};
      return out;
    }
    if (attribute.name() == "value_int") {
      out[0].type = TensorProto::INT64;
      out[0].values = {static_cast<double>(attribute.i())};
      return out;
    }
  }
  call.refuse("its value is of a kind that is not read");
}

Outputs constant_of_shape(const OnnxCall& call) {
  Extents out;
  for (const double value : call.values(0)) out.push_back(extent(call, value));
  const onnx::TensorProto* value = call.tensor("value");
  Outputs outputs = one(value == nullptr ? TensorProto::FLOAT : value->data_type(), std::move(out));
  const double elements = product_of(outputs[0].extents);
  const auto values = value == nullptr ? std::vector<double>{0} : values_of(*value);
  if (values && values->size() == 1 && elements <= static_cast<double>(kMostValues)) {
    outputs[0].values.emplace(static_cast<std::size_t>(elements), values->front());
  }
  return outputs;
}

Outputs range(const OnnxCall& call) {
  const auto number = [&](std::size_t input) {
    if (call.values(input).size() != 1) call.refuse("it counts between what are no numbers");
    return call.values(input)[0];
  };
  const double start = number(0);
  const double step = number(2);
  const std::int64_t count = extent(call, std::max(0.0, std::ceil((number(1) - start) / step)));
  Outputs out = one(call.in(0).type, {count});
  if (static_cast<std::size_t>(count) <= kMostValues) {
    out[0].values.emplace();
    for (std::int64_t i = 0; i < count; ++i) {
      out[0].values->push_back(start + static_cast<double>(i) * step);
    }
  }
  return out;
}

}  // namespace pacml::env::shapes
