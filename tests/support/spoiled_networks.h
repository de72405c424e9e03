// SPDX-License-Identifier: Apache-2.0
// Ways to spoil the certificate of a network.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pliant::tests {

using nlohmann::json;

/// Changes a certificate; false: this one has nothing of the kind.
using Spoiling = std::function<bool(json&, std::mt19937_64&)>;

inline json& one_of_list(json& list, std::mt19937_64& random) { return list[random() % list.size()]; }

/// A proof that is not of a variant that fits nowhere.
inline json& some_proof(json& c, std::mt19937_64& random) {
  while (true) {
    json& proofs = one_of_list(c["variants"], random)["proofs"];
    if (proofs.empty()) continue;
    json& proof = one_of_list(proofs, random);
    if (proof["claim"]["lower_bound"].is_number() && proof["claim"]["value"].is_number() && !proof["parts"].empty())
      return proof;
  }
}
/// Parts without a mapping have no number.
inline void raise_number(json& number, double factor) {
  if (number.is_number()) number = number.get<double>() * factor;
}

/// What is left after some kinds, or what it is now about, may be true: the claim does not follow from it, and nothing
/// need contradict it. *Undecided* is the true answer there; the others are *wrong*, or cannot be read.
inline bool is_refused(const std::string& kind, int exit_code) {
  static const std::set<std::string> may_be_true{"a wrong slope of a proof",
                                                 "a line dropped that the claim needs",
                                                 "two layers swapped",
                                                 "a variant's places changed",
                                                 "no room left by what a variant says is taken",
                                                 "of variants that differ in room only that with the least is left",
                                                 "all variants of a layer dropped",
                                                 "proofs of runs left out",
                                                 "a proof of runs of another size",
                                                 "a run whose sums are said to be narrow or wide"};
  return exit_code == 1 || exit_code == 2 || (exit_code == 4 && may_be_true.contains(kind));
}

/// Of any network.
inline const std::vector<std::pair<std::string, Spoiling>> kSpoilings{
    {"the network's bound raised",
     [](json& c, std::mt19937_64&) {
       c["claim"]["lower_bound"] = c["claim"]["lower_bound"].get<double>() * (1 + 1e-6);
       return true;
     }},
    {"the network's value and bound lowered",
     [](json& c, std::mt19937_64&) {
       for (const char* key : {"value", "lower_bound"}) c["claim"][key] = c["claim"][key].get<double>() * (1 - 1e-6);
       return true;
     }},
    {"a proof's bound raised",
     [](json& c, std::mt19937_64& random) {
       json& claim = some_proof(c, random)["claim"];
       claim["lower_bound"] = claim["lower_bound"].get<double>() * (1 + 1e-6);
       return true;
     }},
    {"a proof's bound and value raised",
     [](json& c, std::mt19937_64& random) {
       json& proof = some_proof(c, random);
       const double up = 1 + 1e-6;
       for (const char* key : {"value", "lower_bound"}) proof["claim"][key] = proof["claim"][key].get<double>() * up;
       for (json& part : proof["parts"]) {
         raise_number(part["lower_bound"], up);
         for (json& member : part.value("members", json::array())) raise_number(member[2], up);
       }
       return true;
     }},
    {"a bound raised of a proof without a mapping",
     [](json& c, std::mt19937_64& random) {
       json& proof = some_proof(c, random);
       const double up = proof["claim"]["lower_bound"].get<double>() * (1 + 1e-6);
       proof["claim"].erase("mapping");
       proof["claim"].update(json{{"value", nullptr}, {"lower_bound", up}, {"certified", false}});
       for (json& part : proof["parts"]) {
         if (part["lower_bound"].is_number() && part["lower_bound"].get<double>() < up) part["lower_bound"] = up;
         if (!part.contains("members")) continue;
         for (json& member : part["members"])
           if (member[2].is_number() && member[2].get<double>() < up) member[2] = up;
       }
       return true;
     }},
    {"a part dropped",
     [](json& c, std::mt19937_64& random) {
       json& parts = some_proof(c, random)["parts"];
       parts.erase(random() % parts.size());
       return true;
     }},
    {"a tensor that does not fit, or may not live there",
     [](json& c, std::mt19937_64& random) {
       json& step = one_of_list(c["claim"]["steps"], random);
       const bool outside = step["made_in"] == "outside";
       step["made_in"] = outside ? "Buffer" : random() % 2 == 0 ? "outside" : "Register";
       return true;
     }},
    {"a wrong slope of a proof",
     [](json& c, std::mt19937_64& random) {
       json& proof = some_proof(c, random);
       proof["slope"] = proof["slope"].is_null() ? json(0.5) : json(proof["slope"].get<double>() + 0.01);
       return true;
     }},
    {"a line dropped that the claim needs",
     [](json& c, std::mt19937_64& random) {
       json left = json::array();
       const bool fastest = random() % 2 == 0;
       for (const json& slope : c["slopes"])
         if (fastest ? !slope.is_null() : slope.is_null() || slope.get<double>() > 0) left.push_back(slope);
       c["slopes"] = left;
       return true;
     }},
    {"two layers swapped",
     [](json& c, std::mt19937_64& random) {
       json &one = one_of_list(c["variants"], random), &other = one_of_list(c["variants"], random);
       if (one["layer"] == other["layer"]) return false;
       std::swap(one["layer"], other["layer"]);
       return true;
     }},
    {"a variant's places changed",
     [](json& c, std::mt19937_64& random) {
       json& variant = one_of_list(c["variants"], random);
       if (variant["places"].empty()) return false;
       variant["places"].erase(variant["places"].begin());
       return true;
     }},
    {"no room left by what a variant says is taken",
     [](json& c, std::mt19937_64& random) {
       one_of_list(c["variants"], random)["taken"] = json{{"Buffer", {{"inputs", 1800}}}};
       return true;
     }},
    {"of variants that differ in room only that with the least is left",
     [](json& c, std::mt19937_64& random) {
       const json picked = one_of_list(c["variants"], random);
       const auto taken = [](const json& variant) {
         int sum = 0;
         for (const json& by_role : variant["taken"])
           for (const json& words : by_role) sum += words.get<int>();
         return sum;
       };
       int most = 0, same = 0;
       for (const json& variant : c["variants"]) {
         if (variant["layer"] != picked["layer"] || variant["places"] != picked["places"]) continue;
         most = std::max(most, taken(variant));
         ++same;
       }
       if (same < 2) return false;
       json left = json::array();
       for (const json& variant : c["variants"])
         if (variant["layer"] != picked["layer"] || variant["places"] != picked["places"] || taken(variant) == most)
           left.push_back(variant);
       c["variants"] = left;
       return true;
     }},
    {"all variants of a layer dropped",
     [](json& c, std::mt19937_64& random) {
       const json name = one_of_list(c["variants"], random)["layer"];
       json left = json::array();
       for (const json& variant : c["variants"])
         if (variant["layer"] != name) left.push_back(variant);
       c["variants"] = left;
       return true;
     }},
    {"another workload",
     [](json& c, std::mt19937_64&) {
       std::string text = c["task"]["workload"].get<std::string>();
       if (text.find("M: 16") == std::string::npos) return false;
       text.replace(text.find("M: 16"), 5, "M: 32");
       c["task"]["workload"] = text;
       return true;
     }},
    {"another accelerator",
     [](json& c, std::mt19937_64&) {
       std::string text = c["task"]["accelerator"].get<std::string>();
       text.replace(text.find("read_pj: 60"), 11, "read_pj: 61");
       c["task"]["accelerator"] = text;
       return true;
     }},
    {"a smaller buffer",
     [](json& c, std::mt19937_64&) {
       std::string text = c["task"]["accelerator"].get<std::string>();
       text.replace(text.find("1800 words"), 10, "1100 words");
       c["task"]["accelerator"] = text;
       return true;
     }},
    {"another mapping",
     [](json& c, std::mt19937_64& random) {
       std::vector<json*> layers;
       for (json& step : c["claim"]["steps"])
         if (step.contains("mappings")) layers.push_back(&step);
       if (layers.empty()) return false;
       json& step = *layers[random() % layers.size()];
       const std::size_t now = step["mappings"][0][0].get<std::size_t>(), other = random() % c["mappings"].size();
       if (now == other) return false;
       step["mappings"][0][0] = other;
       return true;
     }},
};

}  // namespace pliant::tests
