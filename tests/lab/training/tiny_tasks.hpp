// A tiny run of every task that has data of its own, from files made up for the test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tiny_run.hpp"

namespace equinorm::lab {

/// 40 chapters of six pairs of two to seven words; each word has one translation.
inline std::string tiny_pairs() {
  static const char* const kWords[][2] = {{"the", "el"},    {"king", "rey"}, {"house", "casa"},
                                          {"went", "fue"},  {"to", "a"},     {"man", "hombre"},
                                          {"good", "bueno"}};
  std::string text;
  for (int i = 0; i < 240; ++i) {
    std::string source;
    std::string target;
    for (int k = 0; k < 2 + i % 6; ++k) {
      const auto& word = kWords[(i * 5 + k * k) % 7];
      source.append(k == 0 ? "" : " ").append(word[0]);
      target.append(k == 0 ? "" : " ").append(word[1]);
    }
    const std::string key = "Book " + std::to_string(i / 6) + ":" + std::to_string(i % 6);
    text.append(key).append("\t").append(source).append("\t").append(target).append("\n");
  }
  return text;
}

inline std::string tiny_labels() {
  static const char* const kTexts[] = {"games\ta game of chess", "mail\treads your mail fast",
                                       "net\ta server for the net"};
  std::string text;
  for (int i = 0; i < 220; ++i)
    text += std::string(kTexts[i % 3]) + " " + std::to_string(i % 7) + "\n";
  return text;
}

inline std::string tiny_digits() {
  std::string csv;
  for (int i = 0; i < 60; ++i) {
    for (int pixel = 0; pixel < 64; ++pixel) {
      csv += std::to_string(pixel / 8 == i % 10 % 8 ? 16 : (pixel + i) % 3) + ",";
    }
    csv += std::to_string(i % 10) + "\n";
  }
  return csv;
}

/// Labelled images of 8 x 8 pixels as a directory of IDX files: label l is bright in row l.
inline std::string tiny_images(const TemporaryDirectory& directory) {
  const auto number = [](int value) { return std::string{0, 0, 0, static_cast<char>(value)}; };
  for (const auto& [set, count] : {std::pair{"train", 60}, std::pair{"t10k", 20}}) {
    std::string pixels = std::string{0, 0, 8, 3} + number(count) + number(8) + number(8);
    std::string labels = std::string{0, 0, 8, 1} + number(count);
    for (int i = 0; i < count; ++i) {
      for (int pixel = 0; pixel < 64; ++pixel) {
        pixels += static_cast<char>(pixel / 8 == i % 5 ? 120 : (pixel * 7 + i) % 30);
      }
      labels += static_cast<char>(i % 5);
    }
    directory.write("images/" + std::string(set) + "-images-idx3-ubyte", pixels);
    directory.write("images/" + std::string(set) + "-labels-idx1-ubyte", labels);
  }
  return (directory.path() / "images").string();
}

/// A run of a task and model, with a file of the task's data where it reads one.
inline RunConfig tiny_task(const TemporaryDirectory& directory, const std::string& task,
                           const std::string& model = "") {
  RunConfig config = tiny_config(directory);
  config.task = task;
  config.model = model;
  if (task == "translation") config.source = directory.write("pairs.tsv", tiny_pairs()).string();
  if (task == "packages") config.source = directory.write("labels.tsv", tiny_labels()).string();
  if (task == "digits") config.source = directory.write("digits.csv", tiny_digits()).string();
  if (task == "idx") config.source = tiny_images(directory);
  if (task == "adding") config.source.clear();
  const std::string learner = model.empty() ? model_names(task).front() : model;
  config.norm = learner == "lstm" ? "ba2016" : learner == "resnet" ? "batch" : "layer";
  if (learner == "resnet") {
    config.depth = 8;
    config.width = 8;
  }
  return config;
}

}  // namespace equinorm::lab
