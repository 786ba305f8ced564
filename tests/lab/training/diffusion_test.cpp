// The way to noise and back, and the classifier that judges samples.
#include "lab/training/diffusion.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "lab/training/digit_classifier.hpp"

namespace equinorm::lab {
namespace {

TEST(Diffusion, KeepsTheVarianceOfUnitImages) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(3);
  const at::Tensor images = at::randn({2000, 2, 2}, generator, at::kDouble);
  const at::Tensor noise = at::randn({2000, 2, 2}, generator, at::kDouble);
  for (const double time : {0.02, 0.5, 0.98}) {
    const at::Tensor noisy = add_noise(images, noise, at::full({2000}, time, at::kDouble));
    EXPECT_NEAR(noisy.square().mean().item<double>(), 1, 0.05) << time;
  }
  EXPECT_TRUE(at::equal(add_noise(images, noise, at::zeros({2000}, at::kDouble)), images));
}

TEST(Diffusion, FindsTheImageWhenTheNoiseIsKnown) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(4);
  const at::Tensor image = at::rand({3, 4, 4}, generator, at::kDouble) * 2 - 1;
  const at::Tensor start = at::randn({3, 4, 4}, generator, at::kDouble);
  const auto know = [&](const at::Tensor& x, const at::Tensor& times) {
    const at::Tensor angle = (times * M_PI_2).view({-1, 1, 1});
    return (x - angle.cos() * image) / angle.sin();
  };
  const at::Tensor sampled = sample_images(start, 5, know);
  EXPECT_LT((sampled - image).abs().max().item<double>(), 1e-9);
}

TEST(DigitClassifier, TellsBrightRowsApart) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  const at::Tensor labels = at::arange(60, at::kLong).remainder(4);
  at::Tensor images = at::rand({60, 4, 4}, generator) - 1;
  for (std::int64_t i = 0; i < 60; ++i) images[i][i % 4].add_(1);
  const DigitClassifier classifier(images.slice(0, 0, 40), labels.slice(0, 0, 40), 4);
  EXPECT_EQ(classifier.accuracy(images.slice(0, 40), labels.slice(0, 40)), 1);
  EXPECT_EQ(classifier.accuracy(images.slice(0, 40), (labels.slice(0, 40) + 1).remainder(4)), 0);
}

}  // namespace
}  // namespace equinorm::lab
