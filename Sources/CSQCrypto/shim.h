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
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <string.h>

// Computes SHA-256, for checksums only. With OpenSSL 3, it uses no provider, because loading one
// takes 0.9 ms.
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

// A parameter of a KDF. OpenSSL rejects a null pointer, even for no bytes.
static inline OSSL_PARAM sq_kdf_bytes(const char *name, const unsigned char *bytes, size_t size) {
  return OSSL_PARAM_construct_octet_string(name, size == 0 ? (void *)"" : (void *)bytes, size);
}

// Swift imports the names of an OSSL_PARAM as strings whose pointers do not stay valid, so the list
// of parameters is created here.
static inline int sq_hkdf_sha256(
    const unsigned char *key, size_t key_size, const unsigned char *salt, size_t salt_size,
    const unsigned char *info, size_t info_size, unsigned char *output, size_t output_size) {
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  EVP_KDF_free(kdf);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
      sq_kdf_bytes(OSSL_KDF_PARAM_KEY, key, key_size),
      sq_kdf_bytes(OSSL_KDF_PARAM_SALT, salt, salt_size),
      sq_kdf_bytes(OSSL_KDF_PARAM_INFO, info, info_size),
      OSSL_PARAM_construct_end(),
  };
  int result = EVP_KDF_derive(context, output, output_size, parameters);
  EVP_KDF_CTX_free(context);
  return result == 1;
}

// Creates a public key of a type from its parameters, or returns NULL. The caller frees the key.
static inline EVP_PKEY *sq_public_key(const char *type, OSSL_PARAM *parameters) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  if (parameters != NULL && context != NULL && EVP_PKEY_fromdata_init(context) == 1) {
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters);
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

// Creates a public RSA key from its modulus and exponent, which are big-endian numbers.
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

// Creates a public key on an elliptic curve from a point: 0x04, followed by both coordinates.
static inline EVP_PKEY *sq_ec_public_key(
    const char *curve, const unsigned char *point, size_t point_size) {
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, point_size),
      OSSL_PARAM_construct_end(),
  };
  return sq_public_key("EC", parameters);
}

// Creates a key pair of a type from its parameters, or returns NULL. The caller frees the key.
static inline EVP_PKEY *sq_key_pair(const char *type, OSSL_PARAM *parameters) {
  EVP_PKEY *key = NULL;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
  if (parameters != NULL && context != NULL && EVP_PKEY_fromdata_init(context) == 1) {
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
  }
  EVP_PKEY_CTX_free(context);
  return key;
}

// A number of a key, in big-endian bytes.
typedef struct {
  const unsigned char *bytes;
  size_t size;
} sq_number;

// Creates an RSA key pair from n, e and d, optionally followed by p, q, dp, dq and qi.
static inline EVP_PKEY *sq_rsa_key_pair(const sq_number *numbers, size_t count) {
  static const char *const names[] = {
      OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
      OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
      OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
      OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1};
  enum { all = sizeof names / sizeof *names };
  BIGNUM *values[all] = {NULL};
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  int is_complete = builder != NULL && count <= all;
  for (size_t i = 0; is_complete && i < count; i++) {
    // The numbers after the first two are secret and are erased below.
    values[i] = i < 2 ? BN_new() : BN_secure_new();
    is_complete = values[i] != NULL &&
                  BN_bin2bn(numbers[i].bytes, (int)numbers[i].size, values[i]) != NULL &&
                  OSSL_PARAM_BLD_push_BN(builder, names[i], values[i]) == 1;
  }
  OSSL_PARAM *parameters = is_complete ? OSSL_PARAM_BLD_to_param(builder) : NULL;
  EVP_PKEY *key = sq_key_pair("RSA", parameters);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  for (size_t i = 0; i < all; i++) BN_clear_free(values[i]);
  return key;
}

// Creates a key pair on an elliptic curve. The point, 0x04 followed by both coordinates, is the
// public key; the number is the private key.
static inline EVP_PKEY *sq_ec_key_pair(
    const char *curve, const unsigned char *point, size_t point_size, sq_number number) {
  BIGNUM *value = BN_secure_new();
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM *parameters = NULL;
  if (value != NULL && builder != NULL &&
      BN_bin2bn(number.bytes, (int)number.size, value) != NULL &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, point_size) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, value)) {
    parameters = OSSL_PARAM_BLD_to_param(builder);
  }
  EVP_PKEY *key = sq_key_pair("EC", parameters);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  BN_clear_free(value);
  return key;
}

// Gives OpenSSL the passphrase of a PEM text, and never asks on the terminal. Without a passphrase,
// an encrypted text is not read.
static inline int sq_pem_passphrase(char *buffer, int size, int is_writing, void *passphrase) {
  (void)is_writing;
  if (passphrase == NULL) return -1;
  size_t count = strlen((const char *)passphrase);
  if (count > (size_t)size) return -1;
  memcpy(buffer, passphrase, count);
  return (int)count;
}

static inline EVP_PKEY *sq_read_pem(const void *text, int size, const char *passphrase) {
  BIO *source = BIO_new_mem_buf(text, size);
  if (source == NULL) return NULL;
  EVP_PKEY *key =
      PEM_read_bio_PrivateKey(source, NULL, sq_pem_passphrase, (void *)passphrase);
  BIO_free(source);
  return key;
}

// Notes that a passphrase was asked for, and gives none.
static inline int sq_no_passphrase(char *buffer, int size, int is_writing, void *was_asked) {
  (void)buffer;
  (void)size;
  (void)is_writing;
  *(int *)was_asked = 1;
  return -1;
}

// Finds out whether a PEM text has a certificate and the private key for it, as libcurl takes them:
// the first of each. Returns 0 if it has; 1 without a certificate; 2 for an encrypted key; 3
// without a key; 4 if the key belongs to another certificate.
static inline int sq_pair_flaw(const void *text, int size) {
  int is_encrypted = 0;
  BIO *source = BIO_new_mem_buf(text, size);
  X509 *certificate =
      source == NULL ? NULL : PEM_read_bio_X509_AUX(source, NULL, sq_no_passphrase, &is_encrypted);
  BIO_free(source);
  if (certificate == NULL) return 1;
  is_encrypted = 0;
  source = BIO_new_mem_buf(text, size);
  EVP_PKEY *key =
      source == NULL ? NULL
                     : PEM_read_bio_PrivateKey(source, NULL, sq_no_passphrase, &is_encrypted);
  BIO_free(source);
  int flaw = 0;
  if (key == NULL) {
    flaw = is_encrypted ? 2 : 3;
  } else if (X509_check_private_key(certificate, key) != 1) {
    flaw = 4;
  }
  EVP_PKEY_free(key);
  X509_free(certificate);
  return flaw;
}

// Counts the certificates in a PEM text, up to its end or to the first certificate that cannot be
// read. `is_whole` becomes 1 if the end was reached.
static inline int sq_count_certificates(const void *text, int size, int *is_whole) {
  BIO *source = BIO_new_mem_buf(text, size);
  int count = 0;
  X509 *certificate;
  *is_whole = 0;
  if (source == NULL) return 0;
  while ((certificate = PEM_read_bio_X509_AUX(source, NULL, sq_pem_passphrase, NULL)) != NULL) {
    X509_free(certificate);
    count += 1;
  }
  *is_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  BIO_free(source);
  return count;
}

// Reads a public key (SubjectPublicKeyInfo) in PEM; returns NULL if the text has none.
static inline EVP_PKEY *sq_read_public_pem(const void *text, int size) {
  BIO *source = BIO_new_mem_buf(text, size);
  if (source == NULL) return NULL;
  EVP_PKEY *key = PEM_read_bio_PUBKEY(source, NULL, sq_pem_passphrase, NULL);
  BIO_free(source);
  return key;
}

// Writes a key as PKCS#8 in PEM. With a passphrase, encrypts it with scrypt and AES-256-CBC.
// Returns the text in OpenSSL's memory, or NULL; the caller erases and frees it.
static inline char *sq_write_pem(const EVP_PKEY *key, const char *passphrase, size_t *size) {
  BIO *sink = BIO_new(BIO_s_secmem());
  PKCS8_PRIV_KEY_INFO *info = EVP_PKEY2PKCS8(key);
  int is_written = 0;
  if (sink != NULL && info != NULL && passphrase == NULL) {
    is_written = PEM_write_bio_PKCS8_PRIV_KEY_INFO(sink, info);
  } else if (sink != NULL && info != NULL) {
    // scrypt uses 16 MiB of memory. OpenSSL allows 32 MiB when it reads the text, and the next
    // larger cost needs a little more than that.
    X509_ALGOR *method =
        PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), NULL, 0, NULL, 1 << 14, 8, 1);
    X509_SIG *sealed =
        method == NULL
            ? NULL
            : PKCS8_set0_pbe(passphrase, (int)strlen(passphrase), info, method);
    if (sealed == NULL) {
      X509_ALGOR_free(method);
    } else {
      is_written = PEM_write_bio_PKCS8(sink, sealed);
    }
    X509_SIG_free(sealed);
  }
  PKCS8_PRIV_KEY_INFO_free(info);
  char *text = NULL;
  char *start = NULL;
  long count = is_written ? BIO_get_mem_data(sink, &start) : 0;
  if (count > 0 && (text = (char *)OPENSSL_malloc((size_t)count)) != NULL) {
    memcpy(text, start, (size_t)count);
    *size = (size_t)count;
  }
  BIO_free(sink);
  return text;
}
