// Preparing data sets: missing packages, the cache, damaged caches, the shared in-memory copy.
#include "lab/data/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "idx_bytes.hpp"
#include "lab/data/dataset.hpp"
#include "lab/data/sha256.hpp"
#include "lab/error.hpp"

namespace equinorm::lab {
namespace {

using testing::HasSubstr;

DataSources fake_bible(const TemporaryDirectory& directory, const std::string& verse) {
  const auto script =
      directory.write("mod2imp", "#!/bin/sh\nprintf '$$$Genesis 1:1\\n<w>" + verse + "</w>\\n'\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  DataSources sources;
  sources.mod2imp = script.string();
  return sources;
}

TEST(Sha256, MatchesThePublishedTestVector) {
  EXPECT_EQ(sha256_hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Catalogue, NamesThePackageOfAMissingSet) {
  const TemporaryDirectory cache;
  DataSources sources;
  sources.fashion_mnist = "/nonexistent/fashion-mnist";
  sources.mod2imp = "/nonexistent/mod2imp";
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("fashion-mnist", cache.path(), sources); }),
              HasSubstr("apt-get install dataset-fashion-mnist"));
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("bible", cache.path(), sources); }),
              HasSubstr("apt-get install sword-text-web libsword-utils"));
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("translation", cache.path(), sources); }),
              HasSubstr("apt-get install sword-text-web sword-text-sparv libsword-utils"));
  sources.digits = "/nonexistent/digits.csv.gz";
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("digits", cache.path(), sources); }),
              HasSubstr("apt-get install python3-sklearn"));
  sources.apt_cache = "/nonexistent/apt-cache";
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("packages", cache.path(), sources); }),
              HasSubstr("apt-get update"));
  sources.apt_cache = "true";
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("packages", cache.path(), sources); }),
              HasSubstr("knows no packages"));
}

TEST(Catalogue, NamesThePackageWhenTheExportIsEmpty) {
  const TemporaryDirectory cache;
  DataSources sources;
  sources.mod2imp = "true";
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("bible", cache.path(), sources); }),
              HasSubstr("sword-text-web"));
}

TEST(Catalogue, ListsItsNamesWhenAskedForAnother) {
  EXPECT_THAT(message_of<UsageError>([] { catalogue_entry("mnist"); }),
              testing::AllOf(HasSubstr("'mnist'"), HasSubstr("fashion-mnist, bible")));
}

TEST(Catalogue, PreparesTheBibleOnceAndKeepsIt) {
  const TemporaryDirectory cache;
  const PreparedData first = prepare_data("bible", cache.path(), fake_bible(cache, "first"));
  EXPECT_EQ(content_of(first.directory / "text.txt"), "first\n");
  EXPECT_EQ(first.sha256, sha256_hex(std::string_view("first\n")));
  const PreparedData second = prepare_data("bible", cache.path(), fake_bible(cache, "second"));
  EXPECT_EQ(second.sha256, first.sha256);
  EXPECT_EQ(find_prepared("bible", cache.path()).sha256, first.sha256);
}

TEST(Catalogue, PreparesAnewWhatWasCutOrLostItsManifest) {
  const TemporaryDirectory cache;
  const PreparedData first = prepare_data("bible", cache.path(), fake_bible(cache, "first"));
  cache.write("data/bible/text.txt", "fi");
  EXPECT_EQ(find_prepared("bible", cache.path()).sha256, "");
  EXPECT_EQ(prepare_data("bible", cache.path(), fake_bible(cache, "first")).sha256, first.sha256);
  cache.write("data/bible/manifest.json", "{\"processing\": 1");
  EXPECT_EQ(prepare_data("bible", cache.path(), fake_bible(cache, "first")).sha256, first.sha256);
}

TEST(Catalogue, SaysWhatIsDamagedInTheCache) {
  const TemporaryDirectory cache;
  prepare_data("bible", cache.path(), fake_bible(cache, "first"));
  EXPECT_EQ(find_prepared("bible", cache.path()).damage, "");
  cache.write("data/bible/text.txt", "fi");
  EXPECT_EQ(find_prepared("bible", cache.path()).damage, "text.txt has 2 bytes instead of 6");
  std::filesystem::remove(cache.path() / "data/bible/text.txt");
  EXPECT_THAT(find_prepared("bible", cache.path()).damage, HasSubstr("text.txt cannot be read"));
  cache.write("data/bible/manifest.json", "{");
  EXPECT_THAT(find_prepared("bible", cache.path()).damage, HasSubstr("manifest.json"));
}

TEST(Catalogue, PreparesAnewWhatHasAnotherChecksumWhereItIsAskedToLook) {
  const TemporaryDirectory cache;
  const PreparedData first = prepare_data("bible", cache.path(), fake_bible(cache, "first"));
  cache.write("data/bible/text.txt", "forst\n");
  const PreparedData second =
      prepare_data("bible", cache.path(), fake_bible(cache, "first"), Check::checksums);
  EXPECT_THAT(second.damage, HasSubstr("text.txt has another checksum"));
  EXPECT_EQ(second.sha256, first.sha256);
  EXPECT_EQ(content_of(second.directory / "text.txt"), "first\n");
}

TEST(Catalogue, PreparesImagesAsAnIdxDirectory) {
  const TemporaryDirectory source;
  const TemporaryDirectory cache;
  write_image_directory(source, 6, 3);
  DataSources sources;
  sources.fashion_mnist = source.path();
  const PreparedData data = prepare_data("fashion-mnist", cache.path(), sources);
  EXPECT_EQ(data.files.size(), 4U);
  EXPECT_EQ(read_image_directory(data.directory).train.count, 6);
}

TEST(Catalogue, SaysThatTheCacheCannotBeWritten) {
  const TemporaryDirectory cache;
  const auto file = cache.write("file", "not a directory");
  EXPECT_THAT(message_of<InputError>([&] { prepare_data("bible", file, fake_bible(cache, "x")); }),
              HasSubstr("cannot create directory"));
}

TEST(Dataset, RefusesCachedDataThatWasChanged) {
  const TemporaryDirectory cache;
  prepare_data("bible", cache.path(), fake_bible(cache, "first"));
  cache.write("data/bible/text.txt", "forst\n");
  RunConfig config;
  config.task = "bible";
  EXPECT_THAT(message_of<InputError>([&] { load_dataset(config, cache.path()); }),
              HasSubstr("changed after it was prepared"));
}

TEST(Dataset, OfImagesHasTheSameChecksumGzippedOrNot) {
  const TemporaryDirectory plain;
  const TemporaryDirectory packed;
  write_image_directory(plain, 6, 3);
  for (const std::string& name : idx_file_names()) {
    packed.write(name + ".gz", gzip(content_of(plain.path() / name), packed.path() / "scratch"));
  }
  RunConfig config;
  config.task = "idx";
  config.source = plain.path().string();
  const std::string sum = load_dataset(config)->sha256;
  config.source = packed.path().string();
  EXPECT_EQ(load_dataset(config)->sha256, sum);
}

TEST(Dataset, OfImagesWithoutOneFileNamesBothFormsAndAllFour) {
  const TemporaryDirectory directory;
  write_image_directory(directory, 6, 3);
  std::filesystem::remove(directory.path() / "train-labels-idx1-ubyte");
  RunConfig config;
  config.task = "idx";
  config.source = directory.path().string();
  EXPECT_THAT(message_of<InputError>([&] { load_dataset(config); }),
              testing::AllOf(HasSubstr("has no train-labels-idx1-ubyte and no "
                                       "train-labels-idx1-ubyte.gz"),
                             HasSubstr("t10k-labels-idx1-ubyte")));
}

TEST(Dataset, IsSharedWhileSomebodyHoldsIt) {
  const TemporaryDirectory directory;
  RunConfig config;
  config.task = "text";
  config.source = directory.write("a.txt", std::string(500, 'a')).string();
  const auto first = load_dataset(config);
  EXPECT_EQ(load_dataset(config), first);
}

TEST(ResolveSource, RecordsTheChecksumAndAnAbsolutePath) {
  const TemporaryDirectory directory;
  const std::string text(500, 'a');
  RunConfig config;
  config.task = "text";
  config.source =
      std::filesystem::relative(directory.write("a.txt", text), std::filesystem::current_path());
  resolve_source(config);
  EXPECT_EQ(config.source_sha256, sha256_hex(text));
  EXPECT_TRUE(std::filesystem::path(config.source).is_absolute());
}

TEST(ResolveSource, RefusesAShortTextAMissingFileAndAMissingOption) {
  const TemporaryDirectory directory;
  RunConfig config;
  config.task = "text";
  config.source = directory.write("short.txt", "x").string();
  EXPECT_THAT(message_of<InputError>([&] { resolve_source(config); }), HasSubstr("at least 130"));
  config.source = (directory.path() / "missing.txt").string();
  EXPECT_THAT(message_of<InputError>([&] { resolve_source(config); }), HasSubstr("does not exist"));
  config.source = "";
  EXPECT_THAT(message_of<UsageError>([&] { resolve_source(config); }),
              HasSubstr("source = \"FILE\""));
  config.task = "mnist";
  EXPECT_THAT(message_of<UsageError>([&] { resolve_source(config); }),
              HasSubstr("must be one of fashion-mnist, bible"));
}

}  // namespace
}  // namespace equinorm::lab
