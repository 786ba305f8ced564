// Batches, the evaluation subset and the plateau of a task.
#include "lab/training/task.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tiny_run.hpp"

namespace equinorm::lab {
namespace {

std::shared_ptr<const Dataset> text_dataset(const std::string& text) {
  return std::make_shared<const Dataset>(Dataset{"text", "", encode_text(text, "text")});
}

std::shared_ptr<const Dataset> image_dataset(std::int64_t train, std::int64_t test) {
  ImageData data;
  data.rows = 1;
  data.cols = 1;
  data.classes = 2;
  data.train.count = train;
  data.test.count = test;
  for (std::int64_t i = 0; i < train; ++i) {
    data.train.pixels.push_back(static_cast<unsigned char>(i));
    data.train.labels.push_back(static_cast<unsigned char>(i % 2));
  }
  for (std::int64_t i = 0; i < test; ++i) {
    data.test.pixels.push_back(static_cast<unsigned char>(i % 256));
    data.test.labels.push_back(static_cast<unsigned char>(i % 2));
  }
  return std::make_shared<const Dataset>(Dataset{"images", "", std::move(data)});
}

RunConfig small_batches(std::uint64_t seed) {
  RunConfig config;
  config.context = 8;
  config.batch = 4;
  config.seed = seed;
  return config;
}

TEST(TextTask, AsksForTheNextCharacter) {
  const auto task = make_task(small_batches(0), text_dataset(tiny_text()));
  for (int step = 1; step < 20; ++step) {
    const Batch batch = task->train_batch(step);
    const at::Tensor target = batch.target.view({4, 8});
    EXPECT_TRUE(at::equal(batch.input.slice(1, 1, 8), target.slice(1, 0, 7)));
  }
}

TEST(TextTask, NeverTrainsOnTheValidationPart) {
  // The last 5 % are of a character of their own.
  const auto task =
      make_task(small_batches(0), text_dataset(std::string(1900, 'a') + std::string(100, 'b')));
  for (int step = 1; step < 200; ++step) {
    const Batch batch = task->train_batch(step);
    EXPECT_TRUE(batch.input.eq(1).all().item<bool>());
    EXPECT_TRUE(batch.target.eq(1).all().item<bool>());
  }
  for (const Batch& batch : task->evaluation()) EXPECT_TRUE(batch.input.eq(2).all().item<bool>());
}

TEST(TextTask, EvaluatesOnWindowsOfTheValidationPartThatDoNotOverlap) {
  std::string text(2000, 'a');
  const auto task = make_task(small_batches(0), text_dataset(text));
  std::int64_t windows = 0;
  for (const Batch& batch : task->evaluation()) windows += batch.input.size(0);
  EXPECT_EQ(windows, (100 - 1) / 8);
}

TEST(ImageTask, ShowsEveryImageOnceInAnEpoch) {
  const auto task = make_task(small_batches(3), image_dataset(20, 5));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::set<float> seen;
    for (int step = 1; step <= 5; ++step) {
      const Batch batch = task->train_batch(5 * epoch + step);
      for (int i = 0; i < 4; ++i) seen.insert(batch.input[i].item<float>());
    }
    EXPECT_EQ(seen.size(), 20U);
  }
}

TEST(ImageTask, WithMoreInABatchThanThereAreImagesStartsTheNextEpoch) {
  const auto task = make_task(small_batches(3), image_dataset(3, 5));
  EXPECT_EQ(task->train_batch(1).input.size(0), 4);
}

TEST(ImageTask, ScalesPixelsByTheTrainingStatistics) {
  auto dataset = std::make_shared<Dataset>(*image_dataset(4, 2));
  std::get<ImageData>(dataset->content).mean = 10;
  std::get<ImageData>(dataset->content).stddev = 2;
  const auto task = make_task(small_batches(0), dataset);
  EXPECT_EQ(task->evaluation()[0].input[1].item<float>(), (1 - 10) / 2.0F);
}

TEST(ImageTask, EvaluatesOnTheWholeTestFileOrOnFiveHundredImagesOfIt) {
  for (const auto& [test, expected] : {std::pair{7, 7}, std::pair{2500, 500}}) {
    const auto task = make_task(small_batches(0), image_dataset(10, test));
    std::int64_t images = 0;
    for (const Batch& batch : task->evaluation()) images += batch.input.size(0);
    EXPECT_EQ(images, expected);
  }
}

TEST(Order, DependsOnTheSeedAlone) {
  for (const auto& dataset : {text_dataset(tiny_text()), image_dataset(200, 10)}) {
    RunConfig changed = small_batches(0);
    changed.norm = "none";
    changed.depth = 9;
    const auto one = make_task(small_batches(0), dataset);
    const auto two = make_task(changed, dataset);
    const auto other = make_task(small_batches(1), dataset);
    const at::Tensor first = one->train_batch(1).input;
    EXPECT_TRUE(at::equal(first, two->train_batch(1).input));
    EXPECT_FALSE(at::equal(first, other->train_batch(1).input));
  }
}

TEST(Plateau, IsTheCrossEntropyUnderTheTrainingFrequencies) {
  // Counts 3 and 1, each raised by one: probabilities 2/3 and 1/3.
  const double expected = -(2 * std::log(4.0 / 6) + std::log(2.0 / 6)) / 3;
  EXPECT_DOUBLE_EQ(frequency_loss({3, 1}, {0, 0, 1}), expected);
  EXPECT_TRUE(std::isfinite(frequency_loss({0, 5}, {0})));
}

TEST(Plateau, OfBalancedClassesIsTheLogarithmOfTheirNumber) {
  const auto task = make_task(small_batches(0), image_dataset(100, 50));
  EXPECT_NEAR(task->plateau(), std::log(2.0), 50 * 0x1p-53);  // 50 additions of halves' logarithms
}

}  // namespace
}  // namespace equinorm::lab
