// The C libraries' part of the benchmarks of codecs. It makes the files of pages that decoders read:
//
//    codecs pages PAGES SETTINGS FILE
//
// or serves one work, as bench.cpp does:
//
//    codecs decode KIND PAGES THREADS
//    codecs encode SETTINGS PAGES THREADS
//
// A file of pages has for each page its length and that of the compressed page, 4 bytes each in little-endian order, the
// page, and the compressed page as ROOT's compression block, or nothing. Levels are passed on as ROOT does.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <lz4.h>
#include <lz4hc.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using Bytes = std::vector<unsigned char>;

struct Page {
   Bytes raw, stored;
};

constexpr std::size_t kHeader = 9, kLZ4Sum = 8;

void Check(bool ok, const char *what)
{
   if (!ok)
      throw std::runtime_error(what);
}

std::vector<Page> Load(const std::string &file)
{
   std::ifstream in(file, std::ios::binary);
   std::vector<Page> pages;
   for (std::uint32_t n[2]; in.read(reinterpret_cast<char *>(n), sizeof n);) {
      Page p{Bytes(n[0]), Bytes(n[1])};
      in.read(reinterpret_cast<char *>(p.raw.data()), n[0]);
      in.read(reinterpret_cast<char *>(p.stored.data()), n[1]);
      Check(bool(in), "a page is cut");
      pages.push_back(std::move(p));
   }
   Check(!pages.empty(), "no pages");
   return pages;
}

void Save(const std::string &file, const std::vector<Page> &pages)
{
   std::ofstream out(file, std::ios::binary);
   for (const auto &p : pages) {
      const std::uint32_t n[2] = {std::uint32_t(p.raw.size()), std::uint32_t(p.stored.size())};
      out.write(reinterpret_cast<const char *>(n), sizeof n);
      out.write(reinterpret_cast<const char *>(p.raw.data()), n[0]);
      out.write(reinterpret_cast<const char *>(p.stored.data()), n[1]);
   }
   out.close();
   Check(bool(out), "writing failed");
}

class Codecs {
   ZSTD_CCtx *fZstdEncoder = ZSTD_createCCtx();
   ZSTD_DCtx *fZstdDecoder = ZSTD_createDCtx();
   z_stream fInflate{}, fDeflate{};
   bool fDeflating = false;

   std::size_t Deflate(unsigned char *dst, std::size_t room, const Bytes &src, int level)
   {
      if (!fDeflating)
         Check(deflateInit(&fDeflate, level) == Z_OK, "deflateInit");
      fDeflating = true;
      deflateReset(&fDeflate);
      fDeflate.next_in = const_cast<unsigned char *>(src.data());
      fDeflate.avail_in = src.size();
      fDeflate.next_out = dst;
      fDeflate.avail_out = room;
      Check(deflate(&fDeflate, Z_FINISH) == Z_STREAM_END, "deflate");
      return fDeflate.total_out;
   }

public:
   Codecs() { Check(inflateInit(&fInflate) == Z_OK, "inflateInit"); }

   // Encode sets dst to src in ROOT's compression block, or to src if that is no longer. All pages must have the same
   // settings and less than 16 MiB.
   void Encode(Bytes &dst, const Bytes &src, int settings)
   {
      const int level = settings % 100;
      dst.resize(kHeader + kLZ4Sum + src.size() * 2 + 1024);
      auto *data = dst.data() + kHeader;
      std::size_t n = 0, room = dst.size() - kHeader;
      const char *magic = nullptr;
      switch (settings / 100) {
      case 1:
         magic = "ZL\x08";
         n = Deflate(data, room, src, level);
         break;
      case 2:
         magic = "XZ\0";
         Check(lzma_easy_buffer_encode(level, LZMA_CHECK_CRC32, nullptr, src.data(), src.size(), data, &n, room) == LZMA_OK,
               "lzma_easy_buffer_encode");
         break;
      case 4: {
         magic = "L4\x01";
         auto *to = reinterpret_cast<char *>(data + kLZ4Sum);
         const auto *from = reinterpret_cast<const char *>(src.data());
         n = level >= 4 ? LZ4_compress_HC(from, to, src.size(), room - kLZ4Sum, level)
                        : LZ4_compress_default(from, to, src.size(), room - kLZ4Sum);
         Check(n > 0, "LZ4");
         XXH64_canonicalFromHash(reinterpret_cast<XXH64_canonical_t *>(data), XXH64(to, n, 0));
         n += kLZ4Sum;
         break;
      }
      case 5:
         magic = "ZS\x01";
         n = ZSTD_compressCCtx(fZstdEncoder, data, room, src.data(), src.size(), 2 * level);
         Check(!ZSTD_isError(n), "ZSTD_compressCCtx");
         break;
      default: throw std::runtime_error("unknown settings");
      }
      if (n + kHeader >= src.size()) {
         dst = src;
         return;
      }
      std::memcpy(dst.data(), magic, 3);
      for (int i = 0; i < 3; ++i) {
         dst[3 + i] = n >> (8 * i);
         dst[6 + i] = src.size() >> (8 * i);
      }
      dst.resize(kHeader + n);
   }

   // Decode fills dst from src.
   void Decode(Bytes &dst, const Bytes &src)
   {
      if (src.size() == dst.size()) {
         dst = src;
         return;
      }
      const auto *data = src.data() + kHeader;
      const std::size_t size = src.size() - kHeader;
      if (!std::memcmp(src.data(), "ZL", 2)) {
         inflateReset(&fInflate);
         fInflate.next_in = const_cast<unsigned char *>(data);
         fInflate.avail_in = size;
         fInflate.next_out = dst.data();
         fInflate.avail_out = dst.size();
         Check(inflate(&fInflate, Z_FINISH) == Z_STREAM_END && fInflate.total_out == dst.size(), "inflate");
      } else if (!std::memcmp(src.data(), "XZ", 2)) {
         lzma_stream stream = LZMA_STREAM_INIT;
         Check(lzma_stream_decoder(&stream, UINT64_MAX, 0) == LZMA_OK, "lzma_stream_decoder");
         stream.next_in = data;
         stream.avail_in = size;
         stream.next_out = dst.data();
         stream.avail_out = dst.size();
         const auto status = lzma_code(&stream, LZMA_FINISH);
         lzma_end(&stream);
         Check(status == LZMA_STREAM_END && stream.avail_out == 0, "lzma_code");
      } else if (!std::memcmp(src.data(), "L4", 2)) {
         const auto *from = data + kLZ4Sum;
         Check(XXH64(from, size - kLZ4Sum, 0) == XXH64_hashFromCanonical(reinterpret_cast<const XXH64_canonical_t *>(data)),
               "checksum");
         const int n = LZ4_decompress_safe(reinterpret_cast<const char *>(from), reinterpret_cast<char *>(dst.data()),
                                           size - kLZ4Sum, dst.size());
         Check(n == int(dst.size()), "LZ4");
      } else {
         Check(ZSTD_decompressDCtx(fZstdDecoder, dst.data(), dst.size(), data, size) == dst.size(), "ZSTD_decompressDCtx");
      }
   }
};

// Repetitions of a work go over the pages until they have done so many bytes.
constexpr std::size_t kDecoded = 64 << 20, kEncoded = 16 << 20;

// Serve does something with pages for each line on standard input. each returns the size in which a page is stored.
void Serve(const std::vector<Page> &pages, std::size_t enough, const std::function<std::size_t(const Page &)> &each)
{
   for (std::string line; std::getline(std::cin, line);) {
      const auto start = std::chrono::steady_clock::now();
      std::size_t raw = 0, stored = 0;
      while (raw < enough) {
         for (const auto &p : pages) {
            stored += each(p);
            raw += p.raw.size();
         }
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      std::cout << "{\"seconds\":" << took.count() << ",\"bytes\":" << stored << ",\"sums\":[" << raw << "]}" << std::endl;
   }
}

void Run(const std::vector<std::string> &args)
{
   Codecs codecs;
   if (args.at(0) == "pages") {
      auto pages = Load(args.at(1));
      for (auto &p : pages)
         codecs.Encode(p.stored, p.raw, std::stoi(args.at(2)));
      Save(args.at(3), pages);
      return;
   }
   const auto pages = Load(args.at(2));
   Bytes buf;
   buf.reserve(4 << 20);
   if (args[0] == "decode") {
      for (const auto &p : pages) {
         buf.resize(p.raw.size());
         codecs.Decode(buf, p.stored);
         Check(buf == p.raw, "decoded wrongly");
      }
      Serve(pages, kDecoded, [&](const Page &p) {
         buf.resize(p.raw.size());
         codecs.Decode(buf, p.stored);
         return p.stored.size();
      });
   } else if (args[0] == "encode") {
      const int settings = std::stoi(args[1]);
      Serve(pages, kEncoded, [&](const Page &p) {
         codecs.Encode(buf, p.raw, settings);
         return buf.size();
      });
   } else {
      throw std::runtime_error("unknown work");
   }
}

int main(int argc, char **argv)
{
   std::cout.precision(9);
   try {
      Run(std::vector<std::string>(argv + 1, argv + argc));
   } catch (const std::exception &e) {
      std::cerr << e.what() << "\n";
      return 1;
   }
   return 0;
}
