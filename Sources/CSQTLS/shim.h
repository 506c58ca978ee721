#pragma once

// Functions for OpenSSL's macros, which Swift cannot call itself.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline int sq_ssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

// Returns the newest TLS version that a context allows, or 0 if there is no limit.
static inline int sq_ssl_ctx_newest_version(SSL_CTX *context) {
  return (int)SSL_CTX_get_max_proto_version(context);
}

// Turns off the session cache, and removes its callback for new sessions, which belongs to another
// library.
static inline void sq_ssl_ctx_forget_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_sess_set_new_cb(context, NULL);
}

// Keeps the secrets of connections out of the file that the variable SSLKEYLOGFILE names. libcurl
// would write them there, and anyone with that file could read tokens on the network.
static inline void sq_ssl_ctx_log_no_keys(SSL_CTX *context) {
  SSL_CTX_set_keylog_callback(context, NULL);
}

// Makes a read fail if the other side ends TCP without TLS's close_notify.
static inline void sq_ssl_ctx_expect_close_notify(SSL_CTX *context) {
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
  SSL_CTX_clear_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
#endif
}

// Returns whether a read that returned nothing should be tried again later.
static inline int sq_bio_should_retry(BIO *bio) { return BIO_should_retry(bio); }

static inline void sq_ssl_forbid_renegotiation(SSL *ssl) {
  SSL_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
}

// Marks the end of this thread's error queue and adds an error, which separates later errors from
// earlier ones. ERR_pop_to_mark removes it again.
static inline unsigned long sq_err_mark(void) {
  ERR_set_mark();
  ERR_raise(ERR_LIB_USER, 1);
  return ERR_peek_last_error();
}

static inline size_t sq_bio_pending(BIO *bio) { return BIO_ctrl_pending(bio); }

// Makes a read that would have to wait for the network fail with "try again".
static inline long sq_bio_wait(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
  return -1;
}

// Gives no passphrase. Without this function, OpenSSL would ask on the terminal for the passphrase
// of an encrypted text.
static inline int sq_no_pem_passphrase(char *buffer, int size, int is_writing, void *unused) {
  (void)buffer;
  (void)size;
  (void)is_writing;
  (void)unused;
  return -1;
}

// Makes a context also trust the certificates in a PEM text.
static inline int sq_ssl_ctx_trust_pem(SSL_CTX *context, const void *text, int size) {
  BIO *source = BIO_new_mem_buf(text, size);
  STACK_OF(X509_INFO) *list =
      source == NULL ? NULL : PEM_X509_INFO_read_bio(source, NULL, sq_no_pem_passphrase, NULL);
  BIO_free(source);
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  int count = 0;
  for (int i = 0; list != NULL && i < sk_X509_INFO_num(list); i++) {
    X509 *certificate = sk_X509_INFO_value(list, i)->x509;
    if (certificate != NULL && X509_STORE_add_cert(store, certificate) == 1) count++;
  }
  sk_X509_INFO_pop_free(list, X509_INFO_free);
  return count > 0;
}

// Makes a context trust the certificates of a file and a folder; either may be NULL. As with
// libcurl, a trusted authority need not be self-signed.
static inline int sq_ssl_ctx_trust_files(
    SSL_CTX *context, const char *file, const char *folder) {
  X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
  return (file == NULL || SSL_CTX_load_verify_file(context, file) == 1) &&
         (folder == NULL || SSL_CTX_load_verify_dir(context, folder) == 1);
}
