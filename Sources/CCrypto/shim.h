#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
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

// Makes a public key of a type from its parameters, or returns NULL. The caller frees the key.
static inline EVP_PKEY *sq_public_key(const char *type, OSSL_PARAM *parameters) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  if (parameters != NULL && context != NULL && EVP_PKEY_fromdata_init(context) == 1) {
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

// The numbers are big-endian.
static inline EVP_PKEY *sq_rsa_public_key(
    const unsigned char *modulus, size_t modulus_size, const unsigned char *exponent,
    size_t exponent_size) {
  BIGNUM *n = BN_bin2bn(modulus, (int)modulus_size, NULL);
  BIGNUM *e = BN_bin2bn(exponent, (int)exponent_size, NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (n != NULL && e != NULL && builder != NULL &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e)) {
    parameters = OSSL_PARAM_BLD_to_param(builder);
  }
  EVP_PKEY *key = sq_public_key("RSA", parameters);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  BN_free(e);
  BN_free(n);
  return key;
}

// The point is 0x04 and both coordinates.
static inline EVP_PKEY *sq_ec_public_key(
    const char *curve, const unsigned char *point, size_t point_size) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, point_size),
      OSSL_PARAM_construct_end(),
  };
  return sq_public_key("EC", parameters);
}
