#include "env/onnx/layer_shapes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace pacml::env::shapes {
namespace {

using onnx::TensorProto;

// Of kernels, strides and the like: more is no model, and sums of a few stay far from overflow.
constexpr std::int64_t kMostStep = 1 << 20;

std::int64_t at(const std::vector<std::int64_t>& list, std::size_t i) { return list[i]; }

Extents broadcast_extents(const OnnxCall& call, const Extents& a, const Extents& b) {
  Extents out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    // From the last axis on; what is missing in front counts as 1.
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      call.refuse("the shapes " + to_text(a) + " and " + to_text(b) + " do not go together");
    }
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// The settings of a window that moves over the last axes of a tensor.
struct Window {
  Extents kernel;
  Extents strides;
  Extents dilations;
  Extents begins;  // padding in front
  Extents ends;    // ... and behind
  std::string auto_pad;
};

Window window_of(const OnnxCall& call, Extents kernel) {
  Window window;
  const std::size_t axes = kernel.size();
  window.kernel = std::move(kernel);
  window.strides = call.integers("strides", Extents(axes, 1), 1, kMostStep);
  window.dilations = call.integers("dilations", Extents(axes, 1), 1, kMostStep);
  const Extents pads = call.integers("pads", Extents(2 * axes, 0), -kMostStep, kMostStep);
  window.auto_pad = call.text("auto_pad", "NOTSET");
  if (window.strides.size() != axes || window.dilations.size() != axes || pads.size() != 2 * axes) {
    call.refuse("its strides, dilations and pads are not those of " + std::to_string(axes) +
                " axes");
  }
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  window.begins.assign(pads.begin(), half);
  window.ends.assign(half, pads.end());
  return window;
}

// How often the window fits on an axis.
std::int64_t count(const OnnxCall& call, const Window& window, std::size_t i, std::int64_t extent,
                   bool ceil) {
  if (window.auto_pad.starts_with("SAME")) {
    return (extent + window.strides[i] - 1) / window.strides[i];
  }
  const bool is_padded = window.auto_pad != "VALID";
  const std::int64_t padded = extent + (is_padded ? window.begins[i] + window.ends[i] : 0);
  const std::int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
  if (window.kernel[i] < 1 || padded < reach) {
    call.refuse("its window of " + std::to_string(reach) + " does not fit on " +
                std::to_string(padded));
  }
  const std::int64_t stride = window.strides[i];
  std::int64_t places = (padded - reach + (ceil ? stride - 1 : 0)) / stride + 1;
  // A window may hang over the edge, but it must start inside.
  if (ceil && (places - 1) * stride >= extent + window.begins[i]) --places;
  return places;
}

// The last `size` extents.
Extents last(const Extents& extents, std::size_t size) {
  return {extents.end() - static_cast<std::ptrdiff_t>(size), extents.end()};
}

// All keys or values, one head behind another: those of `now` behind those that were kept.
Extents kept_with(const OnnxCall& call, std::size_t past, const Extents& now, std::int64_t heads) {
  Extents all = now.size() == 4 ? now : Extents{now[0], heads, now[1], now[2] / heads};
  if (!call.has(past)) return all;
  Extents kept = call.in(past, 4, 4).extents;
  const std::int64_t positions = std::exchange(kept[2], all[2]);
  if (kept != all) {
    call.refuse("what it kept, " + to_text(call.in(past).extents) + ", does not go with " +
                to_text(now));
  }
  all[2] += positions;
  return all;
}

}  // namespace

Outputs same(const OnnxCall& call) { return one(call.in(0).type, call.in(0).extents); }

Outputs dropout(const OnnxCall& call) {
  const Extents& x = call.in(0).extents;
  return {tensor(call.in(0).type, x), tensor(TensorProto::BOOL, x)};
}

Outputs broadcast(const OnnxCall& call) {
  OnnxTensor out = tensor(call.in(0).type, call.in(0).extents);
  for (std::size_t i = 1; i < call.inputs().size(); ++i) {
    if (call.has(i)) out.extents = broadcast_extents(call, out.extents, call.in(i).extents);
  }
  return {out};
}

Outputs comparison(const OnnxCall& call) {
  Outputs out = broadcast(call);
  out[0].type = TensorProto::BOOL;
  return out;
}

Outputs where(const OnnxCall& call) {
  Outputs out = broadcast(call);
  out[0].type = call.in(1).type;
  return out;
}

Outputs cast(const OnnxCall& call) {
  return one(static_cast<int>(call.integer("to", TensorProto::FLOAT, 1, 64)), call.in(0).extents);
}

Outputs cast_like(const OnnxCall& call) { return one(call.in(1).type, call.in(0).extents); }

Outputs quantize(const OnnxCall& call) {
  const std::int64_t said = call.integer("output_dtype", 0, 0, 64);
  const int type = call.has(2) ? call.in(2).type
                   : said > 0  ? static_cast<int>(said)
                               : static_cast<int>(TensorProto::UINT8);
  return one(type, call.in(0).extents);
}

Outputs normalisation(const OnnxCall& call) {
  Outputs out = same(call);
  // Means and variances, where they are put out, too: as those that came in.
  while (out.size() < call.num_outputs()) {
    out.push_back(call.has(3) ? tensor(call.in(3).type, call.in(3).extents) : out.front());
  }
  return out;
}

Outputs layer_normalisation(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 1);
  const std::size_t axis = call.axis(call.integer("axis", -1, -kMostStep, kMostStep), x.num_axes());
  // Means and inverse deviations: a number for each of what is normalised alike.
  const std::int64_t type = call.integer("stash_type", TensorProto::FLOAT, 1, 64);
  OnnxTensor each = tensor(static_cast<int>(type), x.extents);
  std::fill(each.extents.begin() + static_cast<std::ptrdiff_t>(axis), each.extents.end(), 1);
  return {tensor(x.type, x.extents), each, each};
}

Outputs convolution(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 3);
  const OnnxTensor& w = call.in(1, x.num_axes(), x.num_axes());
  const std::int64_t groups = call.integer("group", 1, 1, kMostStep);
  if (w.extents[1] < 1 || x.extents[1] != w.extents[1] * groups || w.extents[0] % groups != 0) {
    call.refuse("weights of " + to_text(w.extents) + " in " + std::to_string(groups) +
                " groups do not go with an input of " + to_text(x.extents));
  }
  const Window window = window_of(call, last(w.extents, x.num_axes() - 2));
  Extents out{x.extents[0], w.extents[0]};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    out.push_back(count(call, window, i, x.extents[i + 2], false));
  }
  return one(x.type, std::move(out));
}

Outputs transposed_convolution(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 3);
  const OnnxTensor& w = call.in(1, x.num_axes(), x.num_axes());
  const std::int64_t groups = call.integer("group", 1, 1, kMostStep);
  if (x.extents[1] != w.extents[0]) {
    call.refuse("weights of " + to_text(w.extents) + " do not go with an input of " +
                to_text(x.extents));
  }
  const Window window = window_of(call, last(w.extents, x.num_axes() - 2));
  const std::size_t axes = window.kernel.size();
  const Extents extra = call.integers("output_padding", Extents(axes, 0), 0, kMostStep);
  const Extents wanted = call.integers("output_shape", {}, 1, kMostStep);
  if (extra.size() != axes || (!wanted.empty() && wanted.size() < axes)) {
    call.refuse("its output_padding or output_shape is not that of " + std::to_string(axes) +
                " axes");
  }
  Extents out{x.extents[0], w.extents[1] * groups};
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    std::int64_t extent = window.strides[i] * (x.extents[i + 2] - 1) + extra[i] + reach -
                          window.begins[i] - window.ends[i];
    if (window.auto_pad.starts_with("SAME")) extent = x.extents[i + 2] * window.strides[i];
    if (!wanted.empty()) extent = wanted[wanted.size() - axes + i];
    if (extent < 1) call.refuse("nothing is left of its output");
    out.push_back(extent);
  }
  return one(x.type, std::move(out));
}

Outputs pool(const OnnxCall& call) {
  const OnnxTensor& x = call.in(0, 3);
  const Extents kernel = call.integers("kernel_shape", {}, 1, kMostStep);
  if (kernel.size() + 2 != x.num_axes()) {
    call.refuse("its kernel_shape is not that of an input of " + to_text(x.extents));
  }
  const Window window = window_of(call, kernel);
  Extents out{x.extents[0], x.extents[1]};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    out.push_back(count(call, window, i, x.extents[i + 2], call.flag("ceil_mode", false)));
  }
  // Where each maximum was, if that is asked for.
  return {tensor(x.type, out), tensor(TensorProto::INT64, out)};
}

Outputs global_pool(const OnnxCall& call) {
  Outputs out = same(call);
  static_cast<void>(call.in(0, 3));
  std::fill(out[0].extents.begin() + 2, out[0].extents.end(), 1);
  return out;
}

Outputs gemm(const OnnxCall& call) {
  const Extents& a = call.in(0, 2, 2).extents;
  const Extents& b = call.in(1, 2, 2).extents;
  const std::size_t a_rows = call.flag("transA", false) ? 1 : 0;
  const std::size_t b_rows = call.flag("transB", false) ? 1 : 0;
  if (at(a, 1 - a_rows) != at(b, b_rows)) {
    call.refuse("matrices of " + to_text(a) + " and " + to_text(b) + " cannot be multiplied");
  }
  return one(call.in(0).type, {at(a, a_rows), at(b, 1 - b_rows)});
}

Outputs matmul(const OnnxCall& call) {
  Extents a = call.in(0, 1).extents;
  Extents b = call.in(1, 1).extents;
  const bool is_row = a.size() == 1;
  const bool is_column = b.size() == 1;
  if (is_row) a.insert(a.begin(), 1);
  if (is_column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) {
    call.refuse("tensors of " + to_text(a) + " and " + to_text(b) + " cannot be multiplied");
  }
  Extents out = broadcast_extents(call, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!is_row) out.push_back(a[a.size() - 2]);
  if (!is_column) out.push_back(b.back());
  return one(call.in(0).type, std::move(out));
}

EinsumLetters einsum_letters(const OnnxCall& call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  EinsumLetters letters;
  const auto arrow = equation.find("->");
  const bool is_understood =
      arrow != std::string::npos && equation.size() < 256 &&
      std::ranges::all_of(equation, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ',' || c == '-' || c == '>';
      });
  if (!is_understood) call.refuse("its equation \"" + printable(equation) + "\" is not understood");
  letters.output = equation.substr(arrow + 2);
  letters.inputs.emplace_back();
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      letters.inputs.emplace_back();
    } else {
      letters.inputs.back() += c;
    }
  }
  if (letters.inputs.size() != call.inputs().size()) {
    call.refuse("its equation is of another number of inputs");
  }
  return letters;
}

Outputs einsum(const OnnxCall& call) {
  const EinsumLetters letters = einsum_letters(call);
  std::map<char, std::int64_t> extent_of;
  for (std::size_t i = 0; i < letters.inputs.size(); ++i) {
    const std::string& axes = letters.inputs[i];
    const Extents& extents = call.in(i, axes.size(), axes.size()).extents;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      std::int64_t& extent = extent_of.emplace(axes[axis], 1).first->second;
      if (extent != 1 && extents[axis] != 1 && extent != extents[axis]) {
        call.refuse("its inputs differ along " + std::string(1, axes[axis]));
      }
      extent = std::max(extent, extents[axis]);
    }
  }
  Extents out;
  for (const char letter : letters.output) {
    if (!extent_of.contains(letter)) call.refuse("its equation puts out what it does not read");
    out.push_back(extent_of.at(letter));
  }
  return one(call.in(0).type, std::move(out));
}

Outputs recurrent(const OnnxCall& call) {
  const Extents& x = call.in(0, 3, 3).extents;
  const Extents& w = call.in(1, 3, 3).extents;
  const Extents& r = call.in(2, 3, 3).extents;
  const bool is_batch_first = call.flag("layout", false);
  const std::int64_t directions = w[0];
  const std::int64_t hidden = r[2];
  if (w[2] != x[2] || r[0] != directions || directions < 1 || directions > 2 || hidden < 1 ||
      w[1] != r[1] || w[1] % hidden != 0) {
    call.refuse("weights of " + to_text(w) + " and " + to_text(r) + " do not go with an input of " +
                to_text(x));
  }
  const std::int64_t steps = x[is_batch_first ? 1 : 0];
  const std::int64_t batch = x[is_batch_first ? 0 : 1];
  const int type = call.in(0).type;
  const OnnxTensor all = tensor(type, is_batch_first ? Extents{batch, steps, directions, hidden}
                                                     : Extents{steps, directions, batch, hidden});
  const OnnxTensor end = tensor(type, is_batch_first ? Extents{batch, directions, hidden}
                                                     : Extents{directions, batch, hidden});
  return {all, end, end};
}

Outputs attention(const OnnxCall& call) {
  const Extents& q = call.in(0, 3, 4).extents;
  const Extents& k = call.in(1, q.size(), q.size()).extents;
  const Extents& v = call.in(2, q.size(), q.size()).extents;
  if (q[0] != k[0] || q[0] != v[0] || k[q.size() - 2] != v[q.size() - 2]) {
    call.refuse("queries of " + to_text(q) + " do not go with keys of " + to_text(k) +
                " and values of " + to_text(v));
  }
  Extents out = q;
  out.back() = v.back();
  std::int64_t heads = q[1];
  std::int64_t shared = k[1];
  if (q.size() == 3) {
    // All heads of a position lie in one row.
    heads = call.integer("q_num_heads", 1, 1, kMostStep);
    shared = call.integer("kv_num_heads", heads, 1, kMostStep);
    out.back() = v.back() / shared * heads;
  }
  const Extents keys = kept_with(call, 4, k, shared);
  const Extents values = kept_with(call, 5, v, shared);
  const int type = call.in(0).type;
  // What is kept for later, and how well each query goes with each key.
  return {tensor(type, std::move(out)), tensor(type, keys), tensor(type, values),
          tensor(type, {q[0], heads, q[q.size() - 2], keys[2]})};
}

Outputs integer_convolution(const OnnxCall& call) {
  Outputs out = convolution(call);
  out[0].type = TensorProto::INT32;
  return out;
}
Outputs integer_matmul(const OnnxCall& call) {
  Outputs out = matmul(call);
  out[0].type = TensorProto::INT32;
  return out;
}

OnnxCall operands_of_quantised(const OnnxCall& call) {
  // Each with a scale and a zero point behind it.
  return call.with_inputs({&call.in(0), &call.in(3)});
}
Outputs quantised_convolution(const OnnxCall& call) {
  Outputs out = convolution(operands_of_quantised(call));
  out[0].type = call.in(7).type;
  return out;
}
Outputs quantised_matmul(const OnnxCall& call) {
  Outputs out = matmul(operands_of_quantised(call));
  out[0].type = call.in(7).type;
  return out;
}

Outputs cross_entropy(const OnnxCall& call) {
  const bool is_one = call.text("reduction", "mean") != "none";
  OnnxTensor loss = tensor(call.in(0).type, is_one ? Extents{} : call.in(1).extents);
  return {loss, tensor(call.in(0).type, call.in(0).extents)};
}

}  // namespace pacml::env::shapes
