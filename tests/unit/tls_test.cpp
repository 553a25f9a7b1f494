// TlsConnection: whom it takes for the server, and servers that want another handshake.
#include "client/tls.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string>
#include <unistd.h>

namespace zksh {
namespace {

template <auto free>
struct Freed {
  template <class Thing>
  void operator()(Thing* thing) const {
    free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using TlsContext = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freed<SSL_free>>;

/// Signed by itself, for a day. `names`: as in openssl's configuration; empty: none but the
/// subject's.
Certificate certificate_for(EVP_PKEY* key, const std::string& subject, const std::string& names) {
  Certificate made(X509_new());
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 86400);
  X509_set_pubkey(made.get(), key);
  auto* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  if (!names.empty()) {
    auto* const extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(made.get(), key, EVP_sha256());
  return made;
}

/// A server in memory, and a connection to it.
class TlsTest : public testing::Test {
 protected:
  /// Makes the server, and connects to it under the hosts' names.
  void connect(const std::string& subject, const std::string& names,
               std::vector<std::string> hosts) {
    const auto certificate = certificate_for(key_.get(), subject, names);
    auto* const stream = std::fopen(file_.c_str(), "w");
    PEM_write_X509(stream, certificate.get());
    std::fclose(stream);
    context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    SSL_CTX_set_tlsext_servername_arg(context_.get(), this);
    SSL_CTX_set_tlsext_servername_callback(context_.get(), &TlsTest::note_name);
    server.reset(SSL_new(context_.get()));
    SSL_set_bio(server.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(server.get());
    asked_for.clear();

    tls_ = std::make_unique<Tls>(TlsSettings{.on = true, .ca = file_});
    client = std::make_unique<TlsConnection>(*tls_, std::move(hosts), "192.0.2.1:2281");
    client->start();
    for (int i = 0; i < 4; ++i) {
      to_server();
      SSL_do_handshake(server.get());
      to_client();
    }
  }

  std::string failure(const std::string& subject, const std::string& names,
                      std::vector<std::string> hosts) {
    connect(subject, names, std::move(hosts));
    EXPECT_EQ(client->is_ready(), client->failure().empty());
    return client->failure();
  }

  /// What the client has written.
  std::string to_server() {
    auto bytes = std::exchange(client->output(), {});
    BIO_write(SSL_get_rbio(server.get()), bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }

  void to_client() {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(server.get())), '\0');
    if (bytes.empty()) return;
    BIO_read(SSL_get_wbio(server.get()), bytes.data(), static_cast<int>(bytes.size()));
    client->receive(bytes);
  }

  void TearDown() override { std::filesystem::remove(file_); }

  Ssl server{};
  std::unique_ptr<TlsConnection> client{};
  std::string asked_for{};  ///< the server name that the client has sent

 private:
  static int note_name(SSL* ssl, int* /*alert*/, void* test) {
    const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    static_cast<TlsTest*>(test)->asked_for = name ? name : "";
    return SSL_TLSEXT_ERR_OK;
  }

  Key key_{EVP_EC_gen("P-256")};
  TlsContext context_{};
  std::unique_ptr<Tls> tls_{};
  std::string file_ = testing::TempDir() + "tls-" + std::to_string(getpid()) + ".pem";
};

TEST_F(TlsTest, ANameWithAFinalDot) {
  EXPECT_EQ(failure("x", "DNS:zk1.test", {"zk1.test."}), "");
  EXPECT_EQ(asked_for, "zk1.test");
  EXPECT_EQ(failure("x", "DNS:zk2.test", {"zk1.test."}),
            "TLS: the server's certificate is not for zk1.test, but for zk2.test");
}

TEST_F(TlsTest, AWildcardStandsForAWholeLabel) {
  EXPECT_EQ(failure("x", "DNS:*.zk.test", {"one.zk.test"}), "");
  EXPECT_NE(failure("x", "DNS:o*.zk.test", {"one.zk.test"}), "");
  EXPECT_NE(failure("x", "DNS:*.zk.test", {"a.one.zk.test"}), "");
}

TEST_F(TlsTest, TheSubjectCountsOnlyAlone) {
  EXPECT_EQ(failure("zk1.test", "", {"zk1.test"}), "");
  EXPECT_NE(failure("zk1.test", "IP:192.0.2.1", {"zk1.test"}), "");
  EXPECT_NE(failure("zk1.test", "DNS:zk2.test", {"zk1.test"}), "");
  EXPECT_NE(failure("192.0.2.1", "", {"192.0.2.1"}), "");
}

TEST_F(TlsTest, AddressesAndOneOfSeveralHosts) {
  EXPECT_EQ(failure("x", "IP:192.0.2.1", {"192.0.2.1"}), "");
  EXPECT_EQ(asked_for, "");
  EXPECT_EQ(failure("x", "IP:192.0.2.1", {"zk1.test", "192.0.2.1"}), "");
  EXPECT_EQ(failure("x", "DNS:zk1.test", {"192.0.2.1", "zk1.test"}), "");
  EXPECT_NE(failure("x", "IP:192.0.2.2", {"192.0.2.1"}), "");
  EXPECT_EQ(failure("x", "IP:fe80::1", {"fe80::1%eth0"}), "");
  EXPECT_EQ(asked_for, "");
}

/// The kinds of the TLS records.
std::string kinds_of(const std::string& records) {
  std::string kinds;
  for (std::size_t at = 0; at + 5 <= records.size();) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(records[at + i]); };
    kinds += kinds.empty() ? "" : " ";
    kinds += std::to_string(byte(0));
    at += 5U + byte(3) * 256U + byte(4);
  }
  return kinds;
}

TEST_F(TlsTest, ARequestIsSentThoughTheServerWantsAnotherHandshake) {
  ASSERT_EQ(failure("zk1.test", "", {"zk1.test"}), "");
  ASSERT_EQ(SSL_renegotiate(server.get()), 1);
  SSL_do_handshake(server.get());
  to_client();
  std::string answer(16, '\0');
  EXPECT_EQ(client->read(answer.data(), answer.size()), -1);
  client->write("request");
  EXPECT_EQ(kinds_of(to_server()), "21 23");  // an alert, and data
}

}  // namespace
}  // namespace zksh
