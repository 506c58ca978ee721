#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

// SHA-256 without a provider, which takes 0.9 ms to load; for checksums only.
static inline int sq_sha256(const void *bytes, size_t size, unsigned char *digest) {
#if OPENSSL_VERSION_MAJOR > 3
  return EVP_Digest(bytes, size, digest, NULL, EVP_sha256(), NULL);
#else
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  SHA256_CTX context;
  return SHA256_Init(&context) && SHA256_Update(&context, bytes, size) &&
         SHA256_Final(digest, &context);
#pragma clang diagnostic pop
#endif
}

// The names of an OSSL_PARAM import into Swift as strings whose pointers do not last, so the list
// is made here.
static inline int sq_hkdf_sha256(
    const unsigned char *key, size_t key_size, const unsigned char *salt, size_t salt_size,
    const unsigned char *info, size_t info_size, unsigned char *output, size_t output_size) {
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  EVP_KDF_free(kdf);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_size),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_size),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_size),
      OSSL_PARAM_construct_end(),
  };
  int result = EVP_KDF_derive(context, output, output_size, parameters);
  EVP_KDF_CTX_free(context);
  return result == 1;
}
