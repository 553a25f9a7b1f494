// java_date: expects what Java 17's Date.toString printed.
#include "base/java.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

namespace zksh {
namespace {

/// Sets $TZ for a test, and restores it.
class JavaDate : public testing::Test {
 protected:
  JavaDate() {
    if (const char* zone = std::getenv("TZ")) before_ = zone;
  }
  ~JavaDate() override {
    if (before_) {
      setenv("TZ", before_->c_str(), 1);
    } else {
      unsetenv("TZ");
    }
    tzset();
  }
  static std::string date(const char* zone, std::int64_t milliseconds) {
    setenv("TZ", zone, 1);
    return java_date_after_zone_change(milliseconds);
  }

 private:
  std::optional<std::string> before_;
};

constexpr std::int64_t january = 1768000000000;  // 2026
constexpr std::int64_t july = 1752000000000;     // 2025

TEST_F(JavaDate, NamesAgreeWithTheCLibraryForMostZones) {
  EXPECT_EQ(date("UTC", january), "Fri Jan 09 23:06:40 UTC 2026");
  EXPECT_EQ(date("Europe/Paris", january), "Sat Jan 10 00:06:40 CET 2026");
  EXPECT_EQ(date("Europe/Paris", july), "Tue Jul 08 20:40:00 CEST 2025");
  EXPECT_EQ(date("America/New_York", july), "Tue Jul 08 14:40:00 EDT 2025");
}

TEST_F(JavaDate, NamesAreJavasWhereTheyDiffer) {
  EXPECT_EQ(date("America/Sao_Paulo", january), "Fri Jan 09 20:06:40 BRT 2026");
  EXPECT_EQ(date("Europe/Istanbul", july), "Tue Jul 08 21:40:00 TRT 2025");
  EXPECT_EQ(date("Asia/Dubai", july), "Tue Jul 08 22:40:00 GST 2025");
  EXPECT_EQ(date("Australia/Lord_Howe", january), "Sat Jan 10 10:06:40 LHDT 2026");
  EXPECT_EQ(date("Asia/Kathmandu", july), "Wed Jul 09 00:25:00 NPT 2025");
  EXPECT_EQ(date("Etc/GMT+5", january), "Fri Jan 09 18:06:40 GMT-05:00 2026");
  EXPECT_EQ(date("UCT", january), "Fri Jan 09 23:06:40 UTC 2026");
}

TEST_F(JavaDate, AZoneHasItsNamesOfTodayInThePastToo) {
  EXPECT_EQ(date("Europe/Moscow", 690000000000), "Wed Nov 13 04:40:00 MSK 1991");  // EET in fact
}

TEST_F(JavaDate, KnowsNoNegativeDaylightSaving) {
  EXPECT_EQ(date("Europe/Dublin", january), "Fri Jan 09 23:06:40 GMT 2026");
  EXPECT_EQ(date("Europe/Dublin", july), "Tue Jul 08 19:40:00 IST 2025");
  EXPECT_EQ(date("Africa/Casablanca", july), "Tue Jul 08 19:40:00 WEST 2025");
}

TEST_F(JavaDate, FindsTheIdInTheVariable) {
  EXPECT_EQ(date(":Asia/Tokyo", july), "Wed Jul 09 03:40:00 JST 2025");
  const bool there = std::filesystem::exists("/usr/share/zoneinfo/posix/Asia/Tokyo");
  EXPECT_EQ(date("posix/Asia/Tokyo", july),
            there ? "Wed Jul 09 03:40:00 JST 2025" : "Tue Jul 08 18:40:00 GMT 2025");
}

TEST_F(JavaDate, AnUnknownIdIsTheCLibrarysStandardTime) {
  EXPECT_EQ(date("FOO3", january), "Fri Jan 09 20:06:40 GMT-03:00 2026");
  EXPECT_EQ(date("<+03>-3:30", january), "Sat Jan 10 02:36:40 GMT+03:30 2026");
  EXPECT_EQ(date("CET-1CEST", july), "Tue Jul 08 19:40:00 GMT+01:00 2025");
  EXPECT_EQ(date("Europe/Nowhere", july), "Tue Jul 08 18:40:00 GMT 2025");
  EXPECT_EQ(date(":", july), "Tue Jul 08 18:40:00 GMT 2025");
}

TEST_F(JavaDate, JavasOwnIdsCountEastwards) {
  EXPECT_EQ(date("GMT+3", january), "Sat Jan 10 02:06:40 GMT+03:00 2026");
  EXPECT_EQ(date("GMT-0330", january), "Fri Jan 09 19:36:40 GMT-03:30 2026");
  EXPECT_EQ(date("GMT+3:30", january), "Sat Jan 10 02:36:40 GMT+03:30 2026");
  EXPECT_EQ(date("GMT+24", january), "Fri Jan 09 23:06:40 GMT 2026");
  EXPECT_EQ(date("UTC+3", january), "Fri Jan 09 20:06:40 GMT-03:00 2026");
}

TEST_F(JavaDate, MillisecondsAreDroppedDownwards) {
  EXPECT_EQ(date("UTC", 0), "Thu Jan 01 00:00:00 UTC 1970");
  EXPECT_EQ(date("UTC", 999), "Thu Jan 01 00:00:00 UTC 1970");
  EXPECT_EQ(date("UTC", -1), "Wed Dec 31 23:59:59 UTC 1969");
  EXPECT_EQ(date("UTC", -1000), "Wed Dec 31 23:59:59 UTC 1969");
  EXPECT_EQ(date("UTC", -1001), "Wed Dec 31 23:59:58 UTC 1969");
}

TEST_F(JavaDate, AnyValueIsADate) {
  EXPECT_EQ(date("UTC", 951782400000), "Tue Feb 29 00:00:00 UTC 2000");
  EXPECT_EQ(date("UTC", 4107542400000), "Mon Mar 01 00:00:00 UTC 2100");
  EXPECT_EQ(date("UTC", 253402300800000), "Sat Jan 01 00:00:00 UTC 10000");
  EXPECT_EQ(date("UTC", INT64_MAX), "Sun Aug 17 07:12:55 UTC 292278994");
  EXPECT_EQ(date("UTC", INT64_MIN), "Sun Dec 02 16:47:04 UTC 292269055");
  EXPECT_NE(date("Europe/Paris", INT64_MAX), "");
  EXPECT_NE(date("Europe/Paris", INT64_MIN), "");
}

TEST_F(JavaDate, TheCalendarChangesIn1582) {
  EXPECT_EQ(date("UTC", -12219292800000), "Fri Oct 15 00:00:00 UTC 1582");
  EXPECT_EQ(date("UTC", -12219292800001), "Thu Oct 04 23:59:59 UTC 1582");
  EXPECT_EQ(date("UTC", -62135769600000), "Sat Jan 01 00:00:00 UTC 1");
  EXPECT_EQ(date("UTC", -62135769600001), "Fri Dec 31 23:59:59 UTC 1");
}

}  // namespace
}  // namespace zksh
