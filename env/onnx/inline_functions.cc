#include "env/onnx/inline_functions.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "env/onnx/node_graph.h"
#include "env/onnx/onnx_file.h"
#include "env/onnx/operators.h"
#include "env/onnx/refuse_model.h"

namespace pacml::env {
namespace {

constexpr int kMostCallDepth = 16;

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Names = google::protobuf::RepeatedPtrField<std::string>;

// One call of a function: what its names and settings are where it is called.
class Call {
 public:
  // `place` stands in front of the names of what nobody outside reads.
  Call(const onnx::NodeProto& node, const onnx::FunctionProto& function, std::string place)
      : node_(node), place_(std::move(place)) {
    // Outputs first: what is both is known outside as the input that it is.
    rename(function.output(), node.output(), false);
    rename(function.input(), node.input(), true);
  }

  [[nodiscard]] onnx::NodeProto node(const onnx::NodeProto& body) const {
    onnx::NodeProto copy = body;
    const std::string& own = body.name().empty() ? body.op_type() : body.name();
    copy.set_name((node_.name().empty() ? node_.op_type() : node_.name()) + "/" + own);
    rewrite(copy);
    return copy;
  }
  // Tensors that the function hands back as it was given them.
  void pass_on(const onnx::FunctionProto& function, Nodes& out) const {
    for (int i = 0; i < function.output_size() && i < node_.output_size(); ++i) {
      if (node_.output(i).empty() || name(function.output(i)) == node_.output(i)) continue;
      onnx::NodeProto& identity = *out.Add();
      identity.set_op_type("Identity");
      identity.add_input(name(function.output(i)));
      identity.add_output(node_.output(i));
    }
  }

 private:
  void rename(const Names& inside, const Names& outside, bool is_input) {
    for (int i = 0; i < inside.size(); ++i) {
      const bool is_given = i < outside.size() && !outside[i].empty();
      if (is_given) {
        names_.insert_or_assign(inside[i], outside[i]);
      } else if (is_input) {
        names_.insert_or_assign(inside[i], std::string());  // left out
      }
    }
  }
  [[nodiscard]] std::string name(const std::string& inside) const {
    if (inside.empty()) return {};
    const auto found = names_.find(inside);
    return found == names_.end() ? place_ + inside : found->second;
  }
  void rewrite(Names& names) const {
    for (std::string& each : names) each = name(each);
  }
  void rewrite(onnx::NodeProto& node) const {
    rewrite(*node.mutable_input());
    rewrite(*node.mutable_output());
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        if (attribute.has_g()) rewrite(*attribute.mutable_g());
        attributes.Add(std::move(attribute));
        continue;
      }
      for (const onnx::AttributeProto& given : node_.attribute()) {
        if (given.name() != attribute.ref_attr_name()) continue;
        onnx::AttributeProto& set = *attributes.Add();
        set = given;
        set.set_name(attribute.name());
        break;
      }
    }
    *node.mutable_attribute() = std::move(attributes);
  }
  // All of it: what is its own has no name that is known out here.
  void rewrite(onnx::GraphProto& graph) const {
    for (onnx::ValueInfoProto& info : *graph.mutable_input()) info.set_name(name(info.name()));
    for (onnx::ValueInfoProto& info : *graph.mutable_output()) info.set_name(name(info.name()));
    for (onnx::ValueInfoProto& info : *graph.mutable_value_info()) info.set_name(name(info.name()));
    for (onnx::TensorProto& stored : *graph.mutable_initializer()) {
      stored.set_name(name(stored.name()));
    }
    for (onnx::NodeProto& node : *graph.mutable_node()) rewrite(node);
  }

  const onnx::NodeProto& node_;
  std::string place_;
  std::unordered_map<std::string, std::string> names_;
};

class Inlining {
 public:
  Inlining(const onnx::ModelProto& model, const std::string& source) : source_(source) {
    for (const onnx::FunctionProto& function : model.functions()) {
      // Of several variants it is not known which one is meant.
      const auto [it, is_new] =
          functions_.try_emplace({function.domain(), function.name()}, &function);
      if (!is_new) it->second = nullptr;
    }
  }

  void add(onnx::NodeProto node, int depth) {
    const onnx::FunctionProto* called = find(node);
    charge(depth == 0 && called == nullptr ? 0 : bytes_of(node));
    if (called == nullptr) {
      *out_.Add() = std::move(node);
      return;
    }
    if (depth == kMostCallDepth) {
      refuse_model(source_, "its functions call one another more than 16 deep");
    }
    charge(kOnnxTextBytes *
           static_cast<std::uint64_t>(called->input_size() + called->output_size()));
    const Call call(node, *called, node.op_type() + "#" + std::to_string(++calls_) + "/");
    for (const onnx::NodeProto& body : called->node()) add(call.node(body), depth + 1);
    call.pass_on(*called, out_);
  }
  [[nodiscard]] Nodes take() && { return std::move(out_); }

 private:
  [[nodiscard]] const onnx::FunctionProto* find(const onnx::NodeProto& node) const {
    const auto found = functions_.find({node.domain(), node.op_type()});
    if (found == functions_.end()) return nullptr;
    return find_operator(node.domain(), node.op_type()) == nullptr ? found->second : nullptr;
  }
  static std::uint64_t bytes_of(const onnx::NodeProto& node) {
    const auto names = static_cast<std::uint64_t>(node.input_size()) +
                       static_cast<std::uint64_t>(node.output_size());
    return node.ByteSizeLong() + kOnnxMessageBytes + kOnnxTextBytes * names;
  }
  void charge(std::uint64_t bytes) {
    bytes_ += bytes;
    if (++steps_ > kMostNodes || bytes_ > kMostOnnxBytes) {
      refuse_model(source_, "its functions are more than 200 000 nodes or 256 MiB in their places");
    }
  }

  const std::string& source_;
  // By domain and name; null: of several variants.
  std::map<std::pair<std::string_view, std::string_view>, const onnx::FunctionProto*> functions_;
  Nodes out_;
  std::int64_t calls_ = 0;
  std::int64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

void inline_functions(onnx::ModelProto& model, const std::string& source) {
  if (model.functions().empty()) return;
  Inlining inlining(model, source);
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    inlining.add(std::move(node), 0);
  }
  *model.mutable_graph()->mutable_node() = std::move(inlining).take();
}

}  // namespace pacml::env
