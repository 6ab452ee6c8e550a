#include "env/onnx/import_onnx.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/result.h"
#include "common/text.h"
#include "env/onnx/onnx_file.h"
#include "env/onnx/operators.h"

namespace pacml::env {
namespace {

constexpr int kMostNodes = 200'000;
constexpr std::size_t kMostTensors = 1'000'000;
constexpr std::size_t kMostSources = 64;  // initialisers that one constant is followed to
constexpr std::int64_t kUsualBatch = 32;
constexpr std::size_t kPeepholes = 7;  // which input of an LSTM they are

using Names = std::unordered_map<std::string_view, int>;  // of tensors; where they come from

// Numbers that do not depend on data and that a file stores, or makes out of nothing.
struct Source {
  double elements = 0;
  double bytes = 0;
  bool is_stored = false;   // by name
  bool is_claimed = false;  // by the op that trains them: the first one that uses them
};

std::int64_t open_extent(const std::map<std::string, std::int64_t>& extents,
                         const std::string& name) {
  const auto known = extents.find(name);
  return known == extents.end() ? -1 : known->second;
}

// "batch", "batch_size", "Decoder.Batch".
bool is_named_after_batch(std::string_view axis) {
  constexpr std::string_view kBatch = "batch";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return !std::ranges::search(axis, kBatch, {}, lower).empty();
}

// What a graph reads of the one around it, each once.
void add_free_names(const onnx::GraphProto& graph, std::set<std::string_view>& names) {
  std::set<std::string_view> read;
  std::set<std::string_view> own;
  for (const onnx::ValueInfoProto& info : graph.input()) own.insert(info.name());
  for (const onnx::TensorProto& stored : graph.initializer()) own.insert(stored.name());
  for (const onnx::NodeProto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    own.insert(node.output().begin(), node.output().end());
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) add_free_names(attribute.g(), read);
    }
  }
  for (const onnx::ValueInfoProto& info : graph.output()) read.insert(info.name());
  own.insert(std::string_view());  // an input that is left out
  std::ranges::set_difference(read, own, std::inserter(names, names.end()));
}

// ... the graphs of a node, of an operator that is not known by itself.
std::vector<std::string_view> read_by_graphs_of(const onnx::NodeProto& node) {
  std::set<std::string_view> names;
  if (find_operator(node.domain(), node.op_type()) != nullptr) return {};
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_free_names(attribute.g(), names);
  }
  return {names.begin(), names.end()};
}

std::set<std::string> printable_names(const std::set<std::string>& names) {
  std::set<std::string> lines;
  for (const std::string& name : names) lines.insert(printable(name));
  return lines;
}

class Importer {
 public:
  Importer(const onnx::GraphProto& graph, const std::string& source, const OnnxImport& setting)
      : graph_(graph), source_(source), setting_(setting), extents_(setting.extents) {}

  ImportedModel import() {
    read_initialisers();
    read_inputs();
    name_outputs();
    for (const int node : order(live_nodes())) run(node);
    if (ops_.empty() ||
        std::ranges::all_of(ops_, [](const auto& op) { return op.inputs.empty(); })) {
      refuse("no operation of it depends on its inputs");
    }
    return {.ops = with_one_end(used(std::move(ops_))),
            .batch = batch_,
            .batch_axes = printable_names(batch_axes_),
            .origin = {}};
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError(source_ + ": " + what);
  }

  void check(const OnnxTensor& tensor, std::string_view name) const {
    const bool is_bounded = tensor.num_axes() <= kMostAxes &&
                            product_of(tensor.extents) <= kMostElements &&
                            std::ranges::all_of(tensor.extents, [](std::int64_t extent) {
                              return extent >= 0 && static_cast<double>(extent) <= kMostElements;
                            });
    if (!is_bounded) {
      refuse("tensor \"" + printable(name) + "\" cannot have the shape " + to_text(tensor.extents));
    }
    if (element_bytes(tensor.type) == 0) {
      refuse("tensor \"" + printable(name) + "\" holds no numbers (type " +
             std::to_string(tensor.type) + ")");
    }
  }

  OnnxTensor& add(std::string_view name, OnnxTensor tensor) {
    check(tensor, name);
    if (tensors_.size() >= kMostTensors) refuse("it has more than a million tensors");
    const auto [place, is_new] = tensors_.emplace(name, std::move(tensor));
    if (!is_new) refuse("tensor \"" + printable(name) + "\" is given twice");
    return place->second;
  }

  // A constant that is stored or made out of nothing.
  void add_source(OnnxTensor& tensor, bool is_stored) {
    tensor.weights = {static_cast<int>(sources_.size())};
    sources_.push_back({.elements = product_of(tensor.extents),
                        .bytes = product_of(tensor.extents) * element_bytes(tensor.type),
                        .is_stored = is_stored});
  }

  void read_initialisers() {
    for (const onnx::TensorProto& stored : graph_.initializer()) {
      if (stored.dims_size() > static_cast<int>(kMostAxes)) {
        refuse("tensor \"" + printable(stored.name()) + "\" has too many axes");
      }
      OnnxTensor tensor{.type = stored.data_type(),
                        .extents = {stored.dims().begin(), stored.dims().end()},
                        .is_constant = true};
      OnnxTensor& added = add(stored.name(), std::move(tensor));
      added.values = values_of(stored);
      add_source(added, true);
    }
  }

  // What a file says of a tensor; -1 where it leaves an extent open.
  [[nodiscard]] OnnxTensor described(const onnx::ValueInfoProto& info) const {
    if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) {
      refuse("\"" + printable(info.name()) + "\" is no tensor of a known number of axes");
    }
    const onnx::TypeProto_Tensor& type = info.type().tensor_type();
    if (type.shape().dim_size() > static_cast<int>(kMostAxes)) {
      refuse("\"" + printable(info.name()) + "\" has too many axes");
    }
    OnnxTensor tensor{.type = type.elem_type()};
    for (const auto& dim : type.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() < 0) {
        refuse("\"" + printable(info.name()) + "\" has an axis of " +
               std::to_string(dim.dim_value()));
      }
      tensor.extents.push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : -1);
    }
    return tensor;
  }

  // How an open axis is called on the command line.
  [[nodiscard]] static std::string name_of_axis(const onnx::ValueInfoProto& info, int axis) {
    const auto& dim = info.type().tensor_type().shape().dim(axis);
    return dim.has_dim_param() && !dim.dim_param().empty()
               ? dim.dim_param()
               : info.name() + "." + std::to_string(axis);
  }

  void read_inputs() {
    std::vector<const onnx::ValueInfoProto*> data;
    for (const onnx::ValueInfoProto& info : graph_.input()) {
      if (!tensors_.contains(info.name())) data.push_back(&info);
    }
    if (data.empty()) refuse("it has no input");
    check_names(data);
    choose_batch(data);
    std::set<std::string> open;
    for (const onnx::ValueInfoProto* info : data) {
      OnnxTensor tensor = described(*info);
      for (std::size_t i = 0; i < tensor.num_axes(); ++i) {
        if (tensor.extents[i] >= 0) continue;
        const std::string name = name_of_axis(*info, static_cast<int>(i));
        tensor.extents[i] = open_extent(extents_, name);
        if (tensor.extents[i] < 0) open.insert("--dim " + printable(name) + "=N");
      }
      if (open.empty()) add_data(*info, std::move(tensor));
    }
    if (!open.empty()) {
      refuse("the file leaves open how long axes of its inputs are; say " + join(open));
    }
  }

  // What was said of axes must be about some that are open.
  void check_names(const std::vector<const onnx::ValueInfoProto*>& data) const {
    std::set<std::string> names;
    for (const onnx::ValueInfoProto* info : data) {
      const OnnxTensor tensor = described(*info);
      for (std::size_t i = 0; i < tensor.num_axes(); ++i) {
        if (tensor.extents[i] < 0) names.insert(name_of_axis(*info, static_cast<int>(i)));
      }
    }
    for (const auto& [name, extent] : setting_.extents) {
      if (names.contains(name)) continue;
      refuse("it leaves open no axis \"" + printable(name) + "\"" + did_you_mean(name, names));
    }
  }

  void choose_batch(const std::vector<const onnx::ValueInfoProto*>& data) {
    batch_axes_ = open_batch_axes(data);
    if (batch_axes_.empty()) {
      const std::int64_t fixed = first_extent(data);
      batch_ = setting_.batch > 0 ? setting_.batch : fixed;
      repeats_ = static_cast<double>(batch_) / static_cast<double>(fixed);
      return;
    }
    batch_ = setting_.batch > 0 ? setting_.batch : kUsualBatch;
    for (const std::string& name : batch_axes_) {
      const std::int64_t said = open_extent(extents_, name);
      if (said >= 0 && setting_.batch > 0) {
        refuse("its axis \"" + printable(name) +
               "\" is the mini-batch, which both --batch and --dim say");
      }
      if (said >= 0) batch_ = said;
    }
    for (const std::string& name : batch_axes_) extents_.emplace(name, batch_);
  }

  // Those that are named after the batch, wherever they stand; else the first ones.
  [[nodiscard]] std::set<std::string> open_batch_axes(
      const std::vector<const onnx::ValueInfoProto*>& data) const {
    std::set<std::string> named;
    std::set<std::string> first;
    for (const onnx::ValueInfoProto* info : data) {
      const OnnxTensor tensor = described(*info);
      for (std::size_t i = 0; i < tensor.num_axes(); ++i) {
        if (tensor.extents[i] >= 0) continue;
        const std::string name = name_of_axis(*info, static_cast<int>(i));
        if (is_named_after_batch(
                info->type().tensor_type().shape().dim(static_cast<int>(i)).dim_param())) {
          named.insert(name);
        }
        if (i == 0) first.insert(name);
      }
    }
    return named.empty() ? first : named;
  }

  // The first axis of the first input that has one, where the file fixes it.
  [[nodiscard]] std::int64_t first_extent(
      const std::vector<const onnx::ValueInfoProto*>& data) const {
    for (const onnx::ValueInfoProto* info : data) {
      const OnnxTensor tensor = described(*info);
      if (!tensor.extents.empty() && tensor.extents[0] > 0) return tensor.extents[0];
    }
    return 1;
  }

  void add_data(const onnx::ValueInfoProto& info, OnnxTensor tensor) {
    tensor.repeats = repeats_;
    OnnxTensor& added = add(info.name(), std::move(tensor));
    added.op = static_cast<int>(ops_.size());
    ImportedOp op{.type = "Input",
                  .description = "Input(" + to_text(added.extents) + ") " + printable(info.name()),
                  .costed_as = "copied from the host",
                  .output_bytes = added.bytes()};
    op.work.forward.host_bytes = op.output_bytes;
    ops_.push_back(std::move(op));
  }

  void name_outputs() {
    if (graph_.node_size() > kMostNodes) refuse("it has more than 200 000 nodes");
    for (int i = 0; i < graph_.node_size(); ++i) {
      for (const std::string& output : graph_.node(i).output()) {
        if (output.empty()) continue;
        if (!producer_.emplace(output, i).second || tensors_.contains(output)) {
          refuse("tensor \"" + printable(output) + "\" is given twice");
        }
      }
    }
    for (const onnx::ValueInfoProto& info : graph_.value_info()) infos_.emplace(info.name(), &info);
    for (const onnx::ValueInfoProto& info : graph_.output()) {
      infos_.emplace(info.name(), &info);
      wanted_.insert(info.name());
      outputs_.insert(info.name());
    }
    if (graph_.output().empty()) refuse("it has no output");
    for (int i = 0; i < graph_.node_size(); ++i) {
      std::vector<std::string_view> names = read_by_graphs_of(graph_.node(i));
      if (!names.empty()) captured_.emplace(i, std::move(names));
    }
  }

  // What the graphs of a branch or a loop read of the graph around it.
  [[nodiscard]] std::span<const std::string_view> captured(int node) const {
    const auto found = captured_.find(node);
    if (found == captured_.end()) return {};
    return found->second;
  }

  // The nodes that lead to an output.
  [[nodiscard]] std::vector<bool> live_nodes() {
    std::vector<bool> is_live(static_cast<std::size_t>(graph_.node_size()), false);
    std::vector<std::string_view> open(wanted_.begin(), wanted_.end());
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      wanted_.insert(name);
      const auto made = producer_.find(name);
      if (made == producer_.end()) {
        if (!tensors_.contains(name)) {
          refuse("nothing gives the tensor \"" + printable(name) + "\" that it reads");
        }
        continue;
      }
      if (is_live[static_cast<std::size_t>(made->second)]) continue;
      is_live[static_cast<std::size_t>(made->second)] = true;
      for (const std::string& input : graph_.node(made->second).input()) {
        if (!input.empty()) open.emplace_back(input);
      }
      std::ranges::copy(captured(made->second), std::back_inserter(open));
    }
    return is_live;
  }

  // Live nodes, each behind what it reads; as near to the file's order as that goes (Kahn).
  [[nodiscard]] std::vector<int> order(const std::vector<bool>& is_live) const {
    const auto nodes = static_cast<std::size_t>(graph_.node_size());
    std::vector<std::vector<int>> readers(nodes);
    std::vector<int> pending(nodes, 0);
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    std::size_t num_live = 0;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (!is_live[i]) continue;
      ++num_live;
      const auto wait_for = [&](std::string_view input) {
        const auto made = producer_.find(input);
        if (made == producer_.end()) return;
        readers[static_cast<std::size_t>(made->second)].push_back(static_cast<int>(i));
        ++pending[i];
      };
      std::ranges::for_each(graph_.node(static_cast<int>(i)).input(), wait_for);
      std::ranges::for_each(captured(static_cast<int>(i)), wait_for);
      if (pending[i] == 0) ready.push(static_cast<int>(i));
    }
    std::vector<int> sorted;
    while (!ready.empty()) {
      sorted.push_back(ready.top());
      ready.pop();
      for (const int reader : readers[static_cast<std::size_t>(sorted.back())]) {
        if (--pending[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
      }
    }
    if (sorted.size() < num_live) {
      const auto stuck = std::ranges::find_if(pending, [](int left) { return left > 0; });
      const onnx::NodeProto& node = graph_.node(static_cast<int>(stuck - pending.begin()));
      refuse("the graph has a cycle through or before " + printable(node.op_type()) + " \"" +
             printable(node.name()) + "\"");
    }
    return sorted;
  }

  // Whoever should have given it may have fewer outputs than the file says.
  [[nodiscard]] const OnnxTensor& tensor(std::string_view name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      refuse("nothing gives the tensor \"" + printable(name) + "\" that it reads");
    }
    return found->second;
  }

  void run(int place) {
    const onnx::NodeProto& node = graph_.node(place);
    std::vector<const OnnxTensor*> inputs;
    for (const std::string& input : node.input()) {
      inputs.push_back(input.empty() ? nullptr : &tensor(input));
    }
    for (const std::string_view name : captured(place)) inputs.push_back(&tensor(name));
    const OnnxOperator* rule = find_operator(node.domain(), node.op_type());
    const OnnxCall call(source_, node, inputs);
    shapes::Outputs outputs = rule != nullptr ? rule->outputs(call) : unknown_outputs(call);
    outputs.resize(std::max(outputs.size(), call.num_outputs()),
                   outputs.empty() ? OnnxTensor{} : outputs.front());
    const bool is_constant = std::ranges::all_of(
        inputs, [](const OnnxTensor* input) { return input == nullptr || input->is_constant; });
    // A shape is known before data are.
    const bool is_known =
        is_constant || (rule != nullptr && (node.op_type() == "Shape" || node.op_type() == "Size"));
    if (is_known) {
      for (std::size_t i = 0; i < call.num_outputs(); ++i)
        check(outputs[i], node.output(static_cast<int>(i)));
      if (rule != nullptr && rule->values != nullptr) rule->values(call, outputs);
      add_constants(call, rule, std::move(outputs));
    } else if (rule != nullptr && rule->cost == nullptr) {
      OnnxTensor view = std::move(outputs.front());  // of the first input, whatever it is
      view.op = call.in(0).op;
      view.repeats = call.in(0).repeats;
      view.needs_gradient = call.in(0).needs_gradient;
      if (call.in(0).is_constant) refuse("a view of a constant cannot depend on data");
      if (node.output_size() > 0) {
        ImportedOp& maker = ops_[static_cast<std::size_t>(view.op)];
        maker.is_output = maker.is_output || outputs_.contains(node.output(0));
        add(node.output(0), std::move(view));
      }
    } else {
      add_op(call, rule, std::move(outputs));
    }
  }

  // Of an operator that is not known: as the file says; what goes round a loop as it comes in; else
  // as the first input, of a branch behind its condition.
  [[nodiscard]] shapes::Outputs unknown_outputs(const OnnxCall& call) const {
    const onnx::NodeProto& node = call.node();
    const std::size_t first = node.op_type() == "If" ? 1 : 0;
    constexpr std::size_t kCarried = 2;  // of a loop: behind its count and its condition
    OnnxTensor usual;
    for (const OnnxTensor* input : call.inputs() | std::views::drop(first)) {
      if (input != nullptr) {
        usual = {.type = input->type, .extents = input->extents};
        break;
      }
    }
    shapes::Outputs outputs(call.num_outputs(), usual);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::optional<OnnxTensor> said = said_output(node, static_cast<int>(i));
      const bool is_carried = node.op_type() == "Loop" &&
                              kCarried + i < static_cast<std::size_t>(node.input_size()) &&
                              call.has(kCarried + i);
      if (said) {
        outputs[i] = *std::move(said);
      } else if (is_carried) {
        const OnnxTensor& carried = call.in(kCarried + i);
        outputs[i] = {.type = carried.type, .extents = carried.extents};
      }
    }
    return outputs;
  }

  // What the file says of a node's output, there or where a branch puts it out.
  [[nodiscard]] std::optional<OnnxTensor> said_output(const onnx::NodeProto& node,
                                                      int output) const {
    const auto info = infos_.find(node.output(output));
    std::optional<OnnxTensor> said;
    if (info != infos_.end()) said = whole(*info->second);
    if (node.op_type() != "If") return said;
    for (const onnx::AttributeProto& branch : node.attribute()) {
      if (!said && output < branch.g().output_size()) said = whole(branch.g().output(output));
    }
    return said;
  }

  // A tensor as the file describes it, if that leaves nothing open.
  [[nodiscard]] std::optional<OnnxTensor> whole(const onnx::ValueInfoProto& info) const {
    if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) {
      return std::nullopt;
    }
    OnnxTensor said = described(info);
    for (std::size_t axis = 0; axis < said.num_axes(); ++axis) {
      if (said.extents[axis] >= 0) continue;
      said.extents[axis] = open_extent(extents_, name_of_axis(info, static_cast<int>(axis)));
      if (said.extents[axis] < 0) return std::nullopt;
    }
    if (element_bytes(said.type) == 0) return std::nullopt;
    return said;
  }

  // The inputs whose numbers a constant is made of: shapes, axes and scales are none of them.
  [[nodiscard]] static std::span<const OnnxTensor* const> made_of(const OnnxCall& call,
                                                                  const OnnxOperator* rule) {
    const std::span<const OnnxTensor* const> all = call.inputs();
    const bool is_of_all = rule == nullptr || rule->makes == Makes::kOfAll;
    return is_of_all || all.empty() ? all : all.first(1);
  }

  void add_constants(const OnnxCall& call, const OnnxOperator* rule, shapes::Outputs outputs) {
    std::vector<int> sources;
    for (const OnnxTensor* input : made_of(call, rule)) {
      if (input == nullptr) continue;
      for (const int weight : input->weights) {
        if (sources.size() < kMostSources) sources.push_back(weight);
      }
    }
    const std::string& type = call.node().op_type();
    const bool is_shape = type == "Shape" || type == "Size";
    const bool is_made = call.inputs().empty() || type == "ConstantOfShape";
    for (std::size_t i = 0; i < call.num_outputs(); ++i) {
      const std::string& name = call.node().output(static_cast<int>(i));
      if (name.empty()) continue;
      outputs[i].is_constant = true;
      if (!is_shape && !is_made) outputs[i].weights = sources;
      OnnxTensor& added = add(name, std::move(outputs[i]));
      if (is_made) add_source(added, false);
    }
  }

  // Whether a constant input is trained, and whose the parameters are: of the first that uses them.
  bool claim(const OnnxTensor& tensor, Trained trained, std::size_t input, ImportedOp& op) {
    if (!tensor.is_constant || !is_floating(tensor.type) || trained == Trained::kNone) return false;
    if (trained == Trained::kScaleBias && (input < 1 || input > 2)) return false;
    if (trained == Trained::kGates && (input < 1 || input > 3) && input != kPeepholes) return false;
    const bool is_stored =
        !tensor.weights.empty() && sources_[static_cast<std::size_t>(tensor.weights[0])].is_stored;
    if (trained == Trained::kParameters && (!is_stored || product_of(tensor.extents) <= 1)) {
      return false;
    }
    for (const int weight : tensor.weights) {
      Source& source = sources_[static_cast<std::size_t>(weight)];
      if (std::exchange(source.is_claimed, true)) continue;
      op.parameters += source.elements;
      op.parameter_bytes += source.bytes;
    }
    return true;
  }

  void add_op(const OnnxCall& call, const OnnxOperator* rule, shapes::Outputs outputs) {
    const onnx::NodeProto& node = call.node();
    ImportedOp op;
    const bool is_foreign = rule == nullptr && !node.domain().empty();
    op.type = printable(is_foreign ? node.domain() + "::" + node.op_type() : node.op_type());
    op.costed_as = rule == nullptr ? kUnknownCost : rule->costed_as;
    op.is_small = rule != nullptr && rule->is_small;
    // With what of the constants is trained here.
    std::vector<OnnxTensor> trained(call.inputs().size());
    std::vector<const OnnxTensor*> inputs = call.inputs();
    bool needs_gradient = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      if (claim(*inputs[i], rule == nullptr ? Trained::kParameters : rule->trained, i, op)) {
        trained[i] = *inputs[i];
        trained[i].needs_gradient = true;
        inputs[i] = &trained[i];
      }
      needs_gradient = needs_gradient || inputs[i]->needs_gradient;
      if (inputs[i]->op >= 0 && std::ranges::find(op.inputs, inputs[i]->op) == op.inputs.end()) {
        op.inputs.push_back(inputs[i]->op);
      }
    }
    outputs = used_outputs(call, std::move(outputs));
    for (OnnxTensor& output : outputs) {
      output.repeats = repeats_;
      output.op = static_cast<int>(ops_.size());
      output.needs_gradient = needs_gradient && is_floating(output.type);
    }
    const bool turns_back = std::ranges::any_of(outputs, &OnnxTensor::needs_gradient);
    const OnnxCall costed(source_, node, std::move(inputs));
    const OnnxCost cost =
        rule == nullptr ? cost_of_unknown(costed, outputs) : rule->cost(costed, outputs);
    op.work = cost.work;
    if (!turns_back) op.work.backward = {};
    op.multiply_adds = cost.multiply_adds;
    op.description = op.type + "(" + to_text(outputs[0].extents) + ")" +
                     (node.name().empty() ? "" : " " + printable(node.name()));
    for (const OnnxTensor& output : outputs) op.output_bytes += output.bytes();
    std::size_t next = 0;
    for (const std::string& name : node.output()) {
      if (is_used(name)) add(name, outputs[next++]);
      op.is_output = op.is_output || outputs_.contains(name);
    }
    ops_.push_back(std::move(op));
  }

  [[nodiscard]] bool is_used(const std::string& name) const {
    return !name.empty() && wanted_.contains(name);
  }

  // The outputs that somebody reads, checked. A live node has one.
  [[nodiscard]] shapes::Outputs used_outputs(const OnnxCall& call, shapes::Outputs outputs) const {
    shapes::Outputs used;
    for (std::size_t i = 0; i < call.num_outputs(); ++i) {
      const std::string& name = call.node().output(static_cast<int>(i));
      if (!is_used(name)) continue;
      check(outputs[i], name);
      used.push_back(std::move(outputs[i]));
    }
    return used;
  }

  // Without inputs that nobody reads.
  static std::vector<ImportedOp> used(std::vector<ImportedOp> ops) {
    const std::vector<int> readers = readers_of(ops);
    std::vector<bool> is_gone(ops.size(), false);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      is_gone[i] = ops[i].inputs.empty() && readers[i] == 0;
    }
    return without(std::move(ops), is_gone);
  }

  const onnx::GraphProto& graph_;
  const std::string& source_;
  const OnnxImport& setting_;
  std::map<std::string, std::int64_t> extents_;
  std::int64_t batch_ = 1;
  std::set<std::string> batch_axes_;
  double repeats_ = 1;
  std::unordered_map<std::string_view, OnnxTensor> tensors_;
  std::vector<Source> sources_;
  Names producer_;
  std::unordered_map<int, std::vector<std::string_view>> captured_;  // by node, where there is any
  std::unordered_map<std::string_view, const onnx::ValueInfoProto*> infos_;
  std::unordered_set<std::string_view> wanted_;   // by anybody
  std::unordered_set<std::string_view> outputs_;  // by whoever runs the model
  std::vector<ImportedOp> ops_;
};

std::string origin_of(const onnx::ModelProto& model) {
  std::int64_t version = 0;
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") version = set.version();
  }
  std::string text = "ONNX operator set " + std::to_string(version);
  if (!model.producer_name().empty()) {
    text += " of " + printable(model.producer_name());
    if (!model.producer_version().empty()) text += " " + printable(model.producer_version());
  }
  return text;
}

}  // namespace

double ImportedModel::parameters() const {
  double sum = 0;
  for (const ImportedOp& op : ops) sum += op.parameters;
  return sum;
}

double ImportedModel::multiply_adds() const {
  double sum = 0;
  for (const ImportedOp& op : ops) sum += op.multiply_adds;
  return sum / static_cast<double>(batch);
}

ImportedModel import_onnx(std::istream& in, const std::string& source, const OnnxImport& setting) {
  const onnx::ModelProto model = read_onnx_model(in, source);
  ImportedModel imported = Importer(model.graph(), source, setting).import();
  imported.origin = origin_of(model);
  return imported;
}

}  // namespace pacml::env
